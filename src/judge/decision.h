// SPDX-License-Identifier: Apache-2.0
// Is the candidate faster? Robust, paired, sequential. The theory is at the head of decision.cpp; evidence:
// bench/decision.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "judge/verdict.h"

namespace ako {

/// One ABBA (or BAAB) block on one shape: log of (candidate time / incumbent time), from its four batches.
struct Block {
  double log_ratio = 0;
  bool disturbed =
      false;  // steal time, faults or switches beyond the usual, judged without knowing which side was slow
};

struct DecisionRule {
  double alpha = 0.01;     // one-sided, over the whole sequence of looks
  double noise = 0.01;     // δ: at least 1 %, or the device's own 99th percentile of A/A
  double agreement = 0.8;  // fraction of blocks that must have the aggregate's sign
  int minimum_blocks = 8;
  int maximum_blocks = 60;
  double regression = 0.05;  // of a core shape
};

/// Hodges–Lehmann location with a distribution-free (signed-rank) interval at two-sided level 2·alpha.
struct Location {
  double center = 0;
  Interval interval;
};
Location hodges_lehmann(std::span<const double> values, double alpha_one_sided);
Interval median_interval(std::span<const double> values, double confidence);
double median(std::span<const double> values);

/// The numbers of rounds at which "faster" may be said, ascending, and the one-sided level spent at each.
std::vector<int> planned_looks(const DecisionRule&);
double level_of_look(const DecisionRule&, std::size_t look);

/// The sequential rule over the shapes of one level. Feed it rounds of blocks (one block per shape a round).
class Sequential {
 public:
  Sequential(DecisionRule rule, std::size_t shapes);
  void add(std::size_t shape, Block block);
  /// nullopt: more blocks are wanted.
  std::optional<Clarity> decide() const;
  Comparison comparison() const;  // clarity: decide(), or ambiguous
  Location location(std::size_t shape) const;
  int rounds() const;  // blocks that every shape has

 private:
  std::vector<double> series() const;
  double current_level() const;

  DecisionRule rule_;
  std::vector<std::vector<double>> ratios_;
};

}  // namespace ako
