// SPDX-License-Identifier: Apache-2.0
#include "judge/device_verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "judge/parallel.h"
#include "judge/pattern.h"

namespace ako {
namespace {

constexpr double kNoNoise = std::numeric_limits<double>::max();

std::vector<const DeviceBuffer*> outputs_of(const DevicePlan& plan) {
  std::vector<const DeviceBuffer*> outputs;
  for (const auto& buffer : plan.buffers)
    if (buffer.role == DeviceBuffer::Role::output || buffer.role == DeviceBuffer::Role::inout)
      outputs.push_back(&buffer);
  return outputs;
}

constexpr std::int64_t kGrain = 1 << 18;  // elements worth a thread

/// As root_mean_square and all_finite, on all cores.
double rms_of(std::span<const double> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  if (count < 2 * kGrain) return root_mean_square(values);
  std::vector<double> squares(static_cast<std::size_t>(parallel_parts(count, kGrain)));
  std::vector<std::int64_t> finite(squares.size());
  parallel_ranges(count, kGrain, [&](int part, std::int64_t begin, std::int64_t end) {
    double sum = 0;
    std::int64_t seen = 0;
    for (std::int64_t i = begin; i < end; ++i)
      if (const double value = values[static_cast<std::size_t>(i)]; std::isfinite(value))
        sum += value * value, ++seen;
    squares[static_cast<std::size_t>(part)] = sum;
    finite[static_cast<std::size_t>(part)] = seen;
  });
  const auto all = std::accumulate(finite.begin(), finite.end(), std::int64_t{0});
  return all > 0 ? std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0) / static_cast<double>(all))
                 : 0;
}
bool finite_everywhere(std::span<const double> values) {
  std::atomic<bool> fine = true;
  parallel_ranges(
      static_cast<std::int64_t>(values.size()), kGrain, [&](int, std::int64_t begin, std::int64_t end) {
        if (!all_finite(
                values.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin))))
          fine = false;
      });
  return fine;
}

/// The sum of n squares of random projections, each of which has the error's energy as its mean, is unlikely
/// to be larger than the energy by this factor: a chi-square variable of n degrees of freedom over n, six
/// deviations and the tail of few degrees allowed for.
double chance_factor(std::size_t n) {
  double degrees = static_cast<double>(std::max<std::size_t>(n, 1));
  return 1 + 6 * std::sqrt(2 / degrees) + 36 / degrees;
}

}  // namespace

OutputCheck compare_sketches(ScalarType type, const Bounds& bounds, std::int64_t count, const Sketch& trusted,
                             const Sketch& got) {
  OutputCheck check;
  double signal = 0, noise = 0;
  std::int64_t differing = 0, odd = 0;
  for (std::size_t i = 0; i < trusted.sums.size(); ++i) {
    double difference = trusted.sums[i] - got.sums[i];
    signal += trusted.squares[i];
    noise += difference * difference;
    differing += difference != 0;
    odd += trusted.specials[i] != got.specials[i];
  }
  const auto& tolerance = bounds.tolerance;
  auto refuse = [&](std::string metric) {
    if (check.ok) check.metric = std::move(metric);
    check.ok = false;
  };
  if (odd > 0) refuse("NaN or infinity where the incumbent has none, or the other way round");
  if (class_of(type) != NumberClass::real) {
    // A chunk that differs holds at least one element that does.
    check.fraction =
        static_cast<double>(differing + odd) / static_cast<double>(std::max<std::int64_t>(count, 1));
    if (check.fraction > tolerance.mismatches.value_or(0))
      refuse(fmt::format("at least {} of {} elements differ from the incumbent's", differing, count));
    check.snr_db = check.ok ? kNoNoise : 0;
    return check;
  }
  double floor = bounds.declared_rms * bounds.declared_rms * static_cast<double>(count);
  check.snr_db = noise <= 0 ? kNoNoise : 10 * std::log10(std::max(signal, floor) / noise);
  double slack = chance_factor(trusted.sums.size());
  double rms = std::sqrt(std::max(signal, floor) / static_cast<double>(std::max<std::int64_t>(count, 1)));
  double allowed = std::numeric_limits<double>::infinity();  // energy of the error
  if (tolerance.snr_db) allowed = std::max(signal, floor) * std::pow(10, -*tolerance.snr_db / 10);
  if (tolerance.error_ratio) {
    double rounding = epsilon(type) / 2 / std::sqrt(3.0) * *tolerance.error_ratio;
    allowed = std::min(allowed, std::max(signal, floor) * rounding * rounding);
  }
  if (tolerance.rtol || tolerance.atol) {
    // Every element within its bound keeps the energy within the sum of the bounds' squares:
    // (atol + rtol |x|)^2 <= 2 atol^2 + 2 rtol^2 x^2.
    double atol = tolerance.atol.value_or(0), rtol = tolerance.rtol.value_or(0);
    allowed = std::min(
        allowed, 2 * atol * atol * static_cast<double>(count) + 2 * rtol * rtol * std::max(signal, floor));
  }
  if (!(noise <= allowed * slack))
    refuse(fmt::format("differs from the incumbent's output by {:.3g} rms of {:.3g}",
                       std::sqrt(noise / static_cast<double>(std::max<std::int64_t>(count, 1))), rms));
  return check;
}

namespace {

constexpr std::int64_t kPiece = 1 << 16;  // elements decoded and looked at by one thread at a time

/// An output as numbers, and which of them are wrong. All cores share the work: outputs have millions of
/// elements.
struct Seen {
  std::unique_ptr<double[]> storage;
  std::span<const double> values;
  std::vector<std::int64_t> wrong;  // ascending
};

Seen look_at(const DeviceBuffer& buffer, Bounds bounds, std::span<const double> expected,
             std::span<const std::byte> got) {
  const auto count = static_cast<std::int64_t>(expected.size());
  Seen seen;
  // Not a vector: clearing it first would take longer than all else here.
  seen.storage = std::make_unique_for_overwrite<double[]>(expected.size());
  std::span values(seen.storage.get(), expected.size());
  seen.values = values;
  // Pieces are held against the scale of the whole.
  bounds.declared_rms = std::max(bounds.declared_rms, rms_of(expected));
  const std::int64_t pieces = (count + kPiece - 1) / kPiece;
  std::vector<std::vector<std::int64_t>> parts(static_cast<std::size_t>(parallel_parts(pieces, 4)));
  parallel_ranges(pieces, 4, [&](int part, std::int64_t from, std::int64_t to) {
    for (std::int64_t piece = from; piece < to; ++piece) {
      const std::int64_t first = piece * kPiece, size = std::min(kPiece, count - first);
      const auto offset = static_cast<std::size_t>(first), length = static_cast<std::size_t>(size);
      const auto bytes = got.subspan(static_cast<std::size_t>(storage_bytes(buffer.type, first).count),
                                     static_cast<std::size_t>(storage_bytes(buffer.type, size).count));
      decode_array(buffer.type, bytes, values.subspan(offset, length));
      const auto flags = wrong_elements(buffer.type, bounds, expected.subspan(offset, length),
                                        values.subspan(offset, length));
      for (std::size_t i = 0; i < length; ++i)
        if (flags[i]) parts[static_cast<std::size_t>(part)].push_back(first + static_cast<std::int64_t>(i));
    }
  });
  for (const auto& part : parts) seen.wrong.insert(seen.wrong.end(), part.begin(), part.end());
  return seen;
}

}  // namespace

Wrong DeviceVerifier::explain(const DeviceBuffer& buffer, const Bounds& bounds, const OutputCheck& check,
                              std::span<const double> expected, std::span<const std::byte> got) const {
  const Seen seen = look_at(buffer, bounds, expected, got);
  auto sizes = extents(problem_, problem_.tensor(buffer.tensor), shape_);
  Wrong result;
  result.shape = shape_.label;
  result.tensor = buffer.name;
  if (check.worst >= 0) result.index = index_of(check.worst, sizes);
  result.expected = check.expected;
  result.got = check.got;
  result.metric = check.metric;
  result.fraction =
      expected.empty() ? 0 : static_cast<double>(seen.wrong.size()) / static_cast<double>(expected.size());
  result.pattern = explain_pattern(sizes, expected, seen.values, seen.wrong, [&](std::size_t i) {
    return still_poison_at(buffer.type, got, static_cast<std::int64_t>(i));
  });
  return result;
}

Judged<DeviceVerifier::Finding> DeviceVerifier::against_truth(const DevicePlan& plan,
                                                              const std::vector<SeenOutput>& seen,
                                                              const ExpectedValues& expected,
                                                              InputStyle style, bool when_timed) {
  if (style != InputStyle::declared && !std::all_of(expected.begin(), expected.end(), finite_everywhere))
    return Finding{.dropped = true};
  Finding finding{.error_db = kNoNoise};
  auto outputs = outputs_of(plan);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& buffer = *outputs[i];
    if (style == InputStyle::declared && !declared_rms_.contains(buffer.tensor))
      declared_rms_[buffer.tensor] = rms_of(expected[i]);
    auto bounds = bounds_for(problem_, problem_.tensor(buffer.tensor), style, declared_rms_[buffer.tensor]);
    auto check = compare_output(buffer.type, bounds, expected[i], seen[i].bytes);
    if (!check.ok) {
      auto wrong = explain(buffer, bounds, check, expected[i], seen[i].bytes);
      wrong.style = name_of(style);
      wrong.when_timed = when_timed;
      return std::unexpected(Outcome(std::move(wrong)));
    }
    if (!expected[i].empty()) finding.error_db = std::min(finding.error_db, check.snr_db);
  }
  return finding;
}

Judged<void> DeviceVerifier::against_each_other(const DevicePlan& plan,
                                                const std::vector<SeenOutput>& trusted,
                                                const std::vector<SeenOutput>& got) const {
  auto outputs = outputs_of(plan);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& buffer = *outputs[i];
    auto known = declared_rms_.find(buffer.tensor);
    auto bounds = between_two(bounds_for(problem_, problem_.tensor(buffer.tensor), InputStyle::declared,
                                         known == declared_rms_.end() ? 0 : known->second));
    auto check = trusted[i].sketch && got[i].sketch
                     ? compare_sketches(buffer.type, bounds, buffer.count, *trusted[i].sketch, *got[i].sketch)
                     : compare_outputs(buffer.type, bounds, trusted[i].bytes, got[i].bytes, 0, buffer.count);
    if (check.ok) continue;
    Wrong wrong;
    wrong.shape = shape_.label;
    wrong.tensor = buffer.name;
    wrong.style = name_of(InputStyle::declared);
    wrong.metric = check.metric;
    wrong.when_timed = true;
    wrong.fraction = check.fraction;
    if (check.worst >= 0) {
      wrong.index = index_of(check.worst, extents(problem_, problem_.tensor(buffer.tensor), shape_));
      wrong.expected = check.expected;
      wrong.got = check.got;
    }
    return std::unexpected(Outcome(std::move(wrong)));
  }
  return {};
}

}  // namespace ako
