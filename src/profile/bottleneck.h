// SPDX-License-Identifier: Apache-2.0
// What holds a kernel back: from its times, the roofline of its problem, and what is known of the device.
#pragma once

#include <span>
#include <string>

#include "problem/problem.h"
#include "target/facts.h"

namespace ako {

/// What holds a kernel back, as well as is known.
struct Bottleneck {
  std::string kind;         // "memory", "compute", "latency", "launch", "unknown"
  double efficiency = 0;    // roofline time / measured time, geometric mean over shapes; 0 when unknown
  std::string explanation;  // a sentence with the figures behind it
};

/// One launch plan on one shape, as it was timed.
struct MeasuredShape {
  const Shape* shape = nullptr;
  double duration_us = 0;
  double overhead_us = 0;  // of starting a batch; already subtracted from duration_us
};

/// The classes:
/// memory or compute: near (at least half of) the roof that says so, or, further away, the roof that it will
/// meet first; latency: a fifth of either roof or less, so that neither is what it waits for; launch: so
/// short that starting it costs as much as running it.
Bottleneck classify(const Problem&, const TargetFacts&, std::span<const MeasuredShape>);

}  // namespace ako
