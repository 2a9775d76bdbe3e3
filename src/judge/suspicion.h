// SPDX-License-Identifier: Apache-2.0
// Measured times that no honest kernel has. Pure functions of the samples; limits are wide on purpose: an
// honest kernel must never trip them, and what they cannot see is prevented elsewhere (docs/judge.md).
#pragma once

#include <optional>
#include <span>

#include "judge/verdict.h"
#include "problem/problem.h"
#include "target/facts.h"

namespace ako {

/// The least time this shape can take here, with generous allowance; 0 when nothing is known for sure. Memory
/// counts only where the data cannot stay in the last-level cache and all of it is needed; arithmetic only
/// for plain contractions (elsewhere fewer operations than written down are a fair trick: prefix sums,
/// Winograd).
Microseconds floor_of(const Problem&, const Shape&, const TargetFacts&);

/// Rejected when the median is below the floor.
std::optional<Rejected> below_roofline(const Problem&, const Shape&, const TargetFacts&, double median_us);

/// Launches of one batch that overlap or are reordered show as a single launch that takes much longer than
/// its share of a batch, T(1) - overhead > t(n), beyond what waking up costs and beyond what the incumbent
/// shows as well. What exceeds the number of cores is no overlap and proves nothing.
struct AffineSamples {
  std::span<const double> single_us;  // batches of one launch, overhead subtracted
  double per_launch_us = 0;           // median of batches of `launches`
};
std::optional<Rejected> batch_overlap(const AffineSamples& candidate, const AffineSamples& incumbent,
                                      int launches, int cores);

}  // namespace ako
