// SPDX-License-Identifier: Apache-2.0
#include "campaign/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "campaign/engine.h"
#include "judge/decision.h"

namespace ako {
namespace {

double average_round(const CampaignRecord& record) {
  double sum = 0;
  int count = 0;
  for (const RoundRecord& round : record.rounds)
    if (round.number > 1) sum += round.seconds, ++count;
  return count ? sum / count : 0;
}

/// A block is four batches (A B B A). Batches grow with the faster of the two kernels, inputs are made anew
/// and caches flushed in between: on a busy 2-core machine a block took three to five times its kernels' own
/// time.
double block_seconds(const Verdict& incumbent, Level level) {
  double batches_us = 0;
  for (const ShapeTiming& timing : incumbent.timings)
    if (level == Level::full || timing.representative)
      batches_us += timing.candidate_median_us * timing.launches_per_batch;
  return 4 * 4 * batches_us * 1e-6;
}

constexpr double share_of_a_comparison = 0.15;  // of what is left
/// Clear answers come early whatever the limit; a limit too short only makes them ambiguous.
constexpr double shortest_comparison = 6, longest_comparison = 20;

Seconds at_least_minimum(double wanted, const Verdict& incumbent, Level level) {
  double least = block_seconds(incumbent, level) * DecisionRule().minimum_blocks;
  return Seconds(std::clamp(std::max(wanted, least), shortest_comparison, longest_comparison));
}

/// The latest verdict of a kind that says what such a judgement takes.
const Verdict& latest(const CampaignRecord& record, Level level) {
  const Verdict* found = &record.rounds.front().verdict;
  for (const RoundRecord& round : record.rounds) {
    if (level == Level::full && round.confirmation) found = &*round.confirmation;
    if (level == Level::quick && round.number > 1 && round.verdict.against_incumbent) found = &round.verdict;
  }
  return *found;
}

bool only_representative(const Verdict& verdict) {
  return std::ranges::all_of(verdict.timings, &ShapeTiming::representative);
}

/// Compiling and checking: what a judgement takes whatever its timing is given.
double fixed_seconds(const CampaignRecord& record, Level level) {
  if (record.rounds.empty()) return 0;
  const Verdict& verdict = latest(record, level);
  const Spent& spent = verdict.spent;
  double measured = std::max(0.0, spent.total_s - spent.time_s);
  if (level == Level::quick || !only_representative(verdict)) return measured;
  double more = (record.full_over_quick - 1) * (spent.check_s + spent.reference_s);
  // A guess from small shapes, where constant costs weigh most: it may not take the timing's part.
  return measured + std::min(more, 0.1 * record.manifest.budget_seconds);
}

/// Of a final verification with the fewest blocks that give an interval.
double final_estimate(const CampaignRecord& record) {
  if (record.rounds.empty()) return 0;
  double blocks = block_seconds(record.rounds.front().verdict, Level::full) * DecisionRule().minimum_blocks;
  const Verdict& confirmed = latest(record, Level::full);
  double before = confirmed.against_incumbent ? confirmed.spent.time_s : 0;
  return fixed_seconds(record, Level::full) + 1.3 * std::max(blocks, before);  // a busier minute may come
}

constexpr double grace = 2;  // a budget is held to within these seconds and what a cancel takes
constexpr double shortest_timing = 1;

/// Compiling the call, checking and timing it; at most a tenth of the budget.
double library_reserve(const CampaignRecord& record) {
  if (!record.library_applies || record.rounds.empty()) return 0;
  return std::min(fixed_seconds(record, Level::full) + library_seconds(record.manifest).count(),
                  0.1 * record.manifest.budget_seconds);
}

Limits limits_until(double left, double fixed) {
  return {Seconds(std::max(left - fixed, shortest_timing)), Seconds(std::max(left, shortest_timing) + 0.5)};
}

}  // namespace

double reserved_seconds(const CampaignRecord& record) {
  const RoundRecord* best = best_round(record);
  double library = library_reserve(record);
  if (!best || best->number == 1) return library;
  return std::min(final_estimate(record) + 1, 0.5 * record.manifest.budget_seconds) + library;
}

Limits round_limits(const CampaignRecord& record, double spent, Level level) {
  double budget = record.manifest.budget_seconds;
  if (budget <= 0 || record.rounds.empty()) return {};
  double reserved = reserved_seconds(record);
  // Without a reserve nothing comes after this round: it may use the grace.
  double left = budget - spent - reserved + (reserved > 0 ? 0 : grace);
  return limits_until(left, fixed_seconds(record, level));
}

Limits final_limits(const CampaignRecord& record, double spent) {
  double budget = record.manifest.budget_seconds;
  if (budget <= 0) return {};
  // A limit that rounds count may have ended far from the budget; a budget may have been spent by one long
  // round. What cannot be done at all in the time left gets its fixed part and a second of timing even so.
  double fixed = fixed_seconds(record, Level::full);
  double left = budget - spent - library_reserve(record);
  return limits_until(std::max(left + grace, fixed + grace), fixed);
}

std::optional<Limits> library_limits(const CampaignRecord& record, double spent) {
  double budget = record.manifest.budget_seconds;
  if (budget <= 0) return Limits{};
  double left = budget - spent + grace;
  if (left < 2 * shortest_timing) return std::nullopt;
  // The library is checked faster than any kernel of which the estimate is: half of what is left is timed.
  return limits_until(left, std::min(fixed_seconds(record, Level::full), 0.5 * left));
}

bool confirmation_suffices(const CampaignRecord& record, const RoundRecord& best, double spent) {
  double budget = record.manifest.budget_seconds;
  if (budget <= 0 || best.parent != 1 || !best.confirmation || !best.confirmation->correct()) return false;
  return budget - spent < 0.7 * final_estimate(record);
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

Seconds comparison_seconds(const Budget& left, const Verdict& incumbent, Level level) {
  return at_least_minimum(share_of_a_comparison * left.seconds_left, incumbent, level);
}
bool quick_baseline_suffices(const CampaignRecord& record, const Verdict& quick) {
  constexpr double share = 0.15;
  const Manifest& manifest = record.manifest;
  if (!manifest.performance_target.empty() || manifest.target_efficiency > 0) return false;
  return quick.spent.total_s * record.full_over_quick > share * manifest.budget_seconds;
}
Seconds baseline_seconds(const Manifest& manifest) {
  double budget = manifest.budget_seconds;
  return Seconds(budget > 0 ? std::clamp(0.05 * budget, 0.5, longest_comparison) : longest_comparison);
}
Seconds library_seconds(const Manifest& manifest) {
  constexpr double longest = 10;
  double budget = manifest.budget_seconds;
  return Seconds(budget > 0 ? std::clamp(0.05 * budget, shortest_timing, longest) : longest);
}
Seconds final_seconds(const CampaignRecord&) {
  // The headline must carry an interval, and that takes eight rounds. Timing ends as soon as the answer is
  // clear, so that a generous limit costs nothing.
  return Seconds(longest_comparison);
}
Seconds screen_seconds(const Budget& left, const Verdict& incumbent) {
  constexpr int blocks = 3;
  double least = block_seconds(incumbent, Level::quick) * blocks;
  return Seconds(std::clamp(0.03 * left.seconds_left, std::clamp(least, 0.5, 4.0), 4.0));
}

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
