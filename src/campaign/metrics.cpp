// SPDX-License-Identifier: Apache-2.0
#include "campaign/metrics.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/text.h"

namespace ako {
namespace {

const Shape* shape_called(const Problem& problem, std::string_view label) {
  for (const Shape& shape : problem.shapes)
    if (shape.label == label) return &shape;
  return nullptr;
}

class GeometricMean {
 public:
  void add(double value) {
    if (value > 0) sum_ += std::log(value), ++count_;
  }
  double value() const { return count_ ? std::exp(sum_ / count_) : 0; }

 private:
  double sum_ = 0;
  int count_ = 0;
};

}  // namespace

Achieved achieved(const Problem& problem, const TargetFacts& facts, const Verdict& verdict) {
  GeometricMean flops, bytes, efficiency;
  Achieved result;
  ScalarType type = arithmetic_type(problem);
  for (const ShapeTiming& timing : verdict.timings) {
    const Shape* shape = shape_called(problem, timing.shape);
    if (!shape || timing.candidate_median_us <= 0) continue;
    Cost cost = cost_of(problem, *shape);
    double seconds = timing.candidate_median_us * 1e-6;
    flops.add(cost.flops / seconds);
    bytes.add(static_cast<double>(cost.compulsory.count) / seconds);
    efficiency.add(roofline(cost, facts, type).duration.count() / timing.candidate_median_us);
    result.peak_flops_per_s = std::max(result.peak_flops_per_s, cost.flops / seconds);
  }
  result.flops_per_s = flops.value();
  result.bytes_per_s = bytes.value();
  result.efficiency = efficiency.value();
  return result;
}

Bottleneck bottleneck_of(const Problem& problem, const TargetFacts& facts, const Verdict& verdict) {
  std::vector<MeasuredShape> measured;
  for (const ShapeTiming& timing : verdict.timings)
    measured.push_back({shape_called(problem, timing.shape), timing.candidate_median_us,
                        timing.overhead_us / std::max(1, timing.launches_per_batch)});
  return classify(problem, facts, measured);
}

Result<PerformanceTarget> parse_performance_target(std::string_view text) {
  std::string compact;
  for (char c : text)
    if (c != ' ' && c != '>' && c != '=')
      compact += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  double value = 0;
  auto [end, code] = std::from_chars(compact.data(), compact.data() + compact.size(), value);
  std::string_view unit(end, static_cast<std::size_t>(compact.data() + compact.size() - end));
  using Unit = PerformanceTarget::Unit;
  if (code == std::errc() && value > 0) {
    if (unit == "tflops" || unit == "tflop/s") return PerformanceTarget{Unit::flops_per_s, value * 1e12};
    if (unit == "gflops" || unit == "gflop/s") return PerformanceTarget{Unit::flops_per_s, value * 1e9};
    if (unit == "gb/s") return PerformanceTarget{Unit::bytes_per_s, value * 1e9};
    if (unit == "tb/s") return PerformanceTarget{Unit::bytes_per_s, value * 1e12};
    if (unit == "%peak" || unit == "%") return PerformanceTarget{Unit::fraction_of_peak, value / 100};
  }
  return fail(ErrorKind::invalid_input, fmt::format("'{}' is no performance target", printable(text)),
              "write '>500 TFLOPS', '>800 GB/s' or '>60% peak'");
}

bool reaches(const Achieved& achieved, const PerformanceTarget& target) {
  using Unit = PerformanceTarget::Unit;
  switch (target.unit) {
    case Unit::flops_per_s:
      return achieved.flops_per_s > target.value;
    case Unit::bytes_per_s:
      return achieved.bytes_per_s > target.value;
    case Unit::fraction_of_peak:
      return achieved.efficiency > target.value;
  }
  return false;
}

}  // namespace ako
