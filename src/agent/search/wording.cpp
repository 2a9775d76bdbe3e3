// SPDX-License-Identifier: Apache-2.0
#include "agent/search/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace ako {
namespace {

/// `raise` is said when the knob goes up its list of values, `lower` when it goes down. {from}, {to}, {cores}
/// and {bits} are filled in.
struct Lore {
  std::string_view knob;
  double prior;
  std::string_view raise, lower;
};

constexpr Lore kLore[] = {
    {"threads", 0.6,
     "The loop over independent rows runs on {from} of {cores} cores; {to} threads multiply the arithmetic "
     "and draw "
     "more of the memory's bandwidth.",
     "Starting and joining {from} threads costs more than they save on work this short; {to} avoid that."},
    {"vector", 0.6,
     "The innermost loop keeps {from} lanes busy where a {bits}-bit register holds more; {to} lanes do the "
     "same work "
     "in fewer instructions.",
     "Vectors of {from} lanes leave remainders and hold more registers than the loop can use; {to} lanes fit "
     "better."},
    {"passes", 0.3,
     "The algorithm streams each row several times; {to} instead of {from} reads it less often.",
     "Keeping intermediate results costs stores and reloads; {to} instead of {from} recomputes them in "
     "registers."},
    {"exp", 0.5,
     "The exponential dominates the arithmetic, one library call per element; {to} evaluates it on whole "
     "vectors.",
     "Evaluating the exponential as {to} instead of {from} changes its cost per element."},
    {"math", 0.5,
     "Elementary functions dominate the arithmetic, one library call per element; {to} evaluates them on "
     "whole "
     "vectors.",
     "Evaluating elementary functions as {to} instead of {from} changes their cost per element."},
    {"accumulators", 0.2,
     "A reduction into {from} accumulator(s) waits for the latency of each addition; {to} independent ones "
     "overlap "
     "it.",
     "{from} accumulators spill or lengthen the tail of short rows; {to} keep the reduction in registers."},
    {"unroll", 0.1,
     "With {to} instead of {from} iterations in flight, loop overhead shrinks and latencies overlap.",
     "A body unrolled {from} times strains registers and the instruction cache; {to} is leaner."},
    {"streaming", 0.2,
     "Ordinary stores first read the lines they overwrite; streaming stores ({to}) skip that read and leave "
     "the cache "
     "to the inputs.",
     "Streaming stores send to memory what the next reader could find in cache; ordinary stores ({to}) keep "
     "it there."},
    {"prefetch", 0.08,
     "The hardware prefetcher restarts on every row; fetching {to} ahead hides the first misses.",
     "Software prefetches compete for load slots; fewer ({to}) may cost less than they hide."},
    {"pack", 0.3, "Operands are read with large strides; packed panels ({to}) make every load contiguous.",
     "Packing moves data that the caches already hold; reading operands in place ({to}) saves that pass."},
    {"order",
     0.3,
     "Another loop order ({to} instead of {from}) changes which operand streams and which stays in cache.",
     {}},
    {"dot",
     0.4,
     "The processor multiplies pairs of narrow numbers into one wide sum; {to} uses that instead of {from}.",
     {}},
    {"fuse", 0.3, "Fused statements ({to}) keep intermediate values in registers instead of memory.",
     "Separate loops ({to}) need fewer registers each than the fused one."},
    {"reciprocal",
     0.05,
     "Divisions have a fraction of the throughput of multiplications; {to} instead of {from} "
     "divides once per row.",
     {}},
    {"split",
     0.1,
     "Dividing the work along {to} instead of {from} balances the cores and changes what they share.",
     {}},
    {"tile", 0.15,
     "A tile of {to} instead of {from} reuses each loaded value more often before it leaves the cache.",
     "A tile of {from} overflows the registers or the cache level it was meant for; {to} fits."},
};

/// Knobs are found by their whole name, or by a first word: "tile_m" → "tile", "exp_impl" → "exp".
const Lore* lore_of(const std::string& knob) {
  const Lore* best = nullptr;
  for (const Lore& lore : kLore)
    if (knob == lore.knob ||
        (knob.starts_with(lore.knob) && knob.size() > lore.knob.size() && knob[lore.knob.size()] == '_'))
      if (!best || lore.knob.size() > best->knob.size()) best = &lore;
  return best;
}

std::string listed(const std::vector<std::string>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i)
    text += (i == 0 ? "" : i + 1 == values.size() ? " or " : ", ") + values[i];
  return text;
}

/// +1: all new values are further along the knob's list, -1: all are before, 0: on both sides.
int direction_of(const KnobChange& change) {
  const auto& values = change.knob->values;
  auto place = [&](const std::string& value) { return std::ranges::find(values, value) - values.begin(); };
  bool up = false, down = false;
  for (const std::string& value : change.to) (place(value) > place(change.from) ? up : down) = true;
  return up == down ? 0 : up ? 1 : -1;
}

std::string sentence_from(const Knob& knob) {
  std::string text = knob.meaning.empty() ? fmt::format("the knob {}", knob.name) : knob.meaning;
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string fallback_text(const KnobChange& change) {
  std::string works_on =
      change.knob->relieves.empty() ? "" : fmt::format(", which works on {},", change.knob->relieves);
  if (change.to.size() > 1)
    return fmt::format("{}{} is at {}; one of {} may suit this machine better.", sentence_from(*change.knob),
                       works_on, change.from, listed(change.to));
  return fmt::format("{}{} is at {}; {} should suit this machine better.", sentence_from(*change.knob),
                     works_on, change.from, listed(change.to));
}

}  // namespace

double prior_gain(const Knob& knob) {
  if (const Lore* lore = lore_of(knob.name)) return lore->prior;
  return knob.structural ? 0.15 : 0.06;
}

Bucket bucket_of(const Knob& knob) {
  if (knob.name.starts_with("pack") || knob.name.starts_with("layout")) return Bucket::k2_layout;
  if (knob.name.starts_with("fuse")) return Bucket::k3_fusion;
  return Bucket::k1_kernel;
}

std::string change_text(const KnobChange& change) {
  return fmt::format("{}: {} → {}", change.knob->name, change.from, listed(change.to));
}

std::string hypothesis_text(const KnobChange& change, const Bottleneck& bottleneck,
                            const TargetFacts& target) {
  const Lore* lore = lore_of(change.knob->name);
  int direction = direction_of(change);
  std::string_view theory = !lore ? "" : direction >= 0 ? lore->raise : lore->lower;
  if (lore && theory.empty()) theory = lore->raise;
  std::string text =
      theory.empty() || (direction == 0 && !change.knob->structural)
          ? fallback_text(change)
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
