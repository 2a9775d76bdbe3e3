// SPDX-License-Identifier: Apache-2.0
// What schedule_space and synthesize do for CUDA and HIP.
#pragma once

#include "synth/schedule.h"

namespace ako::synth::gpu {

ScheduleSpace make_space(const Problem&, const TargetFacts&);
/// `schedule` has every knob of the space. `head`: the comment that opens the file, without slashes.
Candidate write_candidate(const Problem&, const Schedule&, const TargetFacts&, Language,
                          const std::string& head);

}  // namespace ako::synth::gpu
