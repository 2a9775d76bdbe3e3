// SPDX-License-Identifier: Apache-2.0
// The machine ako runs on, as a target.
#pragma once

#include "target/facts.h"

namespace ako::host {

/// CPUID, sysfs: no measuring, under a millisecond. Includes stored measurements of this same machine, if any
/// (data_folder()/facts/host.json, keyed by CPU model, core count and hypervisor).
TargetFacts look_up();

struct MeasureOptions {
  Seconds budget{6};
};
/// Copy and read bandwidth (arrays ≥ 8 × last-level cache, best sustained of several passes), peak fp32/fp64
/// FLOP/s by fused multiply-adds in registers on all cores, timer resolution; stored for look_up. Roofs are
/// limits: where an earlier measurement of this machine was higher, it stands, with its date.
Result<TargetFacts> measure(const MeasureOptions& = {});

}  // namespace ako::host
