// SPDX-License-Identifier: Apache-2.0
#include "campaign/ruling.h"

#include <fmt/format.h>

#include <cmath>

namespace ako {
namespace {

std::string percent_slower(double log_ratio) { return fmt::format("{:.1f} %", 100 * std::expm1(log_ratio)); }

/// Why a comparison is no acceptance, a sentence; empty: it is one.
std::string objection(const Comparison& comparison) {
  if (comparison.core_regressed)
    return fmt::format("the core shape {} is {} slower", comparison.worst_shape,
                       percent_slower(comparison.worst_log_ratio));
  std::string measured = fmt::format("measured {}, {} blocks", speedup_text(comparison), comparison.blocks);
  switch (comparison.clarity) {
    case Clarity::faster:
      return {};
    case Clarity::slower:
      return fmt::format("it is slower: {}", measured);
    case Clarity::same:
      return fmt::format("it makes no difference beyond the noise of {:.1f} %: {}", 100 * comparison.noise,
                         measured);
    case Clarity::ambiguous:
      return fmt::format("too volatile or too close to call: {}", measured);
  }
  return "no clear answer";
}

std::string objection(const Verdict& verdict) {
  if (!verdict.correct()) return to_text(verdict.outcome);
  if (!verdict.against_incumbent) return "it was not compared with the incumbent";
  return objection(*verdict.against_incumbent);
}

/// Shapes that are slower with confidence: "T=8,D=64 by 2.1 %".
std::string regressions(const Verdict& verdict) {
  std::string text;
  for (const ShapeTiming& timing : verdict.timings)
    if (!timing.incumbent_us.empty() && timing.log_ratio_interval.low > 0)
      text +=
          fmt::format("{}{} by {}", text.empty() ? "" : ", ", timing.shape, percent_slower(timing.log_ratio));
  return text;
}

}  // namespace

std::optional<double> log_ratio_of(const Verdict& verdict) {
  if (verdict.against_incumbent) return verdict.against_incumbent->log_ratio;
  double sum = 0;
  int count = 0;
  for (const ShapeTiming& timing : verdict.timings)
    if (!timing.incumbent_us.empty()) sum += timing.log_ratio, ++count;
  if (count == 0) return std::nullopt;
  return sum / count;
}

const Verdict& widest_verdict(const RoundRecord& round) {
  return round.confirmation && round.confirmation->correct() ? *round.confirmation : round.verdict;
}

std::string speedup_text(const Comparison& comparison) {
  // A few blocks bound nothing: the interval's ends are then infinite.
  if (!std::isfinite(comparison.bound.low) || !std::isfinite(comparison.bound.high))
    return fmt::format("{:.3f}× (too few blocks for an interval)", std::exp(-comparison.log_ratio));
  return fmt::format("{:.3f}× ({:.3f}–{:.3f}×)", std::exp(-comparison.log_ratio),
                     std::exp(-comparison.bound.high), std::exp(-comparison.bound.low));
}

bool deserves_confirmation(const Verdict& decided) { return objection(decided).empty(); }

bool conclusive(const RoundRecord& round) {
  if (round.decision != RoundDecision::rolled_back) return true;
  const Verdict& last = round.confirmation ? *round.confirmation : round.verdict;
  if (std::holds_alternative<Rejected>(last.outcome)) return last.spent.total_s > 0;
  if (!last.correct()) return true;
  if (!last.against_incumbent) return false;
  const Comparison& comparison = *last.against_incumbent;
  return comparison.core_regressed || comparison.clarity == Clarity::slower ||
         comparison.clarity == Clarity::same;
}

Ruling rule(const Verdict& decided, const std::optional<Verdict>& confirmation) {
  if (std::string why = objection(decided); !why.empty()) return {RoundDecision::rolled_back, why};
  if (!confirmation)
    return {RoundDecision::rolled_back, "faster, but not confirmed: the confirmation was not made"};
  if (std::string why = objection(*confirmation); !why.empty())
    return {RoundDecision::rolled_back,
            fmt::format("faster at first ({}), but not when repeated in fresh processes over all shapes: {}",
                        speedup_text(*decided.against_incumbent), why)};
  std::string gain = fmt::format("{} faster than the incumbent, confirmed in fresh processes over all shapes",
                                 speedup_text(*confirmation->against_incumbent));
  if (std::string slower = regressions(*confirmation); !slower.empty())
    return {RoundDecision::accepted_trade_off, fmt::format("{}; slower on {}", gain, slower)};
  return {RoundDecision::accepted, gain};
}

}  // namespace ako
