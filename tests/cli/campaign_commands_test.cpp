// SPDX-License-Identifier: Apache-2.0
// One real, small campaign through the program: agent, compiler, sandbox, judge, records, report.
#include <gmock/gmock.h>

#include "program.h"

namespace ako::testing_program {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class CampaignCommands : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    home_ = new TemporaryFolder(*TemporaryFolder::create("ako-cli-test"));
    ASSERT_TRUE(write_file(home_->path() / "twice.yaml",
                           "problem: twice\nsummary: Twice each element.\ndims: {N: elements}\n"
                           "tensors:\n  x: {type: f32, shape: [N]}\n  y: {type: f32, shape: [N]}\n"
                           "math: |\n  y[i] = 2 * x[i]\n"
                           "shapes:\n  - {N: 100000, core: true, representative: true}\n"
                           "tolerance: {snr_db: 120}\n"));
    exit_ = ako({"optimize", "twice.yaml", "--rounds", "2", "--budget", "20s", "--workspace", "w", "--json"},
                home_->path());
  }
  static void TearDownTestSuite() { delete std::exchange(home_, nullptr); }
  static std::string folder() { return json_of(exit_)["folder"]; }
  static fs::path path() { return home_->path() / folder(); }

  static inline TemporaryFolder* home_ = nullptr;
  static inline Exit exit_;
};

TEST_F(CampaignCommands, OptimizeEndsWithOneDocument) {
  ASSERT_EQ(exit_.code, 0) << exit_.output << exit_.errors;
  nlohmann::json json = json_of(exit_);
  EXPECT_EQ(json["phase"], "DONE");
  EXPECT_GE(json["rounds"].size(), 1u);
  EXPECT_LE(json["rounds"].size(), 2u);
  EXPECT_EQ(json["rounds"][0]["decision"], "BASELINE");
  EXPECT_EQ(json["rounds"][0]["outcome"], "correct");
}

TEST_F(CampaignCommands, TheFolderHoldsWhatTheLayoutPromises) {
  for (const char* file :
       {"manifest.yaml", "problem.yaml", "campaign.db", "logs/optimize.md", "logs/performance_trend.md",
        "rounds/round-1/summary.md", "rounds/round-1/kernel_snapshot/candidate.yaml", "best/candidate.yaml",
        "report.md", "report.html"})
    EXPECT_TRUE(fs::exists(path() / file)) << file;
}

TEST_F(CampaignCommands, ListShowAndReportReadItBack) {
  nlohmann::json list = json_of(ako({"list", "--workspace", "w", "--json"}, home_->path()));
  ASSERT_EQ(list["campaigns"].size(), 1u);
  EXPECT_EQ(list["campaigns"][0]["op"], "twice");
  EXPECT_EQ(list["campaigns"][0]["phase"], "DONE");
  EXPECT_EQ(json_of(ako({"show", folder(), "--json"}, home_->path()))["rounds"], json_of(exit_)["rounds"]);
  EXPECT_THAT(ako({"show", folder(), "--round", "1"}, home_->path()).output, HasSubstr("## Hypothesis"));
  EXPECT_EQ(ako({"show", folder(), "--round", "99"}, home_->path()).code, 3);
  fs::remove(path() / "report.html");
  EXPECT_EQ(ako({"report", folder()}, home_->path()).code, 0);
  EXPECT_TRUE(fs::exists(path() / "report.html"));
}

TEST_F(CampaignCommands, TimeNamesTheWrongKernelWhicheverSideItIsOn) {
  for (std::string factor : {"2", "3"}) {
    std::string source =
        "#include <cstdint>\nextern \"C\" void twice(const float* x, float* y, int64_t n) {\n"
        "  for (int64_t i = 0; i < n; ++i) y[i] = " +
        factor + " * x[i];\n}\n";
    ASSERT_TRUE(write_file(home_->path() / ("times" + factor + ".cpp"), source));
  }
  for (auto [a, b] : {std::pair("times3.cpp", "times2.cpp"), std::pair("times2.cpp", "times3.cpp")}) {
    Exit exit = ako({"time", a, b, "-p", "twice.yaml", "--screen"}, home_->path());
    EXPECT_EQ(exit.code, 1) << exit.errors;
    EXPECT_THAT(exit.output, ::testing::StartsWith("times3.cpp: wrong: y[")) << a;
  }
  EXPECT_EQ(ako({"time", "times2.cpp", "times2.cpp", "-p", "twice.yaml", "--screen"}, home_->path()).code, 0);
}

TEST_F(CampaignCommands, ResumingAnEndedCampaignTellsItsResultAgain) {
  Exit again = ako({"resume", folder(), "--json"}, home_->path());
  EXPECT_EQ(again.code, 0) << again.errors;
  EXPECT_EQ(json_of(again)["rounds"], json_of(exit_)["rounds"]);
  EXPECT_THAT(again.errors, HasSubstr("has ended; to go on add --budget or --rounds"));
}

}  // namespace
}  // namespace ako::testing_program
