// SPDX-License-Identifier: Apache-2.0
// A tiny campaign around the search agent: a schedule space with a known cost, and the linear policy's
// decisions.
#pragma once

#include <cmath>
#include <string>

#include "agent/search/search_agent.h"

namespace ako::testing {

inline std::string knob(const Schedule& schedule, const std::string& name) { return schedule.knobs.at(name); }
inline int number(const Schedule& schedule, const std::string& name) {
  return std::stoi(knob(schedule, name));
}

inline ScheduleSpace toy_space() {
  ScheduleSpace space;
  space.knobs = {{"threads", "threads of the outer loop", {"1", "2"}, true, "compute"},
                 {"vector", "SIMD lanes of the innermost loop", {"1", "4", "8", "16"}, false, "compute"},
                 {"passes", "how often a row is read", {"three", "two", "online"}, true, "memory"},
                 {"unroll", "iterations in flight", {"1", "2", "4", "8"}, false, "overhead"},
                 {"streaming", "stores that bypass the cache", {"off", "on"}, true, "memory"}};
  space.naive.knobs = {
      {"threads", "1"}, {"vector", "1"}, {"passes", "three"}, {"unroll", "1"}, {"streaming", "off"}};
  space.start.knobs = {
      {"threads", "2"}, {"vector", "8"}, {"passes", "online"}, {"unroll", "1"}, {"streaming", "off"}};
  space.invalid = [](const Schedule& s) -> std::string {
    return knob(s, "vector") == "1" && number(s, "unroll") > 4 ? "unrolling so far needs vectors" : "";
  };
  return space;
}

/// Log of the time. Its minimum, threads=2 vector=16 passes=two unroll=4 streaming=on, is not where `start`
/// is.
inline double toy_cost(const Schedule& s) {
  double cost = -0.6 * (number(s, "threads") - 1) - 0.3 * std::log2(number(s, "vector"));
  cost += knob(s, "passes") == "two" ? -0.25 : knob(s, "passes") == "online" ? -0.15 : 0;
  cost += 0.05 * std::abs(number(s, "unroll") - 4) + (knob(s, "streaming") == "on" ? -0.1 : 0);
  return cost;
}

inline ScheduleSource toy_source() {
  return {[](const Problem&, const TargetFacts&, Language) -> Result<ScheduleSpace> { return toy_space(); },
          [](const Problem&, const Schedule& schedule, const TargetFacts&,
             Language language) -> Result<Candidate> {
            Candidate candidate;
            candidate.language = language;
            candidate.sources = {{"kernel.cpp", "// " + schedule.text()}};
            return candidate;
          }};
}

/// Runs proposals to their verdicts by a cost function over schedules; nullopt: the candidate is wrong.
class ToyCampaign {
 public:
  using Cost = std::function<std::optional<double>(const Schedule&)>;
  ToyCampaign(Agent& agent, Cost cost) : agent_(&agent), cost_(std::move(cost)) {
    target_.id = "host";
    target_.compute_units = 2;
    target_.vector_bits = 512;
    auto baseline = agent_->baseline(problem_, target_, Language::cpp);
    close(std::move(*baseline), RoundDecision::baseline);
  }

  /// nullopt: the agent had nothing left.
  std::optional<Proposal> ask(Agent& agent) {
    auto proposal = agent.propose(situation());
    return proposal ? std::optional(std::move(*proposal)) : std::nullopt;
  }
  /// One round; false when the agent had nothing left.
  bool step() {
    auto proposal = ask(*agent_);
    if (!proposal) return false;
    close(std::move(*proposal), RoundDecision::rolled_back);
    return true;
  }
  Situation situation() const {
    return {problem_, target_, Language::cpp, rounds_[incumbent_], rounds_, bottleneck, {seconds_left, 100}};
  }
  double best() const { return best_; }
  Schedule best_schedule() const { return best_schedule_; }
  const std::vector<RoundRecord>& rounds() const { return rounds_; }
  const Problem& problem() const { return problem_; }
  const TargetFacts& target() const { return target_; }

  Bottleneck bottleneck{"memory", 0.3, "it moves 6 GB/s of 20"};
  double seconds_left = 60;

 private:
  static Schedule schedule_in(const Candidate& candidate) {
    return *parse_schedule(candidate.sources.front().text.substr(3));
  }

  void close(Proposal proposal, RoundDecision decision) {
    RoundRecord round;
    round.number = static_cast<int>(rounds_.size()) + 1;
    round.parent = rounds_.empty() ? 0 : rounds_[incumbent_].number;
    Candidate winner = proposal.candidate;
    for (const Variant& variant : proposal.sweep) {
      auto cost = cost_(schedule_in(variant.candidate));
      round.sweep.push_back({variant.label, variant.candidate.id(), cost ? "correct" : "wrong",
                             cost.value_or(best_) - best_, 1});
      if (cost && *cost < cost_(schedule_in(winner)).value_or(1e9)) winner = variant.candidate;
    }
    auto cost = cost_(schedule_in(winner));
    round.verdict.candidate = winner.id();
    if (!cost) round.verdict.outcome = Wrong{};
    if (cost && decision != RoundDecision::baseline) {
      round.verdict.against_incumbent.emplace();
      round.verdict.against_incumbent->log_ratio = *cost - best_;
      if (*cost < best_ - 0.01) decision = RoundDecision::accepted;
    }
    if (decision != RoundDecision::rolled_back) {
      best_ = cost.value_or(0);
      best_schedule_ = schedule_in(winner);
      incumbent_ = rounds_.size();
    }
    round.proposal = std::move(proposal);
    round.decision = decision;
    round.score = std::exp(baseline_cost() - cost.value_or(best_));
    round.seconds = 2;
    rounds_.push_back(std::move(round));
    agent_->learn(rounds_.back());
  }
  double baseline_cost() const { return cost_(toy_space().naive).value_or(0); }

  Agent* agent_;
  Cost cost_;
  Problem problem_;
  TargetFacts target_;
  std::vector<RoundRecord> rounds_;
  std::size_t incumbent_ = 0;
  double best_ = 0;
  Schedule best_schedule_;
};

}  // namespace ako::testing
