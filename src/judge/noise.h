// SPDX-License-Identifier: Apache-2.0
// How far apart a kernel and itself come out on this machine: measured by `ako bench noise`, kept per
// duration class.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"

namespace ako {

/// The least improvement that is ever called one.
inline constexpr double kLeastNoise = 0.01;

struct NoiseClass {
  Microseconds up_to{0};  // of one launch
  double ratio_p99 = 0;   // 99th percentile of |log ratio| of a kernel against itself, over eight blocks
  int blocks = 0;
};

struct Noise {
  std::string machine;              // CPU model: another machine's noise is not believed
  std::string measured;             // UTC
  std::vector<NoiseClass> classes;  // ascending

  /// max(1 %, the class's own), 1 % where nothing was measured.
  double of(Microseconds launch) const;
};

/// 99th percentile of the absolute Hodges–Lehmann estimate over eight blocks drawn from `blocks` (A/A),
/// deterministic.
double noise_p99(const std::vector<double>& blocks);
/// What was stored for this machine; empty when nothing was.
Noise load_noise(const std::string& machine);
Result<void> store_noise(const Noise&);

}  // namespace ako
