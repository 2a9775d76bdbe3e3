// SPDX-License-Identifier: Apache-2.0
#include "profile/bottleneck.h"

#include <fmt/format.h>

#include <cmath>

#include "problem/cost.h"

namespace ako {
namespace {

constexpr double near_the_roof = 0.5;
constexpr double far_below = 0.2;

/// One shape's figures, by its roofline.
struct Standing {
  const MeasuredShape* measured = nullptr;
  Cost cost;
  Roofline roof;
  double efficiency = 0;
};

std::vector<Standing> standings(const Problem& problem, const TargetFacts& facts,
                                std::span<const MeasuredShape> shapes) {
  ScalarType type = arithmetic_type(problem);
  std::vector<Standing> out;
  for (const MeasuredShape& measured : shapes) {
    if (!measured.shape || measured.duration_us <= 0) continue;
    Standing standing{&measured, cost_of(problem, *measured.shape), {}, 0};
    standing.roof = roofline(standing.cost, facts, type);
    if (standing.roof.bound == "unknown" || standing.roof.duration.count() <= 0) continue;
    standing.efficiency = standing.roof.duration.count() / measured.duration_us;
    out.push_back(standing);
  }
  return out;
}

std::string figures(const Standing& standing) {
  double seconds = standing.measured->duration_us * 1e-6;
  return fmt::format("{} takes {}: {:.1f} GB/s and {:.1f} GFLOP/s, where the {} roof allows {}",
                     standing.measured->shape->label, to_text(Microseconds(standing.measured->duration_us)),
                     static_cast<double>(standing.cost.compulsory.count) / seconds * 1e-9,
                     standing.cost.flops / seconds * 1e-9, standing.roof.bound,
                     to_text(standing.roof.duration));
}

}  // namespace

Bottleneck classify(const Problem& problem, const TargetFacts& facts, std::span<const MeasuredShape> shapes) {
  std::vector<Standing> all = standings(problem, facts, shapes);
  if (all.empty()) return {"unknown", 0, "the device was never measured, or nothing was timed"};
  double log_sum = 0;
  for (const Standing& standing : all) log_sum += std::log(standing.efficiency);
  double efficiency = std::exp(log_sum / static_cast<double>(all.size()));

  // The shape that takes longest says most: small ones are dominated by what they cannot change.
  const Standing& largest = *std::max_element(
      all.begin(), all.end(),
      [](const Standing& a, const Standing& b) { return a.measured->duration_us < b.measured->duration_us; });
  std::string evidence = figures(largest);
  double share = std::round(100 * largest.efficiency);
  if (largest.measured->overhead_us >= largest.measured->duration_us)
    return {"launch", efficiency,
            fmt::format("{}; starting it costs {}, as much as running it", evidence,
                        to_text(Microseconds(largest.measured->overhead_us)))};
  if (largest.efficiency >= near_the_roof)
    return {largest.roof.bound, efficiency, fmt::format("{}: {} % of that roof is reached", evidence, share)};
  if (largest.efficiency >= far_below)
    return {largest.roof.bound, efficiency,
            fmt::format("{}: only {} % of it is reached, so the work is not yet spread well over the machine",
                        evidence, share)};
  return {"latency", efficiency,
          fmt::format("{}: {} % of it is reached, so neither roof is what it waits for", evidence, share)};
}

}  // namespace ako
