// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/campaign_fixture.h"
#include "agent/tune/tune_agent.h"

namespace ako {
namespace {

using testing::toy_cost;
using testing::toy_source;
using testing::ToyCampaign;

/// The knob of each proposal that changes one, in order, after the derived schedule.
std::vector<std::string> knobs_in_order(const std::vector<Tip>& tips) {
  auto agent = make_search_agent({1}, toy_source());
  agent->advise(tips);
  ToyCampaign campaign(*agent, toy_cost);
  std::vector<std::string> knobs;
  for (int round = 0; round < 4 && campaign.step(); ++round) {
    const std::string& change = campaign.rounds().back().proposal.change;
    if (change.find("; ") == std::string::npos) knobs.push_back(change.substr(0, change.find(':')));
  }
  return knobs;
}

Tip tip(const std::string& change, double log_ratio) {
  Tip made;
  made.change = change;
  made.accepted = log_ratio < 0;
  made.log_ratio = log_ratio;
  return made;
}

TEST(Advice, MovesAKnobThatPaidElsewhereToTheFront) {
  std::vector<std::string> without = knobs_in_order({});
  ASSERT_FALSE(without.empty());
  std::string last = without.back();
  ASSERT_NE(without.front(), last);
  EXPECT_EQ(knobs_in_order({tip(last + ": a → b", -3.0)}).front(), last);
}

TEST(Advice, PutsAKnobThatFailedElsewhereOff) {
  std::string first = knobs_in_order({}).front();
  EXPECT_NE(knobs_in_order(std::vector(30, tip(first + ": a → b", 0.2))).front(), first);
}

class TuneAgentTest : public ::testing::Test {
 protected:
  TuneAgentTest() {
    auto problem = parse_problem(
        "problem: copy\ndims: {N: n}\ntensors:\n  x: {type: f32, shape: [N]}\n  y: {type: f32, shape: [N]}\n"
        "math: |\n  y[i] = x[i]\nshapes:\n  - {N: 4}\ntolerance: {snr_db: 100}\n",
        "copy.yaml");
    problem_ = *problem;
    baseline_.number = 1;
    baseline_.decision = RoundDecision::baseline;
    baseline_.proposal.candidate.sources = {{"copy.cpp", "//"}};
    baseline_.proposal.candidate.plan = default_plan(problem_);
    baseline_.proposal.candidate.plan.tunables = {{"A", {1, 2, 3}}, {"B", {8, 16}}};
    baseline_.verdict.candidate = baseline_.proposal.candidate.id();
    history_ = {baseline_};
  }
  Result<Proposal> propose() {
    return agent_->propose({problem_, target_, Language::cpp, history_.front(), history_, {}, {60, 100}});
  }
  void close(Proposal proposal) {
    RoundRecord round;
    round.number = static_cast<int>(history_.size()) + 1;
    for (const Variant& variant : proposal.sweep)
      round.sweep.push_back({variant.label, variant.candidate.id(), "correct", 0, 1});
    round.verdict.candidate = proposal.candidate.id();
    round.proposal = std::move(proposal);
    history_.push_back(std::move(round));
  }
  std::unique_ptr<Agent> agent_ = make_tune_agent();
  Problem problem_;
  TargetFacts target_;
  RoundRecord baseline_;
  std::vector<RoundRecord> history_;
};

TEST_F(TuneAgentTest, SweepsOneTunableAfterTheOtherAndThenHasNothingLeft) {
  auto first = propose();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->change, "A: 1 → 2, 3");
  EXPECT_EQ(first->sweep.size(), 2u);
  close(*first);
  auto second = propose();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->change, "B: 8 → 16");
  EXPECT_TRUE(second->sweep.empty()) << "a single value is no sweep";
  close(*second);
  auto third = propose();
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().kind, ErrorKind::not_found);
}

TEST_F(TuneAgentTest, AsksForAKernelToStartFrom) {
  auto none = agent_->baseline(problem_, target_, Language::cpp);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().advice, ::testing::HasSubstr("--baseline FILE"));
}

}  // namespace
}  // namespace ako
