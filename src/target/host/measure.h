// SPDX-License-Identifier: Apache-2.0
// The single measurements behind host::measure.
#pragma once

#include <map>
#include <string>

#include "base/error.h"
#include "base/units.h"

namespace ako::host {

struct Bandwidth {
  double copy_bytes_per_s = 0;  // bytes read plus bytes written
  double read_bytes_per_s = 0;
  bool streaming = false;  // the copy was faster with stores that bypass the caches
  Bytes array;             // size of each of the two arrays
};
/// Error: no memory for the arrays.
Result<Bandwidth> measure_bandwidth(int threads, Bytes array, Seconds budget);

/// Fused multiply-adds in registers on all threads, per type: "f32", "f64", and "bf16" where the processor
/// multiplies pairs of bf16 into f32.
std::map<std::string, double> measure_peaks(int threads, Seconds budget);

/// The least difference between two readings of the steady clock that differ.
Seconds measure_timer_resolution();

}  // namespace ako::host
