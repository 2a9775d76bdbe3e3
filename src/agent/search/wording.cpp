// SPDX-License-Identifier: Apache-2.0
#include "agent/search/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "agent/search/lore.h"

namespace ako {
namespace {

std::string listed(const std::vector<std::string>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i)
    text += (i == 0 ? "" : i + 1 == values.size() ? " or " : ", ") + values[i];
  return text;
}

Direction direction_of(const KnobChange& change) {
  const auto& values = change.knob->values;
  auto place = [&](const std::string& value) { return std::ranges::find(values, value) - values.begin(); };
  bool up = false, down = false;
  for (const std::string& value : change.to) (place(value) > place(change.from) ? up : down) = true;
  return up == down ? Direction::either : up ? Direction::raise : Direction::lower;
}

/// The lore for this change, unfilled; empty: there is none.
std::string_view theory_of(const KnobChange& change) {
  if (change.to.size() == 1)
    if (auto reason = lore_of_value(change.knob->name, change.to.front()); !reason.empty()) return reason;
  return lore_of_size(change.knob->name, change.to.size() == 1 ? direction_of(change) : Direction::either);
}

std::string capitalized(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string fallback_text(const KnobChange& change) {
  const Knob& knob = *change.knob;
  std::string meaning = knob.meaning.empty() ? "" : fmt::format(" ({})", knob.meaning);
  std::string works_on = knob.relieves.empty() ? "" : fmt::format(" It works on {}.", knob.relieves);
  return fmt::format("{}{} is at {}, and {} may suit this machine better.{}", capitalized(knob.name), meaning,
                     change.from, listed(change.to), works_on);
}

}  // namespace

double prior_gain(const Knob& knob) {
  if (double prior = lore_prior(knob.name); prior > 0) return prior;
  return knob.structural ? 0.15 : 0.06;
}

Bucket bucket_of(const Knob& knob) { return knob.name == "operands" ? Bucket::k2_layout : Bucket::k1_kernel; }

std::string change_text(const KnobChange& change) {
  return fmt::format("{}: {} → {}", change.knob->name, change.from, listed(change.to));
}

std::string hypothesis_text(const KnobChange& change, const Bottleneck& bottleneck,
                            const TargetFacts& target) {
  std::string_view theory = theory_of(change);
  std::string text =
      theory.empty() ? fallback_text(change)
                     : fmt::format(fmt::runtime(theory), fmt::arg("from", change.from),
                                   fmt::arg("to", listed(change.to)), fmt::arg("cores", target.compute_units),
                                   fmt::arg("bits", target.vector_bits));
  std::string limits = bottleneck_text(bottleneck);
  return limits.empty() ? text : text + " " + limits;
}

std::string signal_text(const Knob& knob, double expected_gain) {
  std::string watch = knob.relieves == "memory"    ? "the share of the memory roof rises"
                      : knob.relieves == "compute" ? "the share of the compute roof rises"
                                                   : "the time falls on the small shapes first";
  return fmt::format("time falls by about {}; {}", percent(expected_gain), watch);
}

std::string bottleneck_text(const Bottleneck& bottleneck) {
  if (bottleneck.efficiency <= 0) return {};
  if (bottleneck.kind == "memory" || bottleneck.kind == "compute")
    return fmt::format("The kernel now reaches {} of the {} roof.", percent(bottleneck.efficiency),
                       bottleneck.kind);
  return fmt::format("The kernel now reaches {} of its roof.", percent(bottleneck.efficiency));
}

std::string machine_text(const TargetFacts& target) {
  if (target.id != "host") return fmt::format("{} compute units", target.compute_units);
  std::string text = fmt::format("{} {}", target.compute_units, target.compute_units == 1 ? "core" : "cores");
  if (target.vector_bits > 0) text += fmt::format(", {}-bit SIMD", target.vector_bits);
  for (auto cache = target.caches.rbegin(); cache != target.caches.rend(); ++cache)
    return text + fmt::format(", {} of last-level cache", to_text(cache->size));
  return text;
}

std::string percent(double fraction) {
  double value = 100 * fraction;
  return std::abs(value) < 10 ? fmt::format("{:.1f} %", value) : fmt::format("{:.0f} %", value);
}

}  // namespace ako
