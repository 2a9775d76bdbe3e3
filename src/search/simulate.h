// SPDX-License-Identifier: Apache-2.0
// Simulated tuning: how near an optimizer comes to a recorded space's optimum with how many evaluations.
#pragma once

#include <array>

#include "search/recorded_space.h"

namespace ako {

constexpr std::array<int, 3> kTuningBudgets{50, 100, 200};  // unique evaluations, failed ones counted

/// One run: optimum / best found after each of kTuningBudgets; 0 while everything failed.
using Fractions = std::array<double, kTuningBudgets.size()>;
Fractions simulate_run(const RecordedSpace&, const NamedOptimizer&, std::uint64_t seed);

struct TuningScore {
  std::string space, optimizer;
  Fractions mean{}, tenth_percentile{};  // over seeds
  double seconds = 0;                    // of the optimizer, per run
};
/// Seeds 1 … seeds, spread over `threads`; the result does not depend on their number.
TuningScore simulate(const RecordedSpace&, const NamedOptimizer&, int seeds, int threads);

}  // namespace ako
