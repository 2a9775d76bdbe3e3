// SPDX-License-Identifier: Apache-2.0
#include "agent/search/search_agent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "agent/campaign_fixture.h"
#include "agent/search/memory.h"

namespace ako {
namespace {

using ::testing::HasSubstr;
using testing::toy_cost;
using testing::toy_source;
using testing::toy_space;
using testing::ToyCampaign;

constexpr double kToyOptimum = -0.6 - 1.2 - 0.25 - 0.1;

std::unique_ptr<Agent> agent(std::uint64_t seed = 1) { return make_search_agent({seed}, toy_source()); }

/// Every schedule that a proposal would have judged.
std::vector<Schedule> schedules_in(const Proposal& proposal) { return schedules_of_tag(proposal.tag); }

TEST(SearchAgent, BeginsWithThePlainNest) {
  auto search = agent();
  ToyCampaign campaign(*search, toy_cost);
  EXPECT_EQ(schedules_in(campaign.rounds().front().proposal), std::vector{toy_space().naive});
}

TEST(SearchAgent, TriesTheScheduleDerivedFromTheMachineNext) {
  auto search = agent();
  ToyCampaign campaign(*search, toy_cost);
  auto proposal = campaign.ask(*search);
  ASSERT_TRUE(proposal);
  EXPECT_EQ(schedules_in(*proposal), std::vector{toy_space().start});
  EXPECT_TRUE(proposal->sweep.empty());
  EXPECT_THAT(proposal->hypothesis, HasSubstr("2 cores, 512-bit SIMD"));
  EXPECT_THAT(proposal->change, HasSubstr("threads: 1 → 2"));
}

TEST(SearchAgent, ReachesTheOptimumOfASmallSpaceInFewRounds) {
  auto search = agent();
  ToyCampaign campaign(*search, toy_cost);
  for (int round = 0; round < 10 && campaign.best() > kToyOptimum + 1e-9; ++round)
    ASSERT_TRUE(campaign.step());
  EXPECT_NEAR(campaign.best(), kToyOptimum, 1e-9) << campaign.best_schedule().text();
}

TEST(SearchAgent, ReachesTheOptimumWhenTheDerivedScheduleIsWrong) {
  auto cost = [](const Schedule& s) {
    return s == toy_space().start ? std::nullopt : std::optional(toy_cost(s));
  };
  auto search = agent();
  ToyCampaign campaign(*search, cost);
  for (int round = 0; round < 16 && campaign.best() > kToyOptimum + 1e-9; ++round)
    ASSERT_TRUE(campaign.step());
  EXPECT_NEAR(campaign.best(), kToyOptimum, 1e-9) << campaign.best_schedule().text();
}

TEST(SearchAgent, NeverProposesAScheduleTwiceAndStopsWhenAllAreTried) {
  auto search = agent();
  ToyCampaign campaign(*search, toy_cost);
  std::set<Schedule> seen{toy_space().naive};
  while (auto proposal = campaign.ask(*search)) {
    for (const Schedule& schedule : schedules_in(*proposal)) {
      EXPECT_TRUE(seen.insert(schedule).second) << schedule.text();
      EXPECT_EQ(toy_space().invalid(schedule), "");
    }
    ASSERT_TRUE(campaign.step());
  }
  EXPECT_EQ(seen.size(), 2u * 4 * 3 * 4 * 2 - 2 * 3 * 2) << "all but those that are invalid";
  EXPECT_EQ(search->propose(campaign.situation()).error().kind, ErrorKind::not_found);
}

TEST(SearchAgent, GoesOnAfterResumingAsIfItNeverStopped) {
  auto search = agent(5);
  ToyCampaign campaign(*search, toy_cost);
  for (int round = 0; round < 12; ++round) {
    auto fresh = agent(5), unaware = agent(5);
    for (const RoundRecord& closed : campaign.rounds()) fresh->learn(closed);
    auto expected = campaign.ask(*search);
    ASSERT_TRUE(expected);
    for (Agent* other : {fresh.get(), unaware.get()}) {
      auto proposal = campaign.ask(*other);
      ASSERT_TRUE(proposal);
      EXPECT_EQ(proposal->tag, expected->tag);
      EXPECT_EQ(proposal->hypothesis, expected->hypothesis);
    }
    ASSERT_TRUE(campaign.step());
  }
}

TEST(SearchAgent, MakesOneChangeARoundWhileSingleChangesPay) {
  auto search = agent();
  ToyCampaign campaign(*search, toy_cost);
  ASSERT_TRUE(campaign.step());
  auto proposal = campaign.ask(*search);
  ASSERT_TRUE(proposal);
  std::set<std::string> knobs;
  for (const Schedule& schedule : schedules_in(*proposal))
    for (const auto& [name, value] : schedule.knobs)
      if (campaign.best_schedule().knobs.at(name) != value) knobs.insert(name);
  EXPECT_EQ(knobs.size(), 1u);
}

TEST(SearchAgent, SweepsTheValuesOfASizeInOneRound) {
  auto search = agent();
  ToyCampaign campaign(*search, toy_cost);
  bool swept = false;
  for (int round = 0; round < 6; ++round) {
    ASSERT_TRUE(campaign.step());
    const Proposal& proposal = campaign.rounds().back().proposal;
    if (proposal.sweep.empty()) continue;
    swept = true;
    EXPECT_LE(proposal.sweep.size(), 6u);
    EXPECT_EQ(proposal.sweep.size(), schedules_in(proposal).size());
    EXPECT_EQ(proposal.candidate, proposal.sweep.front().candidate);
  }
  EXPECT_TRUE(swept);
}

TEST(SearchAgent, WorksOnTheRoofThatLimits) {
  // Nothing but the prior speaks: every schedule costs the same, so that only the bottleneck differs.
  auto first_after_start = [](const std::string& kind) {
    auto search = agent();
    ToyCampaign campaign(*search, [](const Schedule&) { return 0.0; });
    campaign.bottleneck.kind = kind;
    campaign.step();
    return campaign.ask(*search).value().change;
  };
  EXPECT_THAT(first_after_start("memory"), HasSubstr("passes"));
  EXPECT_THAT(first_after_start("compute"), HasSubstr("threads"));
}

TEST(SearchAgent, TriesCombinationsAfterRollbacks) {
  // Streaming pays only together with two passes: no single change of the start schedule helps.
  auto cost = [](const Schedule& s) -> std::optional<double> {
    if (s == toy_space().naive) return 1.0;
    bool both = s.knobs.at("streaming") == "on" && s.knobs.at("passes") == "two";
    bool start_like =
        s.knobs.at("threads") == "2" && s.knobs.at("vector") == "8" && s.knobs.at("unroll") == "1";
    return both && start_like ? -0.5 : s == toy_space().start ? 0.0 : 0.1;
  };
  auto search = agent();
  ToyCampaign campaign(*search, cost);
  for (int round = 0; round < 20 && campaign.best() > -0.4; ++round) ASSERT_TRUE(campaign.step());
  EXPECT_EQ(campaign.best(), -0.5);
}

TEST(SearchAgent, SkipsWhatSynthRefuses) {
  ScheduleSource source = toy_source();
  auto synthesize = source.synthesize;
  source.synthesize = [=](const Problem& problem, const Schedule& schedule, const TargetFacts& target,
                          Language language) -> Result<Candidate> {
    if (schedule.knobs.at("passes") == "online") return fail(ErrorKind::unsupported, "no online form");
    return synthesize(problem, schedule, target, language);
  };
  auto search = make_search_agent({1}, source);
  ToyCampaign campaign(*search, toy_cost);
  for (int round = 0; round < 12; ++round) {
    ASSERT_TRUE(campaign.step());
    for (const Schedule& schedule : schedules_in(campaign.rounds().back().proposal))
      EXPECT_NE(schedule.knobs.at("passes"), "online");
  }
}

TEST(SearchAgent, PassesOnOtherErrorsOfSynth) {
  ScheduleSource source = toy_source();
  source.synthesize = [](const Problem&, const Schedule&, const TargetFacts&, Language) -> Result<Candidate> {
    return fail(ErrorKind::internal, "synth broke");
  };
  auto search = make_search_agent({1}, source);
  EXPECT_EQ(search->baseline({}, {}, Language::cpp).error().what, "synth broke");
}

TEST(SearchAgent, JudgesFewerVariantsWhenTimeRunsOut) {
  auto search = agent();
  ToyCampaign campaign(*search, toy_cost);
  ASSERT_TRUE(campaign.step());
  campaign.seconds_left = 2;  // rounds have taken two seconds each
  auto proposal = campaign.ask(*search);
  ASSERT_TRUE(proposal);
  EXPECT_TRUE(proposal->sweep.empty());
}

TEST(SearchAgent, SaysWhyAndWhatToExpect) {
  auto search = agent();
  ToyCampaign campaign(*search, toy_cost);
  for (int round = 0; round < 25 && campaign.step(); ++round) {
    const Proposal& proposal = campaign.rounds().back().proposal;
    EXPECT_GT(proposal.hypothesis.size(), 40u);
    EXPECT_TRUE(proposal.hypothesis.ends_with(".")) << proposal.hypothesis;
    EXPECT_THAT(proposal.hypothesis, ::testing::Not(HasSubstr("{"))) << "an unfilled place";
    EXPECT_THAT(proposal.change, HasSubstr("→"));
    EXPECT_FALSE(proposal.signal.empty());
    EXPECT_GE(proposal.expected_gain, 0);
    EXPECT_LT(proposal.expected_gain, 1);
  }
}

}  // namespace
}  // namespace ako
