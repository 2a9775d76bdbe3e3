// SPDX-License-Identifier: Apache-2.0
// Any statement as plain kernels: a thread for each element, or for each row where an order must be kept.
#pragma once

#include "synth/gpu/unit.h"

namespace ako::synth::gpu {

struct NestChoices {
  int threads = 256;            // of a block
  bool atomic_updates = false;  // f32 sums into the same element in any order
};

/// Writes the kernels of one statement; `first`: nothing was assigned to its target before.
void write_nest(Unit&, const Statement&, const NestChoices&, bool first);

}  // namespace ako::synth::gpu
