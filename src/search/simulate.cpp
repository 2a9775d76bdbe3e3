// SPDX-License-Identifier: Apache-2.0
#include "search/simulate.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <numeric>
#include <thread>

namespace ako {

Fractions simulate_run(const RecordedSpace& recorded, const NamedOptimizer& named, std::uint64_t seed) {
  auto optimizer = named.make(recorded.space, seed);
  Fractions fractions{};
  double best = std::numeric_limits<double>::infinity();
  std::size_t stage = 0;
  for (int evaluations = 1; stage < kTuningBudgets.size(); ++evaluations) {
    if (auto point = optimizer->ask()) {
      auto cost = recorded.costs.at(*point);
      optimizer->tell(*point, cost);
      best = std::min(best, cost.value_or(best));
    }
    while (stage < kTuningBudgets.size() && evaluations >= kTuningBudgets[stage])
      fractions[stage++] = recorded.optimum / best;
  }
  return fractions;
}

TuningScore simulate(const RecordedSpace& recorded, const NamedOptimizer& named, int seeds, int threads) {
  std::vector<Fractions> runs(static_cast<std::size_t>(seeds));
  std::vector<double> seconds(runs.size());
  std::atomic<std::size_t> next = 0;
  auto work = [&] {
    for (std::size_t i; (i = next++) < runs.size();) {
      auto start = std::chrono::steady_clock::now();
      runs[i] = simulate_run(recorded, named, i + 1);
      seconds[i] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
  };
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < threads; ++i) workers.emplace_back(work);
  }
  TuningScore score{recorded.name, named.name, {}, {}, 0};
  for (std::size_t budget = 0; budget < kTuningBudgets.size(); ++budget) {
    std::vector<double> values;
    for (const Fractions& run : runs) values.push_back(run[budget]);
    std::ranges::sort(values);
    score.mean[budget] =
        std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    score.tenth_percentile[budget] = values[values.size() / 10];
  }
  for (double s : seconds) score.seconds += s / static_cast<double>(seconds.size());
  return score;
}

}  // namespace ako
