// SPDX-License-Identifier: Apache-2.0
#include "campaign/experience.h"

#include "campaign_fixture.h"

namespace ako {
namespace {

using ::testing::HasSubstr;

class AdvisedAgent : public testing_fakes::FakeAgent {
 public:
  std::vector<Tip> advice;
  void advise(std::span<const Tip> tips) override { advice.assign(tips.begin(), tips.end()); }
};

class ExperienceTest : public testing_fakes::CampaignTest {
 protected:
  Result<CampaignRecord> run_remembering(const std::filesystem::path& folder, Agent& agent) {
    AKO_TRY(CampaignStore store, CampaignStore::open(folder, OpenMode::read_write));
    auto place = experience_folder(home_.path());
    Memories memories{[place](const CampaignRecord& record, const Problem& problem) {
                        return recall_tips(place, record, problem);
                      },
                      [place](std::span<const Tip> tips) { return keep_tips(place, tips); }};
    return run_engine(store, {judge_, agent, [this] { return now_; },
                              [this](const Event& event) { events_.push_back(event.text); },
                              [] { return false; }, memories});
  }

  /// One accepted round, one slower one, one that is wrong.
  CampaignRecord first_campaign() {
    judge_.kernels["fast"] = {.us = 500};
    judge_.kernels["slow"] = {.us = 900};
    judge_.kernels["broken"] = {.outcome = Wrong{}};
    AdvisedAgent agent;
    agent.plan = {"fast", "slow", "broken"};
    auto record = run_remembering(create(), agent);
    EXPECT_TRUE(record) << to_text(record.error());
    return *record;
  }
};

TEST_F(ExperienceTest, KeepsWhatWasAcceptedAndWhatFailed) {
  first_campaign();
  auto tips = all_tips(experience_folder(home_.path()));
  ASSERT_TRUE(tips) << to_text(tips.error());
  ASSERT_EQ(tips->size(), 3u);
  EXPECT_FALSE(tips->at(0).accepted);
  EXPECT_FALSE(tips->at(0).log_ratio);
  EXPECT_THAT(tips->at(0).takeaway, HasSubstr("does not work"));
  EXPECT_FALSE(tips->at(1).accepted);
  EXPECT_TRUE(tips->at(2).accepted);
  EXPECT_NEAR(*tips->at(2).log_ratio, std::log(0.5), 1e-9);
  EXPECT_EQ(tips->at(2).pattern, "elementwise");
}

TEST_F(ExperienceTest, TellsTheNextCampaignBeforeItsBaseline) {
  first_campaign();
  AdvisedAgent second;
  auto record = run_remembering(create(), second);
  ASSERT_TRUE(record) << to_text(record.error());
  EXPECT_EQ(second.advice.size(), 3u);
  EXPECT_EQ(record->tips.size(), 3u);
  auto log = read_file(layout::optimize_log(record->folder));
  ASSERT_TRUE(log);
  EXPECT_THAT(*log, HasSubstr("### Historical tips"));
  EXPECT_LT(log->find("### Historical tips"), log->find("### round-1 "));
  EXPECT_THAT(events_, ::testing::Contains("READ_HISTORICAL_TIPS"));
}

TEST_F(ExperienceTest, TellsAResumedCampaignWhatItWasToldAtFirst) {
  auto folder = create();
  AdvisedAgent agent;
  ASSERT_TRUE(run_remembering(folder, agent));
  first_campaign();
  ASSERT_TRUE(extend_campaign(folder, 0, 5));
  AdvisedAgent again;
  auto record = run_remembering(folder, again);
  ASSERT_TRUE(record) << to_text(record.error());
  EXPECT_TRUE(again.advice.empty());
}

TEST_F(ExperienceTest, WritesThemForPeopleWherePrimusHasThem) {
  CampaignRecord record = first_campaign();
  auto text = read_file(experience_folder(home_.path()) / "host/scale/cpp/tips.md");
  ASSERT_TRUE(text) << to_text(text.error());
  EXPECT_THAT(*text, HasSubstr("round-2 — ACCEPTED"));
  EXPECT_THAT(*text, HasSubstr("round-3 — ROLLED BACK"));
  for (const char* field : {"- Context: ", "- Signal: ", "- Takeaway: ", "- Applicability: "})
    EXPECT_THAT(*text, HasSubstr(field));
}

TEST_F(ExperienceTest, StandsBesideAWorkspaceFolderAndInsideAnyOther) {
  EXPECT_EQ(experience_folder("/a/agent/workspace"), "/a/agent/historical_experience");
  EXPECT_EQ(experience_folder("/a/demo/"), "/a/demo/historical_experience");
}

TEST_F(ExperienceTest, GoesOnWithoutTipsThatCannotBeRead) {
  std::filesystem::create_directories(experience_folder(home_.path()));
  ASSERT_TRUE(write_file(experience_folder(home_.path()) / "tips.db",
                         "this is no database at all, nor will it be one"));
  AdvisedAgent agent;
  auto record = run_remembering(create(), agent);
  ASSERT_TRUE(record) << to_text(record.error());
  EXPECT_FALSE(record->termination.empty());
  EXPECT_THAT(events_, ::testing::Contains(HasSubstr("cannot be read")));
}

}  // namespace
}  // namespace ako
