// SPDX-License-Identifier: Apache-2.0
// What a guest used and what disturbed it, read from outside while it is frozen.
#pragma once

#include <cstdint>

namespace ako::host {

struct Usage {
  double cpu_seconds = 0;
  double steal_seconds = 0;  // of the whole machine; clock ticks of 10 ms on most kernels
  std::int64_t major_faults = 0, minor_faults = 0;
  std::int64_t involuntary_switches = 0;  // of the threads that live
};

/// Numbers that cannot be read are 0.
Usage usage_of(int pid);

}  // namespace ako::host
