// SPDX-License-Identifier: Apache-2.0
#include "campaign_fixture.h"

namespace ako::testing_fakes {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class LibraryTest : public CampaignTest {
 protected:
  void SetUp() override {
    CampaignTest::SetUp();
    library_ = [](const Problem&) -> Result<std::string> { return "blas"; };
    judge_.kernels["fast"] = {.us = 500};
    judge_.kernels["blas"] = {.us = 250};
    agent_.plan = {"fast"};
  }
  /// What is committed, not only what the run returned.
  CampaignRecord finished(const Manifest& manifest = {}) {
    auto folder = create(manifest);
    auto ran = run(folder);
    EXPECT_TRUE(ran) << to_text(ran.error());
    auto record = read_campaign(folder);
    EXPECT_TRUE(record) << to_text(record.error());
    return record ? *record : CampaignRecord{};
  }
};

TEST_F(LibraryTest, TheBestKernelIsTimedBesideTheLibraryOnAllShapesAtTheEnd) {
  CampaignRecord record = finished();
  EXPECT_EQ(judge_.asked.back(), "decide blas full");
  ASSERT_TRUE(record.library && record.library->verdict);
  EXPECT_EQ(record.library->verdict->library, "blas 1.0");
  EXPECT_EQ(*record.library->verdict->incumbent, candidate("fast").id());
  ASSERT_EQ(record.library->verdict->timings.size(), 2u);
  EXPECT_NEAR(std::exp(record.library->verdict->timings[0].log_ratio), 0.5, 1e-9);
  ASSERT_TRUE(record.final_verdict);
  EXPECT_EQ(record.final_verdict->candidate, candidate("fast").id()) << "the library is no candidate";
}

TEST_F(LibraryTest, ABaselineThatNothingBeatIsTimedBesideItToo) {
  agent_.plan = {};
  CampaignRecord record = finished();
  ASSERT_TRUE(record.library && record.library->verdict);
  EXPECT_EQ(*record.library->verdict->incumbent, candidate("naive").id());
}

TEST_F(LibraryTest, AProblemWithoutALibrarySaysWhy) {
  library_ = [](const Problem&) -> Result<std::string> {
    return fail(ErrorKind::unsupported, "no library for this pattern");
  };
  CampaignRecord record = finished();
  ASSERT_TRUE(record.library);
  EXPECT_FALSE(record.library->verdict);
  EXPECT_EQ(record.library->reason, "no library for this pattern");
  EXPECT_THAT(judge_.asked, Not(Contains(HasSubstr("blas"))));
}

TEST_F(LibraryTest, ALibraryThatIsWrongHasNoTimesAndHarmsNothing) {
  judge_.kernels["blas"].outcome = Crashed{11, "SIGSEGV", ""};
  CampaignRecord record = finished();
  ASSERT_TRUE(record.library);
  EXPECT_FALSE(record.library->verdict);
  EXPECT_THAT(record.library->reason, HasSubstr("blas 1.0: crashed"));
  EXPECT_EQ(record.phase, Phase::done);
  EXPECT_TRUE(record.final_verdict);
}

TEST_F(LibraryTest, ABudgetThatIsSpentLeavesItOut) {
  Manifest manifest;
  manifest.budget_seconds = 30;
  judge_.before = [this](const JudgeRequest& request) {
    if (request.confirm) now_ += 30;
  };
  CampaignRecord record = finished(manifest);
  ASSERT_TRUE(record.library);
  EXPECT_EQ(record.library->reason, "the budget left no time for it");
  EXPECT_EQ(record.phase, Phase::done);
}

TEST_F(LibraryTest, MoreBudgetForgetsTheOldComparison) {
  auto folder = create();
  ASSERT_TRUE(run(folder));
  ASSERT_TRUE(extend_campaign(folder, 0, 5));
  auto record = read_campaign(folder);
  ASSERT_TRUE(record);
  EXPECT_FALSE(record->library);
}

TEST(PythonReferences, AreCopiedIntoTheCampaignsFolder) {
  auto home = TemporaryFolder::create("ako-python-test");
  ASSERT_TRUE(home);
  constexpr std::string_view text =
      "problem: twice\nsummary: Twice.\ndims: {N: elements}\ntensors:\n  x: {type: f32, shape: [N]}\n"
      "  y: {type: f32, shape: [N]}\nreference: {python: parts/twice.py, outputs: [y]}\n"
      "shapes: [{N: 4}]\ntolerance: {snr_db: 100}\n";
  constexpr std::string_view python = "def twice(x):\n    return 2 * x\n";
  ASSERT_TRUE(write_file(home->path() / "twice.yaml", text));
  auto problem = load_problem(home->path() / "twice.yaml");
  ASSERT_TRUE(problem) << to_text(problem.error());
  EXPECT_FALSE(create_campaign({}, *problem, home->path() / "work")) << "it is not there yet";
  ASSERT_TRUE(write_file(home->path() / "parts" / "twice.py", python));
  auto folder = create_campaign({}, *problem, home->path() / "work");
  ASSERT_TRUE(folder) << to_text(folder.error());
  EXPECT_EQ(read_file(*folder / "parts" / "twice.py").value_or(""), python);
}

}  // namespace
}  // namespace ako::testing_fakes
