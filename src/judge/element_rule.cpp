// SPDX-License-Identifier: Apache-2.0
#include "judge/element_rule.h"

#include <fmt/format.h>

#include <cmath>

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

}  // namespace

double ElementRule::cap(double scale, double expected) const {
  return peak * noise * std::hypot(scale, expected);
}

double ElementRule::beyond_cap(double error, double expected) const {
  double part = peak * noise * expected;
  return error * error - part * part;
}

ElementRule rule_for(ScalarType type, const Bounds& bounds) {
  const auto& tolerance = bounds.tolerance;
  bool close = tolerance.rtol || tolerance.atol;
  double infinite = std::numeric_limits<double>::infinity();
  double rounding = epsilon(type) / 2 / std::sqrt(3.0), noise = infinite;
  if (tolerance.snr_db) noise = std::pow(10, -*tolerance.snr_db / 20);
  if (tolerance.error_ratio) noise = std::min(noise, rounding * *tolerance.error_ratio);
  return {.type = type,
          .exact = class_of(type) != NumberClass::real,
          .close = close,
          .atol = close ? tolerance.atol.value_or(0) : infinite,
          .rtol = close ? tolerance.rtol.value_or(0) : infinite,
          .noise = noise,
          .peak = bounds.peak,
          .rounding = rounding,
          .largest_value = largest(type)};
}

void ElementSums::add(const ElementSums& other) {
  signal += other.signal;
  noise += other.noise;
  ideal += other.ideal;
  beyond += other.beyond;
  hopeless += other.hopeless;
  worst.see(other.worst);
  peak.see(other.peak);
}

void ElementSums::add(const ElementRule& rule, const double* expected, const double* got, std::int64_t first,
                      std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    double e = rule.to_the_bit() ? round_to(rule.type, expected[i]) : expected[i], g = got[i];
    double error = std::abs(g - e);
    if (!std::isfinite(error)) {
      if (fair_special(rule, e, g)) continue;
      ++hopeless;
      worst.see(std::numeric_limits<double>::infinity(), first + i, e, g);
      continue;
    }
    signal += e * e;
    noise += error * error;
    ideal += e * rule.rounding * e * rule.rounding;
    double excess = rule.exact || !rule.close ? error : error - rule.atol - rule.rtol * std::abs(e);
    beyond += (rule.exact || rule.close) && excess > 0;
    worst.see(excess, first + i, e, g);
    if (rule.capped()) peak.see(rule.beyond_cap(error, e), first + i, e, g);
  }
}

std::string describe_peak(const ElementRule& rule, const Extreme& worst, double scale) {
  double error = std::abs(worst.got - worst.expected);
  return fmt::format("off by {:.3g}, {:.3g} times the noise that the tolerance allows there, at most {:.3g}",
                     error, rule.peak * error / rule.cap(scale, worst.expected), rule.peak);
}

}  // namespace ako
