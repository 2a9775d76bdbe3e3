// SPDX-License-Identifier: Apache-2.0
// What the search agent knows from closed rounds: every schedule that was measured, and what it cost.
#pragma once

#include <map>
#include <set>
#include <span>

#include "agent/agent.h"

namespace ako {

/// Costs are natural logarithms of time relative to the baseline's, chained over accepted rounds.
struct Trial {
  Schedule schedule;
  std::optional<double> log_cost;  // nullopt: it did not compile, was wrong, crashed …
  int round = 0;
};

/// Time of a round that judges so many variants, in rounds of one: variants are only screened, and share the
/// problem's inputs and the incumbent's runs; the winner alone is decided on.
constexpr double rounds_worth(std::size_t variants) { return 0.7 + 0.3 * static_cast<double>(variants); }

/// The schedules of a proposal travel in its tag, one a line, in the order of its sweep.
std::string tag_of(std::span<const Schedule> schedules);
std::vector<Schedule> schedules_of_tag(std::string_view tag);

class Memory {
 public:
  /// Told twice of a round, it learns once.
  void learn(const RoundRecord&);

  std::span<const Trial> trials() const { return trials_; }
  bool tried(const Schedule& schedule) const { return tried_.contains(schedule); }
  bool tried(const Hash& candidate) const { return candidates_.contains(candidate); }
  /// The schedule that a round stands for: the winner's. nullopt: the round is unknown, or its tag was not
  /// ours.
  std::optional<Schedule> schedule_of(int round) const;
  double log_cost_of(int round) const;
  int rollbacks_in_a_row() const { return rollbacks_; }
  int rounds() const { return static_cast<int>(rounds_.size()); }
  /// Wall time of a round of one variant, the median of all; `otherwise` before the first.
  double seconds_per_round(double otherwise) const;

 private:
  struct Closed {
    std::optional<Schedule> schedule;
    double log_cost = 0;
  };
  void learn_sweep(const RoundRecord&, std::span<const Schedule>, double parent_cost);
  void add(const Schedule&, const Hash& candidate, std::optional<double> log_cost, int round);

  std::map<int, Closed> rounds_;
  std::vector<Trial> trials_;
  std::set<Schedule> tried_;
  std::set<Hash> candidates_;
  std::vector<double> seconds_;
  int rollbacks_ = 0;
};

}  // namespace ako
