// SPDX-License-Identifier: Apache-2.0
#include "judge/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "judge/element_rule.h"
#include "judge/parallel.h"

namespace ako {
namespace {

constexpr double kStress = 100;        // times wider bounds
constexpr double kStressPeak = 4;      // times farther from the mean
constexpr double kBlame = 3;           // times the allowed noise: far below the cap, and seldom rounding
constexpr std::int64_t kChunk = 8192;  // elements decoded at a time: stays in the first-level cache
constexpr double kExact = std::numeric_limits<double>::max();

double decibels(double signal, double noise) {
  if (noise <= 0) return kExact;
  return signal > 0 ? 10 * std::log10(signal / noise) : -kExact;
}

void conclude(OutputCheck& check, const ElementSums& sums, const ElementRule& rule, const Bounds& bounds,
              std::int64_t count) {
  double floor = bounds.declared_rms * bounds.declared_rms * static_cast<double>(count);
  check.snr_db = decibels(std::max(sums.signal, floor), sums.noise);
  bool by_cap = rule.capped() && sums.hopeless == 0 && sums.beyond == 0;
  const Extreme& worst = by_cap ? sums.peak : sums.worst;
  check.worst = worst.index;
  check.expected = worst.expected;
  check.got = worst.got;
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
    double ideal = std::max(sums.signal, floor) * rule.rounding * rule.rounding;
    double ratio =
        sums.noise > 0 ? std::sqrt(sums.noise / std::max(ideal, std::numeric_limits<double>::min())) : 0;
    if (ratio > *tolerance.error_ratio)
      refuse(fmt::format("error {:.3g} times that of rounding alone, at most {:.3g}", ratio,
                         *tolerance.error_ratio));
  }
  if (!rule.capped() || count == 0) return;
  double scale = std::sqrt(std::max(sums.signal, floor) / static_cast<double>(count));
  if (sums.peak.excess > rule.cap * scale * rule.cap * scale) refuse(describe_peak(rule, sums.peak, scale));
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
  std::vector<ElementSums> parts(static_cast<std::size_t>(parallel_parts(chunks, 32)));
  parallel_ranges(chunks, 32, [&](int part, std::int64_t from, std::int64_t to) {
    auto room = static_cast<std::size_t>(std::min(kChunk, count));
    std::vector<double> values(room), scratch(room);
    for (std::int64_t chunk = from; chunk < to; ++chunk) {
      std::int64_t first = begin + chunk * kChunk, size = std::min(kChunk, begin + count - first);
      decode_array(type, slice(type, got, first, size),
                   std::span(values).first(static_cast<std::size_t>(size)));
      parts[static_cast<std::size_t>(part)].add(rule, expected(first, size, scratch), values.data(), first,
                                                size);
    }
  });
  ElementSums total;
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
  Bounds bounds{.tolerance = problem.tolerance};
  const auto& given = problem.tolerance;
  if (!given.snr_db && !given.rtol && !given.atol && !given.error_ratio) {
    bounds.tolerance = default_tolerance(tensor.type);
    bounds.tolerance.mismatches = given.mismatches;
  }
  if (style == InputStyle::declared) return bounds;
  bounds.declared_rms = declared_rms;
  bounds.peak *= kStressPeak;
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
  std::vector<bool> wrong(expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ElementSums one;
    one.add(rule, &expected[i], &got[i], 0, 1);
    bool noisy = rule.capped() &&
                 std::abs(got[i] - expected[i]) > kBlame * rule.noise() * std::hypot(scale, expected[i]);
    wrong[i] = one.hopeless > 0 || one.beyond > 0 || noisy;
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
