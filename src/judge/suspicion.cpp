// SPDX-License-Identifier: Apache-2.0
#include "judge/suspicion.h"

#include <fmt/format.h>

#include <algorithm>

#include "judge/decision.h"
#include "problem/cost.h"

namespace ako {
namespace {

constexpr double kBandwidthAllowance = 1.5, kPeakAllowance = 1.2;
// Waking a team of threads that slept, first touches, cold branch predictors: up to this much per batch is
// honest.
constexpr double kWakeUp_us = 250;
constexpr double kOverlapRatio = 1.6;
// Overlapping launches gain the number of cores at most. A launch that takes far longer alone than that
// explains was held up by something else: a busy machine is no evidence against anyone.
constexpr double kBeyondCores = 1.25;
constexpr std::size_t kSinglesNeeded = 4;

bool needs_all_its_bytes(Pattern pattern) {
  return pattern == Pattern::elementwise || pattern == Pattern::row_reduction ||
         pattern == Pattern::contraction || pattern == Pattern::attention;
}

double memory_floor_us(const Cost& cost, Pattern pattern, const TargetFacts& facts) {
  double fastest = std::max(facts.fact("copy_bandwidth_bytes_per_s").value_or(0),
                            facts.fact("read_bandwidth_bytes_per_s").value_or(0));
  bool cached =
      facts.last_level_cache().count <= 0 || cost.compulsory.count <= 2 * facts.last_level_cache().count;
  if (fastest <= 0 || cached || !needs_all_its_bytes(pattern)) return 0;
  return 1e6 * static_cast<double>(cost.compulsory.count) / (kBandwidthAllowance * fastest);
}

double compute_floor_us(const Problem& problem, const Cost& cost, Pattern pattern, const TargetFacts& facts) {
  if (pattern != Pattern::contraction) return 0;
  auto type = arithmetic_type(problem);
  double peak = facts.fact(fmt::format("peak_flops_{}", name_of(type))).value_or(0);
  return peak > 0 ? 1e6 * cost.contraction_flops / (kPeakAllowance * peak) : 0;
}

}  // namespace

Microseconds floor_of(const Problem& problem, const Shape& shape, const TargetFacts& facts) {
  auto cost = cost_of(problem, shape);
  auto pattern = pattern_of(problem);
  return Microseconds(
      std::max(memory_floor_us(cost, pattern, facts), compute_floor_us(problem, cost, pattern, facts)));
}

std::optional<Rejected> below_roofline(const Problem& problem, const Shape& shape, const TargetFacts& facts,
                                       double median_us) {
  auto floor = floor_of(problem, shape, facts);
  if (median_us >= floor.count()) return std::nullopt;
  return Rejected{
      "below-roofline",
      fmt::format(
          "{} took {} on {}, but this machine cannot do the work in less than {}: something was skipped",
          problem.name, to_text(Microseconds(median_us)), shape.label, to_text(floor)),
      ""};
}

std::optional<Rejected> batch_overlap(const AffineSamples& candidate, const AffineSamples& incumbent,
                                      int launches, int cores) {
  if (launches < 2 || cores < 2 || candidate.single_us.size() < kSinglesNeeded ||
      candidate.per_launch_us <= 0)
    return std::nullopt;
  double single = median(candidate.single_us);
  double usual = incumbent.per_launch_us > 0 && !incumbent.single_us.empty()
                     ? std::max(1.0, median(incumbent.single_us) / incumbent.per_launch_us)
                     : 1.0;
  if (single <= kOverlapRatio * usual * candidate.per_launch_us + kWakeUp_us) return std::nullopt;
  // The shortest single launch must agree: interruptions only lengthen.
  double shortest = *std::min_element(candidate.single_us.begin(), candidate.single_us.end());
  if (shortest <= kOverlapRatio * candidate.per_launch_us + kWakeUp_us) return std::nullopt;
  double most = kBeyondCores * std::min(cores, launches) * candidate.per_launch_us + kWakeUp_us;
  if (single > most || *std::max_element(candidate.single_us.begin(), candidate.single_us.end()) > 2 * most)
    return std::nullopt;
  return Rejected{
      "batch-overlap",
      fmt::format("a launch takes {} alone but {} in a batch of {}: launches of a batch overlap",
                  to_text(Microseconds(single)), to_text(Microseconds(candidate.per_launch_us)), launches),
      ""};
}

}  // namespace ako
