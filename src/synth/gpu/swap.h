// SPDX-License-Identifier: Apache-2.0
// Elementwise statements that read a tensor across: through tiles in shared memory, so that memory is read
// and written along its lines.
#pragma once

#include <optional>

#include "synth/gpu/unit.h"
#include "synth/groups.h"

namespace ako::synth::gpu {

/// `target[…, p, …, q] = f(tensor[…, q, …, p])`.
struct Swap {
  std::size_t statement = 0;
  std::vector<Range> others;
  Range across, along;           // p and q
  std::vector<ExprId> accesses;  // that move by one with p
};
std::optional<Swap> match_swap(const Program&, const Group&);

struct SwapChoices {
  int tile = 32;
  int threads = 256;
  bool across_first = false;  // neighbouring blocks read neighbouring tiles; else they write them
};
void write_swap(Unit&, const Swap&, const SwapChoices&);

}  // namespace ako::synth::gpu
