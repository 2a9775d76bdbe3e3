// SPDX-License-Identifier: Apache-2.0
// How many launches make a batch, and in what state the caches are when it starts.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"

namespace ako {

struct RingLimits {
  Bytes memory = gibibytes(2);  // of one shape: inputs, and outputs of both sides
  int slots = 1024;             // every slot is several mappings in the guest
  Microseconds batch{1500};     // of the faster side: long against the release
  Microseconds longest{60000};  // of the slower side
};

/// Launches per batch; each launch has a slot of its own. `slot`: memory of one slot in all. Times per
/// launch.
int launches_per_batch(Bytes slot, Microseconds faster, Microseconds slower, const RingLimits& = {});

/// Leaves nothing of a kernel's data in the caches: sweeps over twice the last-level cache.
class CacheEvictor {
 public:
  explicit CacheEvictor(Bytes last_level_cache);
  void sweep();
  /// Batches that touch less than this start with swept caches; larger ones sweep them by themselves.
  Bytes reach() const { return {static_cast<std::int64_t>(words_.size() * sizeof(std::uint64_t))}; }

 private:
  std::vector<std::uint64_t> words_;
  std::uint64_t seen_ = 0;  // what was read goes somewhere, or it would not be read
};

}  // namespace ako
