// SPDX-License-Identifier: Apache-2.0
#include "agent/search/memory.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ako {
namespace {

Schedule unrolled(const std::string& value) { return Schedule{{{"unroll", value}}}; }

Candidate candidate_of(const Schedule& schedule) {
  Candidate candidate;
  candidate.sources = {{"kernel.cpp", schedule.text()}};
  return candidate;
}

RoundRecord single_round(int number, int parent, const Schedule& schedule, double log_ratio) {
  RoundRecord round;
  round.number = number;
  round.parent = parent;
  round.proposal.candidate = candidate_of(schedule);
  round.proposal.tag = tag_of({&schedule, 1});
  round.verdict.candidate = round.proposal.candidate.id();
  round.verdict.against_incumbent.emplace();
  round.verdict.against_incumbent->log_ratio = log_ratio;
  round.seconds = 3;
  return round;
}

RoundRecord sweep_round(int number, int parent, const std::vector<Schedule>& schedules) {
  RoundRecord round = single_round(number, parent, schedules.front(), 0);
  round.proposal.tag = tag_of(schedules);
  for (const Schedule& schedule : schedules) {
    round.proposal.sweep.push_back({schedule.text(), candidate_of(schedule)});
    round.sweep.push_back({schedule.text(), candidate_of(schedule).id(), "correct", 0.1, 5});
  }
  return round;
}

std::optional<double> cost_in(const Memory& memory, const Schedule& schedule) {
  for (const Trial& trial : memory.trials())
    if (trial.schedule == schedule) return trial.log_cost;
  return std::nullopt;
}

TEST(Memory, ReadsTheTagItWrites) {
  std::vector<Schedule> schedules{unrolled("1"), unrolled("8")};
  EXPECT_EQ(schedules_of_tag(tag_of(schedules)), schedules);
  EXPECT_TRUE(schedules_of_tag("").empty());
}

TEST(Memory, ChainsCostsOverRounds) {
  Memory memory;
  memory.learn(single_round(1, 0, unrolled("1"), 0));
  memory.learn(single_round(2, 1, unrolled("2"), -0.5));
  memory.learn(single_round(3, 2, unrolled("4"), -0.2));
  EXPECT_NEAR(memory.log_cost_of(3), -0.7, 1e-12);
  EXPECT_EQ(memory.schedule_of(3), unrolled("4"));
  EXPECT_EQ(memory.schedule_of(9), std::nullopt);
}

TEST(Memory, LearnsEveryVariantOfASweep) {
  Memory memory;
  memory.learn(single_round(1, 0, unrolled("1"), 0));
  RoundRecord sweep = sweep_round(2, 1, {unrolled("2"), unrolled("4"), unrolled("8")});
  sweep.sweep[1].outcome = "wrong";
  sweep.verdict.candidate = sweep.sweep[2].candidate;
  sweep.verdict.against_incumbent->log_ratio = -0.3;
  memory.learn(sweep);
  EXPECT_NEAR(*cost_in(memory, unrolled("2")), 0.1, 1e-12);
  EXPECT_EQ(cost_in(memory, unrolled("4")), std::nullopt);
  EXPECT_NEAR(*cost_in(memory, unrolled("8")), -0.3, 1e-12) << "the verdict outweighs the screening";
  EXPECT_TRUE(memory.tried(unrolled("4")));
  EXPECT_EQ(memory.schedule_of(2), unrolled("8"));
}

TEST(Memory, DoesNotHoldInfrastructureAgainstASchedule) {
  Memory memory;
  RoundRecord round = single_round(2, 1, unrolled("2"), 0);
  round.verdict.outcome = InfrastructureError{"the judge died"};
  memory.learn(round);
  EXPECT_FALSE(memory.tried(unrolled("2")));
  RoundRecord sweep = sweep_round(3, 1, {unrolled("4"), unrolled("8")});
  sweep.sweep[1].outcome = "infrastructure_error";
  memory.learn(sweep);
  EXPECT_TRUE(memory.tried(unrolled("4")));
  EXPECT_FALSE(memory.tried(unrolled("8")));
}

TEST(Memory, CountsRollbacksInARow) {
  Memory memory;
  for (int number = 1; number <= 3; ++number)
    memory.learn(single_round(number, 0, unrolled(std::to_string(number)), 0));
  EXPECT_EQ(memory.rollbacks_in_a_row(), 3);
  RoundRecord accepted = single_round(4, 3, unrolled("16"), -0.2);
  accepted.decision = RoundDecision::accepted;
  memory.learn(accepted);
  EXPECT_EQ(memory.rollbacks_in_a_row(), 0);
}

TEST(Memory, LearnsARoundOnce) {
  Memory memory;
  memory.learn(single_round(1, 0, unrolled("1"), 0));
  memory.learn(single_round(1, 0, unrolled("1"), 0));
  EXPECT_EQ(memory.rounds(), 1);
  EXPECT_EQ(memory.rollbacks_in_a_row(), 1);
}

TEST(Memory, MeasuresWhatARoundTakes) {
  Memory memory;
  EXPECT_EQ(memory.seconds_per_round(2.5), 2.5);
  memory.learn(sweep_round(2, 1, {unrolled("2"), unrolled("4"), unrolled("8")}));
  EXPECT_EQ(memory.seconds_per_round(2.5), 3 / rounds_worth(3));
}

}  // namespace
}  // namespace ako
