// SPDX-License-Identifier: Apache-2.0
#include "campaign/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace ako {
namespace {

double average_round(const CampaignRecord& record) {
  double sum = 0;
  int count = 0;
  for (const RoundRecord& round : record.rounds)
    if (round.number > 1) sum += round.seconds, ++count;
  return count ? sum / count : 0;
}

}  // namespace

double reserved_seconds(const CampaignRecord& record) {
  double budget = record.manifest.budget_seconds;
  double baseline = record.rounds.empty() ? 0 : record.rounds.front().seconds;
  return std::clamp(1.2 * baseline + 2, std::min(3.0, 0.2 * budget), 0.3 * budget);
}

Budget budget_left(const CampaignRecord& record, double spent) {
  Budget left;
  double budget = record.manifest.budget_seconds;
  left.seconds_left = budget > 0 ? std::max(0.0, budget - spent - reserved_seconds(record))
                                 : std::numeric_limits<double>::infinity();
  int rounds = static_cast<int>(record.rounds.size());
  left.rounds_left = record.manifest.max_iterations > 0 ? std::max(0, record.manifest.max_iterations - rounds)
                                                        : std::numeric_limits<int>::max();
  return left;
}

Seconds decide_seconds(const Budget& left) {
  return Seconds(std::clamp(0.15 * left.seconds_left, 1.5, 20.0));
}
Seconds screen_seconds(const Budget& left) { return Seconds(std::clamp(0.03 * left.seconds_left, 0.4, 3.0)); }

std::string reason_to_end(const CampaignRecord& record, const Achieved& best, double spent) {
  const Manifest& manifest = record.manifest;
  if (!manifest.performance_target.empty())
    if (auto target = parse_performance_target(manifest.performance_target); target && reaches(best, *target))
      return fmt::format("T1 target reached: {}", manifest.performance_target);
  if (manifest.target_efficiency > 0 && best.efficiency >= manifest.target_efficiency)
    return fmt::format("T2 acceptable hardware efficiency: {:.0f} % of the roofline, {:.0f} % were asked for",
                       100 * best.efficiency, 100 * manifest.target_efficiency);
  Budget left = budget_left(record, spent);
  if (left.rounds_left == 0) return fmt::format("T3 max_iterations: {} rounds", manifest.max_iterations);
  // A round that cannot be half done in what is left would only eat into the final verification.
  if (left.seconds_left <= 0.5 * average_round(record))
    return fmt::format("budget of {:g} s spent", manifest.budget_seconds);
  return {};
}

}  // namespace ako
