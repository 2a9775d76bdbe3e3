// SPDX-License-Identifier: Apache-2.0
#include "judge/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "judge/parallel.h"

namespace ako {
namespace {

constexpr double kStress = 100;
constexpr std::int64_t kChunk = 8192;  // elements decoded at a time: stays in the first-level cache
constexpr double kExact = std::numeric_limits<double>::max();

/// Sums over a range of elements.
struct Sums {
  double signal = 0, noise = 0, ideal = 0;  // of squares
  std::int64_t beyond = 0;                  // elements outside the per-element bound
  std::int64_t hopeless = 0;  // NaN or infinity where a number was expected, or the other way round
  std::int64_t worst = -1;
  double worst_excess = -1, expected = 0, got = 0;

  void add(const Sums& other) {
    signal += other.signal;
    noise += other.noise;
    ideal += other.ideal;
    beyond += other.beyond;
    hopeless += other.hopeless;
    if (other.worst_excess > worst_excess) {
      worst_excess = other.worst_excess;
      worst = other.worst;
      expected = other.expected;
      got = other.got;
    }
  }
};

/// Bounds of one element, and what rounding alone costs there.
struct ElementRule {
  ScalarType type;
  bool exact;  // integers and booleans: equal or not
  double atol, rtol;
  double
      rounding;  // relative standard deviation of rounding to the type: half an ulp uniform, 2^-p / sqrt(3)
  double largest_value;
  /// A tolerance of nothing asks for the value that rounding fp64 to the output's type gives: what fp64 says
  /// itself may have no code in that type.
  bool to_the_bit() const { return !exact && atol == 0 && rtol == 0; }
};

ElementRule rule_for(ScalarType type, const Bounds& bounds) {
  const auto& tolerance = bounds.tolerance;
  bool close = tolerance.rtol || tolerance.atol;
  double infinite = std::numeric_limits<double>::infinity();
  return {type,
          class_of(type) != NumberClass::real,
          close ? tolerance.atol.value_or(0) : infinite,
          close ? tolerance.rtol.value_or(0) : infinite,
          epsilon(type) / 2 / std::sqrt(3.0),
          largest(type)};
}

/// Beyond what the type can hold: infinity, the largest value, or NaN (types without infinities) are all fair
/// answers.
bool overflows(const ElementRule& rule, double expected) {
  return std::abs(expected) > rule.largest_value * (1 - epsilon(rule.type));
}

void add_special(const ElementRule& rule, double expected, double got, std::int64_t index, Sums& sums) {
  bool fine = (std::isnan(expected) && std::isnan(got)) || expected == got;
  if (!fine && overflows(rule, expected))
    fine = std::isnan(got) || (std::signbit(got) == std::signbit(expected) && overflows(rule, got));
  if (fine) return;
  ++sums.hopeless;
  double excess = std::numeric_limits<double>::infinity();
  if (excess > sums.worst_excess)
    sums.worst_excess = excess, sums.worst = index, sums.expected = expected, sums.got = got;
}

void add_range(const ElementRule& rule, const double* expected, const double* got, std::int64_t first,
               std::int64_t count, Sums& sums) {
  for (std::int64_t i = 0; i < count; ++i) {
    double e = rule.to_the_bit() ? round_to(rule.type, expected[i]) : expected[i], g = got[i];
    double error = std::abs(g - e);
    if (!std::isfinite(error)) {
      add_special(rule, e, g, first + i, sums);
      continue;
    }
    sums.signal += e * e;
    sums.noise += error * error;
    sums.ideal += e * rule.rounding * e * rule.rounding;
    bool beyond = rule.exact ? error != 0 : error > rule.atol + rule.rtol * std::abs(e);
    sums.beyond += beyond;
    double excess =
        rule.exact || !std::isfinite(rule.atol) ? error : error - rule.atol - rule.rtol * std::abs(e);
    if (excess > sums.worst_excess)
      sums.worst_excess = excess, sums.worst = first + i, sums.expected = e, sums.got = g;
  }
}

double decibels(double signal, double noise) {
  if (noise <= 0) return kExact;
  return signal > 0 ? 10 * std::log10(signal / noise) : -kExact;
}

void conclude(OutputCheck& check, const Sums& sums, const ElementRule& rule, const Bounds& bounds,
              std::int64_t count) {
  double floor = bounds.declared_rms * bounds.declared_rms * static_cast<double>(count);
  check.snr_db = decibels(std::max(sums.signal, floor), sums.noise);
  check.worst = sums.worst;
  check.expected = sums.expected;
  check.got = sums.got;
  check.fraction =
      count > 0 ? static_cast<double>(sums.beyond + sums.hopeless) / static_cast<double>(count) : 0;
  auto refuse = [&](std::string metric) {
    if (check.ok) check.metric = std::move(metric);
    check.ok = false;
  };
  const auto& tolerance = bounds.tolerance;
  if (rule.exact) {
    double allowed = tolerance.mismatches.value_or(0);
    if (check.fraction > allowed)
      refuse(fmt::format("{} of {} elements differ, {:.3g} % may", sums.beyond + sums.hopeless, count,
                         100 * allowed));
    return;
  }
  if (sums.hopeless > 0)
    refuse(fmt::format(
        "{} of {} elements are NaN or infinite where they must not be, or finite where they must not be",
        sums.hopeless, count));
  if (tolerance.snr_db && check.snr_db < *tolerance.snr_db)
    refuse(fmt::format("snr {:.1f} dB, needs {:.0f}", std::max(check.snr_db, -999.0), *tolerance.snr_db));
  if ((tolerance.rtol || tolerance.atol) && sums.beyond > 0)
    refuse(fmt::format("{} of {} elements beyond atol {:.3g} + rtol {:.3g}", sums.beyond, count, rule.atol,
                       rule.rtol));
  if (tolerance.error_ratio) {
    double ideal = std::max(sums.ideal, floor * rule.rounding * rule.rounding);
    double ratio =
        sums.noise > 0 ? std::sqrt(sums.noise / std::max(ideal, std::numeric_limits<double>::min())) : 0;
    if (ratio > *tolerance.error_ratio)
      refuse(fmt::format("error {:.3g} times that of rounding alone, at most {:.3g}", ratio,
                         *tolerance.error_ratio));
  }
}

/// Bytes of elements [begin, begin + count), begin a multiple of 8: whole bytes in every type.
std::span<const std::byte> slice(ScalarType type, std::span<const std::byte> bytes, std::int64_t begin,
                                 std::int64_t count) {
  return bytes.subspan(static_cast<std::size_t>(storage_bytes(type, begin).count),
                       static_cast<std::size_t>(storage_bytes(type, count).count));
}

using Expected =
    std::function<const double*(std::int64_t begin, std::int64_t count, std::vector<double>& scratch)>;

OutputCheck compare_ranges(ScalarType type, const Bounds& bounds, const Expected& expected,
                           std::span<const std::byte> got, std::int64_t begin, std::int64_t count) {
  auto rule = rule_for(type, bounds);
  std::int64_t chunks = (count + kChunk - 1) / kChunk;
  std::vector<Sums> parts(static_cast<std::size_t>(parallel_parts(chunks, 32)));
  parallel_ranges(chunks, 32, [&](int part, std::int64_t from, std::int64_t to) {
    std::vector<double> values(kChunk), scratch(kChunk);
    for (std::int64_t chunk = from; chunk < to; ++chunk) {
      std::int64_t first = begin + chunk * kChunk, size = std::min(kChunk, begin + count - first);
      decode_array(type, slice(type, got, first, size),
                   std::span(values).first(static_cast<std::size_t>(size)));
      add_range(rule, expected(first, size, scratch), values.data(), first, size,
                parts[static_cast<std::size_t>(part)]);
    }
  });
  Sums total;
  for (const auto& part : parts) total.add(part);
  OutputCheck check;
  conclude(check, total, rule, bounds, count);
  return check;
}

Tolerance default_tolerance(ScalarType type) {
  Tolerance tolerance;
  if (class_of(type) == NumberClass::real)
    tolerance.snr_db = type == ScalarType::f64 ? 200 : std::min(100.0, 6.02 * precision_bits(type) - 6);
  return tolerance;
}

void widen(Tolerance& tolerance, double factor) {
  auto scale = [&](std::optional<double>& bound) {
    if (bound) *bound *= factor;
  };
  scale(tolerance.rtol);
  scale(tolerance.atol);
  scale(tolerance.error_ratio);
  if (tolerance.snr_db) *tolerance.snr_db -= 20 * std::log10(factor);
}

}  // namespace

Bounds bounds_for(const Problem& problem, const Tensor& tensor, InputStyle style, double declared_rms) {
  Bounds bounds{problem.tolerance, 0};
  const auto& given = problem.tolerance;
  if (!given.snr_db && !given.rtol && !given.atol && !given.error_ratio) {
    bounds.tolerance = default_tolerance(tensor.type);
    bounds.tolerance.mismatches = given.mismatches;
  }
  if (style == InputStyle::declared) return bounds;
  bounds.declared_rms = declared_rms;
  widen(bounds.tolerance, kStress);
  return bounds;
}

Bounds between_two(Bounds bounds) {
  // A little over two: the bound is relative to the trusted kernel's output, itself off by its error.
  widen(bounds.tolerance, 2.1);
  if (bounds.tolerance.mismatches) *bounds.tolerance.mismatches *= 2;
  return bounds;
}

OutputCheck compare_output(ScalarType type, const Bounds& bounds, std::span<const double> expected,
                           std::span<const std::byte> got) {
  return compare_ranges(
      type, bounds,
      [&](std::int64_t begin, std::int64_t, std::vector<double>&) { return expected.data() + begin; }, got, 0,
      static_cast<std::int64_t>(expected.size()));
}

OutputCheck compare_outputs(ScalarType type, const Bounds& bounds, std::span<const std::byte> trusted,
                            std::span<const std::byte> got, std::int64_t begin, std::int64_t count) {
  auto left = slice(type, trusted, begin, count), right = slice(type, got, begin, count);
  if (std::memcmp(left.data(), right.data(), left.size()) == 0) {
    OutputCheck same;
    same.snr_db = kExact;
    return same;
  }
  return compare_ranges(
      type, bounds,
      [&](std::int64_t first, std::int64_t size, std::vector<double>& scratch) {
        decode_array(type, slice(type, trusted, first, size),
                     std::span(scratch).first(static_cast<std::size_t>(size)));
        return static_cast<const double*>(scratch.data());
      },
      got, begin, count);
}

std::vector<bool> wrong_elements(ScalarType type, const Bounds& bounds, std::span<const double> expected,
                                 std::span<const double> got) {
  auto rule = rule_for(type, bounds);
  double scale = std::max(root_mean_square(expected), bounds.declared_rms);
  double noise = 0;
  if (bounds.tolerance.snr_db) noise = 3 * scale * std::pow(10, -*bounds.tolerance.snr_db / 20);
  if (bounds.tolerance.error_ratio) noise = 3 * scale * rule.rounding * *bounds.tolerance.error_ratio;
  std::vector<bool> wrong(expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    Sums one;
    add_range(rule, &expected[i], &got[i], 0, 1, one);
    wrong[i] = one.hopeless > 0 || one.beyond > 0 ||
               (!rule.exact && noise > 0 && std::abs(got[i] - expected[i]) > noise);
  }
  return wrong;
}

double root_mean_square(std::span<const double> values) {
  double sum = 0;
  std::int64_t count = 0;
  for (double value : values)
    if (std::isfinite(value)) sum += value * value, ++count;
  return count > 0 ? std::sqrt(sum / static_cast<double>(count)) : 0;
}

bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

}  // namespace ako
