// SPDX-License-Identifier: Apache-2.0
// The device judge over the stand-in HIP library: what it sees of a launch, and what it makes of it.
#include "judge/device_judge.h"

#include <gtest/gtest.h>

#include "target/standin_fixture.h"

namespace ako {
namespace {

using testing::standin_device;
using testing::standin_driver;

constexpr const char* kProblem = R"yaml(problem: scaled_sum
dims: {N: elements}
tensors:
  x: {type: f32, shape: [N], values: "normal(0, 1)"}
  y: {type: bf16, shape: [N], values: "uniform(-1, 1)"}
  z: {type: f32, shape: [N]}
scalars:
  a: {type: f32, value: 2}
math: |
  z[n] = a * x[n] + y[n]
shapes:
  - {N: 1000, core: true, representative: true}
tolerance: {snr_db: 100}
)yaml";

constexpr const char* kPlan =
    "launches:\n  - {kernel: scaled_sum, grid: [4, 1, 1], block: [64, 1, 1], args: [x, y, z, a, N]}\n";

std::string kernel(const std::string& body, const std::string& before = "") {
  return "#include \"ako_device.h\"\nusing namespace ako;\n" + before +
         "AKO_KERNEL(64) scaled_sum(const f32* x, const bf16* y, f32* z, f32 a, i64 n) {\n"
         "  for (i64 i = global_x(); i < n; i += stride_x()) z[i] = a * x[i] + float(y[i]);\n" +
         body + "}\n";
}

Candidate candidate(const std::string& source) {
  Candidate made;
  made.language = Language::hip;
  made.sources = {{"scaled_sum.hip", source}};
  made.plan = parse_launch_plan(kPlan, "plan.yaml").value();
  return made;
}

class DeviceJudging : public ::testing::Test {
 protected:
  void SetUp() override {
    std::vector<std::unique_ptr<Toolchain>> toolchains;
    toolchains.push_back(std::make_unique<testing::StandinToolchain>());
    auto made = DeviceJudge::create(standin_driver(), standin_device(), std::move(toolchains), {});
    ASSERT_TRUE(made) << to_text(made.error());
    judge = std::move(*made);
  }
  void TearDown() override {
    judge.reset();
    testing::reset_standin();
  }

  Verdict verdict(const std::string& source, Effort effort = Effort::check) {
    JudgeRequest request;
    request.problem_text = kProblem;
    request.candidate = candidate(source);
    if (effort != Effort::check) request.incumbent = candidate(kernel("  // the incumbent\n"));
    request.effort = effort;
    request.time_budget = Seconds(2);
    return judge->judge(request, {}, {}).value();
  }

  std::unique_ptr<DeviceJudge> judge;
};

TEST_F(DeviceJudging, AcceptsAKernelThatIsRight) {
  auto seen = verdict(kernel(""));
  EXPECT_TRUE(seen.correct()) << to_text(seen.outcome);
  EXPECT_EQ(seen.trust, Trust::device_only);
  EXPECT_EQ(seen.target, "gfx942");
}

TEST_F(DeviceJudging, SaysWhereAKernelIsWrong) {
  auto seen = verdict(kernel("  if (global_x() == 999 % 256) z[999] = 0;\n"));
  const auto* wrong = std::get_if<Wrong>(&seen.outcome);
  ASSERT_TRUE(wrong) << to_text(seen.outcome);
  EXPECT_EQ(wrong->tensor, "z");
  EXPECT_NE(wrong->pattern.find("the last element"), std::string::npos) << wrong->pattern;
}

TEST_F(DeviceJudging, SeesASingleByteWrittenBehindABuffer) {
  auto seen = verdict(kernel("  if (global_x() == 0) ((u8*)(z + n))[17] ^= 1;\n"));
  const auto* wrong = std::get_if<Wrong>(&seen.outcome);
  ASSERT_TRUE(wrong) << to_text(seen.outcome);
  EXPECT_NE(wrong->pattern.find("1 bytes were changed, the first of them 18 bytes after z"),
            std::string::npos)
      << wrong->pattern;
}

TEST_F(DeviceJudging, SeesASingleByteWrittenBeforeABuffer) {
  auto seen = verdict(kernel("  if (global_x() == 0) ((u8*)z)[-3] ^= 1;\n"));
  const auto* wrong = std::get_if<Wrong>(&seen.outcome);
  ASSERT_TRUE(wrong) << to_text(seen.outcome);
  EXPECT_NE(wrong->pattern.find("3 bytes before z"), std::string::npos) << wrong->pattern;
}

TEST_F(DeviceJudging, SeesInputsThatWereChanged) {
  auto seen = verdict(kernel("  if (global_x() == 5) ((f32*)x)[5] += 1;\n"));
  const auto* wrong = std::get_if<Wrong>(&seen.outcome);
  ASSERT_TRUE(wrong) << to_text(seen.outcome);
  EXPECT_NE(wrong->pattern.find("inputs were changed"), std::string::npos) << wrong->pattern;
}

TEST_F(DeviceJudging, IsNotFooledByAnAnswerKeptFromAnEarlierLaunch) {
  // Right once, then the same again: every launch has inputs never seen before.
  auto seen = verdict(kernel("  if (kept_at == 0) { if (global_x() == 0) for (i64 i = 0; i < n; ++i) "
                             "kept[i] = a * x[i] + float(y[i]); }\n"
                             "  else for (i64 i = global_x(); i < n; i += stride_x()) z[i] = kept[i];\n"
                             "  if (global_x() == 255) kept_at = 1;\n",
                             "static f32 kept[1000];\nstatic int kept_at = 0;\n"),
                      Effort::decide);
  EXPECT_TRUE(std::holds_alternative<Wrong>(seen.outcome)) << to_text(seen.outcome);
}

TEST_F(DeviceJudging, ReportsACompilationError) {
  auto seen = verdict(kernel("  this is no C++;\n"));
  EXPECT_TRUE(std::holds_alternative<CompileError>(seen.outcome)) << to_text(seen.outcome);
}

TEST_F(DeviceJudging, ReportsAnIllegalAddress) {
  auto seen = verdict(kernel("", "extern \"C\" int standin_status_scaled_sum = 700;\n"));
  const auto* crashed = std::get_if<Crashed>(&seen.outcome);
  ASSERT_TRUE(crashed) << to_text(seen.outcome);
  EXPECT_NE(crashed->reason.find("illegal address"), std::string::npos) << crashed->reason;
}

TEST_F(DeviceJudging, RejectsAKernelThatReadsAClock) {
  auto seen = verdict(kernel("  z[0] += 0 * clock64();\n"));
  const auto* rejected = std::get_if<Rejected>(&seen.outcome);
  ASSERT_TRUE(rejected) << to_text(seen.outcome);
  EXPECT_EQ(rejected->rule, "device-clock");
}

TEST_F(DeviceJudging, TimesAKernelAgainstItself) {
  auto seen = verdict(kernel(""), Effort::screen);
  ASSERT_TRUE(seen.correct()) << to_text(seen.outcome);
  ASSERT_EQ(seen.timings.size(), 1u);
  EXPECT_EQ(seen.timings[0].candidate_us.size(), seen.timings[0].incumbent_us.size());
  EXPECT_GT(seen.timings[0].candidate_median_us, 0);
  EXPECT_TRUE(seen.against_incumbent);
}

}  // namespace
}  // namespace ako
