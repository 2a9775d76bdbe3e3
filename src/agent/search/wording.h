// SPDX-License-Identifier: Apache-2.0
// What the search agent knows of knobs by name: how much they are worth trying, and how to say why.
#pragma once

#include "agent/agent.h"

namespace ako {

/// Expected saving in log time before anything was measured, when the knob works on the roof that limits.
double prior_gain(const Knob&);
Bucket bucket_of(const Knob&);

/// A change of knobs from one schedule to another; `to` has several where a sweep tries them.
struct KnobChange {
  const Knob* knob = nullptr;
  std::string from;
  std::vector<std::string> to;
};
/// "threads: 1 → 2"; "unroll: 1 → 2, 4 or 8".
std::string change_text(const KnobChange&);

/// Why this change should help: the knob's theory, then what limits the kernel now.
std::string hypothesis_text(const KnobChange&, const Bottleneck&, const TargetFacts&);
/// What would confirm it.
std::string signal_text(const Knob&, double expected_gain);
/// "The kernel reaches 34 % of the memory roof." — empty while nothing was measured.
std::string bottleneck_text(const Bottleneck&);
/// "2 cores, 512-bit SIMD, 32.0 MiB of last-level cache".
std::string machine_text(const TargetFacts&);

/// 0.123 → "12 %"; small ones with a decimal.
std::string percent(double fraction);

}  // namespace ako
