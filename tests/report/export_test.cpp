// SPDX-License-Identifier: Apache-2.0
#include "report/export.h"

#include "base/files.h"
#include "base/subprocess.h"
#include "synth/schedule.h"
#include "target/host/host.h"

namespace ako {
namespace {

/// Writes an export of the plain kernel of `problem` and runs its own test.
class Export : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& shapes) {
    auto shipped = load_problem(std::filesystem::path(AKO_SOURCE_DIR) / "problems" / (name + ".yaml"));
    ASSERT_TRUE(shipped) << shipped.error().front().what;
    auto small = with_shapes(*shipped, shapes);
    ASSERT_TRUE(small) << small.error().front().what;
    const TargetFacts facts = host::look_up();
    auto space = schedule_space(*small, facts, Language::cpp);
    ASSERT_TRUE(space) << space.error().what;
    auto candidate = synthesize(*small, space->start, facts, Language::cpp);
    ASSERT_TRUE(candidate) << candidate.error().what;
    auto files = export_candidate(*candidate, *small, small->shapes.front(), {"a test's */ origin", 7});
    ASSERT_TRUE(files) << files.error().what;
    for (const ExportFile& file : *files) {
      auto written = write_file(folder_.path() / file.path, file.content);
      ASSERT_TRUE(written) << written.error().what;
    }
  }
  Exit run_test() {
    Command command;
    command.argv = {"make", "-s", "test"};
    command.folder = folder_.path();
    auto ended = run(command);
    EXPECT_TRUE(ended) << ended.error().what;
    return ended.value_or(Exit());
  }
  TemporaryFolder folder_ = *TemporaryFolder::create("ako-export-test");
};

TEST_F(Export, OfARowReductionPassesItsOwnTest) {
  write("softmax", "T=9,D=130");
  const Exit outcome = run_test();
  EXPECT_EQ(outcome.code, 0) << outcome.output << outcome.errors;
  EXPECT_NE(outcome.output.find("y: right"), std::string::npos) << outcome.output;
}

TEST_F(Export, UpdatesWhatIsReadAndWritten) {
  write("adamw", "N=1003");
  const Exit outcome = run_test();
  EXPECT_EQ(outcome.code, 0) << outcome.output << outcome.errors;
}

TEST_F(Export, ReadsElementsNarrowerThanAByte) {
  write("quantize_mxfp4", "M=3,K=64");
  const Exit outcome = run_test();
  EXPECT_EQ(outcome.code, 0) << outcome.output << outcome.errors;
}

TEST_F(Export, TestFailsWhereTheKernelAndFp64Differ) {
  write("softmax", "T=9,D=130");
  std::string data = *read_file(folder_.path() / "test_data.bin");
  data[data.size() - 1] = '\x40';  // the last expectation becomes a large number
  ASSERT_TRUE(write_file(folder_.path() / "test_data.bin", data));
  const Exit outcome = run_test();
  EXPECT_NE(outcome.code, 0);
  EXPECT_NE(outcome.output.find("y: WRONG"), std::string::npos) << outcome.output;
}

TEST(ExportRefuses, DataThatWouldFillTheDisk) {
  auto problem = load_problem(std::filesystem::path(AKO_SOURCE_DIR) / "problems/softmax.yaml");
  ASSERT_TRUE(problem);
  auto large = with_shapes(*problem, "T=65536,D=65536");
  ASSERT_TRUE(large);
  const TargetFacts facts = host::look_up();
  auto candidate =
      synthesize(*large, schedule_space(*large, facts, Language::cpp)->naive, facts, Language::cpp);
  ASSERT_TRUE(candidate);
  auto files = export_candidate(*candidate, *large, large->shapes.front(), {});
  ASSERT_FALSE(files);
  EXPECT_NE(files.error().what.find("too large"), std::string::npos);
}

}  // namespace
}  // namespace ako
