// SPDX-License-Identifier: Apache-2.0
// What a verdict's times mean in FLOP/s, bytes/s and fractions of the roof.
#pragma once

#include "agent/agent.h"

namespace ako {

/// Geometric means over the verdict's shapes (peak: the best shape); all zero when nothing was timed.
struct Achieved {
  double flops_per_s = 0, peak_flops_per_s = 0;
  double bytes_per_s = 0;
  double efficiency = 0;  // roofline time / measured time; 0 when the device was never measured
};
Achieved achieved(const Problem&, const TargetFacts&, const Verdict&);
Bottleneck bottleneck_of(const Problem&, const TargetFacts&, const Verdict&);

/// performance_target: ">500 TFLOPS", ">12 GFLOPS", ">800 GB/s", ">60% peak" (peak: the roofline).
struct PerformanceTarget {
  enum class Unit : std::uint8_t { flops_per_s, bytes_per_s, fraction_of_peak } unit = Unit::flops_per_s;
  double value = 0;
};
Result<PerformanceTarget> parse_performance_target(std::string_view);
bool reaches(const Achieved&, const PerformanceTarget&);

}  // namespace ako
