// SPDX-License-Identifier: Apache-2.0
#include "judge/element_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ako {
namespace {

/// Beyond what the type can hold: infinity, the largest value, or NaN (types without infinities) are all fair
/// answers.
bool overflows(const ElementRule& rule, double expected) {
  return std::abs(expected) > rule.largest_value * (1 - epsilon(rule.type));
}

bool fair_special(const ElementRule& rule, double expected, double got) {
  if ((std::isnan(expected) && std::isnan(got)) || expected == got) return true;
  return overflows(rule, expected) &&
         (std::isnan(got) || (std::signbit(got) == std::signbit(expected) && overflows(rule, got)));
}

// Two numbers at a time: every x86-64 has registers for that.
using Lanes = double __attribute__((vector_size(16)));
using Masks = std::int64_t __attribute__((vector_size(16)));
constexpr std::int64_t kLanes = 2, kBlock = 512;

Lanes magnitude(Lanes x) { return (Lanes)((Masks)x & std::numeric_limits<std::int64_t>::max()); }
Lanes larger(Lanes a, Lanes b) { return a > b ? a : b; }

constexpr double kInfinite = std::numeric_limits<double>::infinity();

struct Excess {
  double of_bounds, of_cap;
};
Excess excess_of(const ElementRule& rule, double expected, double error) {
  double part = rule.cap * expected;
  return {error - (rule.atol + rule.rtol * std::abs(expected)), error * error - part * part};
}

}  // namespace

ElementRule rule_for(ScalarType type, const Bounds& bounds) {
  const auto& tolerance = bounds.tolerance;
  double rounding = epsilon(type) / 2 / std::sqrt(3.0), noise = kInfinite;
  if (tolerance.snr_db) noise = std::pow(10, -*tolerance.snr_db / 20);
  if (tolerance.error_ratio) noise = std::min(noise, rounding * *tolerance.error_ratio);
  return {.type = type,
          .exact = class_of(type) != NumberClass::real,
          .close = tolerance.rtol || tolerance.atol,
          .atol = tolerance.atol.value_or(0),
          .rtol = tolerance.rtol.value_or(0),
          .cap = bounds.peak * noise,
          .peak = bounds.peak,
          .rounding = rounding,
          .largest_value = largest(type)};
}

void ElementSums::add(const ElementSums& other) {
  signal += other.signal;
  noise += other.noise;
  beyond += other.beyond;
  hopeless += other.hopeless;
  worst.see(other.worst);
  peak.see(other.peak);
}

void ElementSums::see(const ElementRule& rule, double expected, double got, double error,
                      std::int64_t index) {
  auto excess = excess_of(rule, expected, error);
  worst.see(rule.exact ? error : excess.of_bounds, index, expected, got);
  if (rule.capped()) peak.see(excess.of_cap, index, expected, got);
}

void ElementSums::add_each(const ElementRule& rule, const double* expected, const double* got,
                           std::int64_t first, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    double e = rule.to_the_bit() ? round_to(rule.type, expected[i]) : expected[i], g = got[i];
    double error = std::abs(g - e);
    if (!std::isfinite(error)) {
      if (fair_special(rule, e, g)) continue;
      ++hopeless;
      worst.see(kInfinite, first + i, e, g);
      continue;
    }
    signal += e * e;
    noise += error * error;
    beyond += rule.exact ? error != 0 : rule.close && excess_of(rule, e, error).of_bounds > 0;
    see(rule, e, g, error, first + i);
  }
}

/// The same for kBlock finite real numbers, of which few are farther off than all before; false, and nothing
/// is added, when some are not finite.
bool ElementSums::add_block(const ElementRule& rule, const double* expected, const double* got,
                            std::int64_t first) {
  double cap = rule.capped() ? rule.cap : 0;
  Lanes signals{}, noises{}, farthest = Lanes{} - kInfinite, highest = farthest;
  Masks outside{};
  for (std::int64_t i = 0; i < kBlock; i += kLanes) {
    Lanes e, g;
    std::memcpy(&e, expected + i, sizeof e);
    std::memcpy(&g, got + i, sizeof g);
    Lanes error = g - e, part = cap * e;
    Lanes squares = error * error, over_cap = squares - part * part;
    signals += e * e;
    noises += squares;
    Lanes over = magnitude(error) - (rule.atol + rule.rtol * magnitude(e));
    outside += over > 0;
    farthest = larger(over, farthest);
    highest = larger(over_cap, highest);
  }
  double block_signal = 0, block_noise = 0, most = -kInfinite, top = -kInfinite;
  std::int64_t block_outside = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    block_signal += signals[lane];
    block_noise += noises[lane];
    block_outside -= outside[lane];  // masks are -1
    most = std::max(most, farthest[lane]);
    top = std::max(top, highest[lane]);
  }
  if (!std::isfinite(block_signal + block_noise)) return false;
  signal += block_signal;
  noise += block_noise;
  if (rule.close) beyond += block_outside;
  if (most > worst.excess || (rule.capped() && top > peak.excess))
    for (std::int64_t i = 0; i < kBlock; ++i)
      see(rule, expected[i], got[i], std::abs(got[i] - expected[i]), first + i);
  return true;
}

void ElementSums::add(const ElementRule& rule, const double* expected, const double* got, std::int64_t first,
                      std::int64_t count) {
  std::int64_t done = 0;
  if (!rule.exact && !rule.to_the_bit())
    for (; done + kBlock <= count; done += kBlock)
      if (!add_block(rule, expected + done, got + done, first + done))
        add_each(rule, expected + done, got + done, first + done, kBlock);
  add_each(rule, expected + done, got + done, first + done, count - done);
}

std::string describe_peak(const ElementRule& rule, const Extreme& worst, double scale) {
  double error = std::abs(worst.got - worst.expected);
  return fmt::format("off by {:.3g}, {:.3g} times the noise that the tolerance allows there, at most {:.3g}",
                     error, error / (rule.noise() * std::hypot(scale, worst.expected)), rule.peak);
}

}  // namespace ako
