// SPDX-License-Identifier: Apache-2.0
#include "campaign/engine.h"

#include "base/clock.h"
#include "campaign/ruling.h"
#include "campaign_fixture.h"

namespace ako::testing_fakes {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class EngineTest : public CampaignTest {
 protected:
  CampaignRecord run_all(std::vector<std::string> plan, const Manifest& manifest = {}) {
    agent_.plan = std::move(plan);
    auto record = run(create(manifest));
    EXPECT_TRUE(record) << to_text(record.error());
    return record ? *record : CampaignRecord{};
  }
};

TEST_F(EngineTest, AcceptsAFasterKernelAfterConfirmingItOnAllShapes) {
  judge_.kernels["fast"] = {.us = 500};
  CampaignRecord record = run_all({"fast"});
  ASSERT_EQ(record.rounds.size(), 2u);
  EXPECT_EQ(record.rounds[0].decision, RoundDecision::baseline);
  EXPECT_EQ(record.rounds[1].decision, RoundDecision::accepted);
  EXPECT_EQ(record.rounds[1].parent, 1);
  EXPECT_NEAR(record.rounds[1].score, 2.0, 1e-9);
  EXPECT_TRUE(record.rounds[1].confirmation);
  EXPECT_THAT(judge_.asked, ElementsAre("decide naive full", "decide fast", "decide fast full confirm",
                                        "decide fast full confirm"));
  EXPECT_EQ(record.termination, "the agent has nothing left to propose");
  EXPECT_EQ(record.phase, Phase::done);
}

TEST_F(EngineTest, TheHeadlineComesFromOneSittingOfBestAgainstBaseline) {
  judge_.kernels["fast"] = {.us = 500};
  judge_.kernels["faster"] = {.us = 400};
  CampaignRecord record = run_all({"fast", "faster"});
  ASSERT_TRUE(record.final_verdict);
  EXPECT_EQ(record.final_verdict->candidate, candidate("faster").id());
  EXPECT_EQ(*record.final_verdict->incumbent, candidate("naive").id());
  EXPECT_NEAR(std::exp(-record.final_verdict->against_incumbent->log_ratio), 2.5, 1e-9);
  EXPECT_EQ(record.final_verdict->timings.size(), 2u) << "all shapes";
}

TEST_F(EngineTest, RollsBackWhatIsNotFasterAndGoesOnFromTheLastAccepted) {
  judge_.kernels["slow"] = {.us = 1500};
  judge_.kernels["same"] = {.us = 1001};
  judge_.kernels["fast"] = {.us = 500};
  CampaignRecord record = run_all({"slow", "same", "fast"});
  ASSERT_EQ(record.rounds.size(), 4u);
  EXPECT_EQ(record.rounds[1].decision, RoundDecision::rolled_back);
  EXPECT_THAT(record.rounds[1].reason, HasSubstr("slower"));
  EXPECT_EQ(record.rounds[2].decision, RoundDecision::rolled_back);
  EXPECT_THAT(record.rounds[2].reason, HasSubstr("no difference"));
  EXPECT_EQ(record.rounds[3].decision, RoundDecision::accepted);
  EXPECT_EQ(record.rounds[3].parent, 1);
}

TEST_F(EngineTest, AGainThatDoesNotRepeatIsRolledBack) {
  judge_.kernels["lucky"] = {.us = 900, .us_when_confirmed = 1000};
  CampaignRecord record = run_all({"lucky"});
  EXPECT_EQ(record.rounds[1].decision, RoundDecision::rolled_back);
  EXPECT_THAT(record.rounds[1].reason, HasSubstr("not when repeated"));
  EXPECT_FALSE(record.final_verdict);
}

TEST_F(EngineTest, ACoreShapeThatOnlyTheFullLevelShowsIsEnoughToRollBack) {
  judge_.kernels["uneven"] = {.us = 300, .us_on = {{"N=1024", 1100}}};
  CampaignRecord record = run_all({"uneven"});
  EXPECT_EQ(record.rounds[1].decision, RoundDecision::rolled_back);
  EXPECT_THAT(record.rounds[1].reason, HasSubstr("core shape N=1024"));
}

TEST_F(EngineTest, ASmallRegressionIsATradeOff) {
  judge_.kernels["uneven"] = {.us = 300, .us_on = {{"N=1024", 1030}}};
  CampaignRecord record = run_all({"uneven"});
  EXPECT_EQ(record.rounds[1].decision, RoundDecision::accepted_trade_off);
  EXPECT_THAT(record.rounds[1].reason, HasSubstr("slower on N=1024"));
}

TEST_F(EngineTest, AWrongKernelIsRolledBackWithWhatWasWrong) {
  Wrong wrong;
  wrong.shape = "N=64";
  wrong.tensor = "y";
  wrong.metric = "snr 3 dB, needs 100";
  judge_.kernels["wrong"] = {.us = 1, .outcome = wrong};
  CampaignRecord record = run_all({"wrong"});
  EXPECT_EQ(record.rounds[1].decision, RoundDecision::rolled_back);
  EXPECT_THAT(record.rounds[1].reason, HasSubstr("snr 3 dB"));
  EXPECT_EQ(record.rounds[1].score, 0);
}

TEST_F(EngineTest, AWrongBaselineEndsTheCampaign) {
  judge_.kernels["naive"] = {.outcome = CompileError{"no such header"}};
  auto folder = create();
  auto record = run(folder);
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().kind, ErrorKind::internal) << "nobody but ako wrote it";
  EXPECT_THAT(record.error().what, StartsWith("the baseline that ako wrote does not stand: compile error"));
  EXPECT_THAT(record.error().advice, HasSubstr("please report"));
  auto kept = read_campaign(folder);
  ASSERT_TRUE(kept) << to_text(kept.error());
  EXPECT_EQ(kept->phase, Phase::done);
  EXPECT_TRUE(kept->rounds.empty());
}

// ---- sweeps ----

TEST_F(EngineTest, ASweepIsOneRoundAndItsBestCorrectVariantIsDecidedOn) {
  judge_.kernels["a"] = {.us = 900};
  judge_.kernels["b"] = {.us = 100, .outcome = Wrong{}};
  judge_.kernels["c"] = {.us = 700};
  CampaignRecord record = run_all({"a|b|c"});
  ASSERT_EQ(record.rounds.size(), 2u);
  const RoundRecord& round = record.rounds[1];
  EXPECT_EQ(round.decision, RoundDecision::accepted);
  EXPECT_EQ(round.verdict.candidate, candidate("c").id());
  EXPECT_EQ(round.proposal.candidate, candidate("c"));
  ASSERT_EQ(round.sweep.size(), 3u);
  EXPECT_EQ(round.sweep[1].outcome, "wrong");
  EXPECT_NEAR(round.sweep[2].log_ratio, std::log(0.7), 1e-9);
  EXPECT_THAT(judge_.asked, ElementsAre("decide naive full", "screen a", "screen b", "screen c", "decide c",
                                        "decide c full confirm", "decide c full confirm"));
}

TEST_F(EngineTest, AHopelessSweepCostsNoDecision) {
  judge_.kernels["a"] = {.us = 1500};
  judge_.kernels["b"] = {.us = 1200};
  CampaignRecord record = run_all({"a|b"});
  EXPECT_EQ(record.rounds[1].decision, RoundDecision::rolled_back);
  EXPECT_THAT(record.rounds[1].reason, HasSubstr("b, took 20.0 % longer"));
  EXPECT_THAT(judge_.asked, ElementsAre("decide naive full", "screen a", "screen b"));
}

TEST_F(EngineTest, ASweepWithoutACorrectVariantSaysWhatTheyWere) {
  judge_.kernels["a"] = {.outcome = Wrong{}};
  judge_.kernels["b"] = {.outcome = CompileError{"log"}};
  CampaignRecord record = run_all({"a|b"});
  EXPECT_THAT(record.rounds[1].reason, HasSubstr("1 compile_error, 1 wrong"));
}

TEST_F(EngineTest, ALargeSweepIsHalved) {
  std::string names;
  for (int i = 0; i < 12; ++i) {
    std::string name = fmt::format("v{}", i);
    judge_.kernels[name] = {.us = 900.0 - 10 * i};
    names += (i ? "|" : "") + name;
  }
  CampaignRecord record = run_all({names});
  EXPECT_EQ(record.rounds[1].verdict.candidate, candidate("v11").id());
  EXPECT_EQ(std::count(judge_.asked.begin(), judge_.asked.end(), "screen v11"), 2);
  EXPECT_EQ(std::count(judge_.asked.begin(), judge_.asked.end(), "screen v0"), 1);
  EXPECT_EQ(record.rounds[1].sweep.size(), 12u);
}

// ---- rules ----

TEST_F(EngineTest, RefusesForbiddenBucketsWithoutMeasuring) {
  agent_.bucket = Bucket::w3_memo;
  judge_.kernels["memo"] = {.us = 1};
  CampaignRecord record = run_all({"memo"});
  EXPECT_EQ(record.rounds[1].decision, RoundDecision::rolled_back);
  EXPECT_EQ(std::get<Rejected>(record.rounds[1].verdict.outcome).rule, "R11");
  EXPECT_THAT(judge_.asked, ElementsAre("decide naive full"));
}

TEST_F(EngineTest, RefusesACandidateThatWasMeasuredBefore) {
  judge_.kernels["slow"] = {.us = 2000};
  CampaignRecord record = run_all({"slow", "slow", "naive"});
  EXPECT_THAT(record.rounds[2].reason, HasSubstr("measured in round 2"));
  EXPECT_THAT(record.rounds[3].reason, HasSubstr("measured in round 1"));
}

TEST_F(EngineTest, EndsWhenTheAgentIsStuck) {
  CampaignRecord record = run_all(std::vector<std::string>(100, "naive"));
  EXPECT_THAT(record.termination, HasSubstr("broke the rules"));
  EXPECT_LT(record.rounds.size(), 20u);
}

// ---- ends ----

TEST_F(EngineTest, EndsAfterTheRoundsAskedFor) {
  Manifest manifest;
  manifest.max_iterations = 3;
  for (int i = 0; i < 9; ++i) judge_.kernels[fmt::format("s{}", i)] = {.us = 2000};
  CampaignRecord record = run_all({"s0", "s1", "s2", "s3", "s4"}, manifest);
  EXPECT_EQ(record.rounds.size(), 3u);
  EXPECT_THAT(record.termination, StartsWith("T3 max_iterations"));
}

TEST_F(EngineTest, EndsAtTheEfficiencyAskedFor) {
  Manifest manifest;
  manifest.target_efficiency = 0.5;
  // 1024 elements in and out at 1 GB/s are 8.2 us, 64 are 0.5 us.
  judge_.kernels["ideal"] = {.us_on = {{"N=64", 0.6}, {"N=1024", 9}}};
  CampaignRecord record = run_all({"ideal", "naive"}, manifest);
  EXPECT_EQ(record.rounds.size(), 2u);
  EXPECT_THAT(record.termination, StartsWith("T2"));
}

TEST_F(EngineTest, EndsAtThePerformanceAskedFor) {
  Manifest manifest;
  manifest.performance_target = ">0.1 GB/s";
  judge_.kernels["fast"] = {.us_on = {{"N=64", 1}, {"N=1024", 10}}};
  EXPECT_EQ(run_all({"fast", "naive"}, manifest).termination, "T1 target reached: >0.1 GB/s");
}

TEST_F(EngineTest, KeepsWithinItsSecondsAndStillVerifiesTheBest) {
  Manifest manifest;
  manifest.budget_seconds = 60;
  judge_.seconds_per_question = 2;
  judge_.kernels["fast"] = {.us = 500};
  std::vector<std::string> plan{"fast"};
  for (int i = 0; i < 100; ++i) {
    judge_.kernels[fmt::format("s{}", i)] = {.us = 2000};
    plan.push_back(fmt::format("s{}", i));
  }
  CampaignRecord record = run_all(plan, manifest);
  EXPECT_EQ(record.termination, "budget of 60 s spent");
  EXPECT_TRUE(record.final_verdict);
  EXPECT_LE(record.seconds, 62);
  EXPECT_GE(record.seconds, 45) << "the budget is used";
  EXPECT_LT(agent_.budgets.back().seconds_left, agent_.budgets.front().seconds_left);
}

TEST_F(EngineTest, AShortBudgetJudgesAkosOwnBaselineOnTheRepresentativeShapesFirst) {
  Manifest manifest;
  manifest.budget_seconds = 20;
  judge_.kernels["fast"] = {.us = 500};
  CampaignRecord record = run_all({"fast"}, manifest);
  EXPECT_EQ(judge_.asked.front(), "decide naive");
  EXPECT_EQ(std::count(judge_.asked.begin(), judge_.asked.end(), "decide naive full"), 0);
  EXPECT_THAT(record.rounds[0].verdict.notes, Contains(HasSubstr("representative shapes")));
  EXPECT_EQ(record.rounds[1].decision, RoundDecision::accepted);
}

TEST_F(EngineTest, AnAmpleBudgetJudgesTheBaselineOnAllShapes) {
  Manifest manifest;
  manifest.budget_seconds = 1000;
  CampaignRecord record = run_all({}, manifest);
  EXPECT_THAT(judge_.asked, ElementsAre("decide naive", "decide naive full"));
  EXPECT_EQ(record.rounds[0].verdict.timings.size(), 2u);
}

TEST_F(EngineTest, AnEndedCampaignRunsTheRoundsThatAreAskedForWhateverItsBudget) {
  Manifest manifest;
  manifest.budget_seconds = 10;
  judge_.seconds_per_question = 6;
  for (int i = 0; i < 9; ++i) judge_.kernels[fmt::format("s{}", i)] = {.us = 2000};
  agent_.plan = {"s0", "s1", "s2", "s3"};
  auto folder = create(manifest);
  auto record = run(folder);
  ASSERT_TRUE(record) << to_text(record.error());
  std::size_t before = record->rounds.size();
  ASSERT_TRUE(extend_campaign(folder, 0, 1));
  FakeAgent again;
  again.plan = agent_.plan;
  record = run(folder, judge_, again);
  ASSERT_TRUE(record) << to_text(record.error());
  EXPECT_EQ(record->rounds.size(), before + 1);
  EXPECT_THAT(record->termination, StartsWith("T3"));
  ASSERT_TRUE(extend_campaign(folder, 60, 0));
  EXPECT_EQ(read_campaign(folder)->manifest.max_iterations, 0) << "rounds that are spent do not end it again";
}

TEST_F(EngineTest, AnUnclearRoundIsNoVerifiedDirection) {
  judge_.kernels["close"] = {.us = 986};  // between the noise and an answer
  CampaignRecord record = run_all({"close"});
  ASSERT_FALSE(conclusive(record.rounds[1])) << record.rounds[1].reason;
  std::string log = *read_file(layout::optimize_log(record.folder));
  EXPECT_THAT(log, HasSubstr("### Verified Ineffective Directions\n\n- none\n"));
  EXPECT_THAT(log, HasSubstr("### Directions Without a Clear Answer\n\n- round-2"));
}

TEST_F(EngineTest, TheUserStopsItBetweenStepsAndGoesOnLater) {
  judge_.kernels["fast"] = {.us = 500};
  agent_.plan = {"fast"};
  auto folder = create();
  judge_.before = [&](const JudgeRequest& request) { stop_ = name_in(request.candidate) == "fast"; };
  auto record = run(folder);
  ASSERT_TRUE(record) << to_text(record.error());
  EXPECT_TRUE(record->termination.empty());
  EXPECT_EQ(record->rounds.size(), 1u) << "the round that was open is not kept";
  stop_ = false;
  judge_.before = {};
  FakeAgent again;
  again.plan = agent_.plan;
  record = run(folder, judge_, again);
  ASSERT_TRUE(record) << to_text(record.error());
  EXPECT_THAT(again.learned, ElementsAre(1, 2)) << "told of the earlier run's round, then of its own";
  EXPECT_EQ(record->rounds.size(), 2u);
  EXPECT_TRUE(record->final_verdict);
}

// ---- infrastructure ----

TEST_F(EngineTest, InfrastructureFailuresAreRetriedAndNotCharged) {
  judge_.kernels["fast"] = {.us = 500};
  Verdict failed;
  failed.outcome = InfrastructureError{"the compiler's disk was full"};
  judge_.troubles = {std::unexpected(Error{ErrorKind::unavailable, "the judge died", ""}), failed};
  CampaignRecord record = run_all({"fast"});
  EXPECT_EQ(record.rounds.size(), 2u);
  EXPECT_EQ(record.rounds[0].decision, RoundDecision::baseline);
  EXPECT_EQ(record.rounds[1].decision, RoundDecision::accepted);
}

TEST_F(EngineTest, LastingInfrastructureFailureLeavesACampaignToResume) {
  judge_.kernels["fast"] = {.us = 500};
  agent_.plan = {"fast"};
  auto folder = create();
  int questions = 0;
  judge_.before = [&](const JudgeRequest&) {
    if (++questions == 2)
      for (int i = 0; i < 3; ++i)
        judge_.troubles.push_back(std::unexpected(Error{ErrorKind::unavailable, "no device", ""}));
  };
  auto record = run(folder);
  ASSERT_FALSE(record);
  EXPECT_THAT(record.error().what, HasSubstr("no device"));
  EXPECT_EQ(read_campaign(folder)->rounds.size(), 1u);
  FakeAgent again;
  again.plan = agent_.plan;
  record = run(folder, judge_, again);
  ASSERT_TRUE(record) << to_text(record.error());
  EXPECT_EQ(record->rounds.size(), 2u);
}

TEST_F(EngineTest, AnAgentThatIsUnavailableIsAskedAgainAndOthersErrorsAreTold) {
  judge_.kernels["fast"] = {.us = 500};
  agent_.troubles = {{ErrorKind::unavailable, "busy", ""}, {ErrorKind::unavailable, "busy", ""}};
  EXPECT_EQ(run_all({"fast"}).rounds.size(), 2u);
  agent_.learned.clear();
  agent_.troubles = {{ErrorKind::invalid_input, "bad prompt", ""}};
  auto record = run(create());
  ASSERT_FALSE(record);
  EXPECT_THAT(record.error().what, HasSubstr("the agent 'fake' failed: bad prompt"));
}

TEST_F(EngineTest, TheAgentHearsWhatHoldsTheIncumbentBack) {
  judge_.kernels["fast"] = {.us = 500};
  run_all({"fast"});
  ASSERT_FALSE(agent_.bottlenecks.empty());
  EXPECT_EQ(agent_.bottlenecks[0].kind, "latency") << agent_.bottlenecks[0].explanation;
  EXPECT_GT(agent_.bottlenecks[0].efficiency, 0);
}

TEST_F(EngineTest, ABestThatFailsTheFinalVerificationIsPassedOver) {
  judge_.kernels["good"] = {.us = 500};
  judge_.kernels["flaky"] = {.us = 300};
  agent_.plan = {"good", "flaky"};
  int confirmations = 0;
  judge_.before = [&](const JudgeRequest& request) {
    if (name_in(request.candidate) == "flaky" && request.confirm && ++confirmations == 2)
      judge_.kernels["flaky"].outcome = Wrong{};
  };
  auto record = run(create());
  ASSERT_TRUE(record) << to_text(record.error());
  ASSERT_TRUE(record->final_verdict);
  EXPECT_EQ(record->final_verdict->candidate, candidate("good").id());
  EXPECT_EQ(best_round(*record)->number, 2);
  EXPECT_THAT(record->termination, HasSubstr("round 3 did not pass"));
}

}  // namespace
}  // namespace ako::testing_fakes
