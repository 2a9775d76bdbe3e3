// SPDX-License-Identifier: Apache-2.0
#include "judge/ring.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "judge/parallel.h"

namespace ako {

int launches_per_batch(Bytes slot, Microseconds faster, Microseconds slower, const RingLimits& limits) {
  double wanted = std::ceil(limits.batch / std::max(faster, Microseconds(0.1)));
  double bearable = std::floor(limits.longest / std::max(slower, Microseconds(0.1)));
  double fitting = std::floor(static_cast<double>(limits.memory.count) /
                              static_cast<double>(std::max<std::int64_t>(slot.count, 1)));
  return static_cast<int>(
      std::max(1.0, std::min({wanted, bearable, fitting, static_cast<double>(limits.slots)})));
}

CacheEvictor::CacheEvictor(Bytes last_level_cache)
    : words_(
          static_cast<std::size_t>(std::clamp<std::int64_t>(2 * last_level_cache.count, 16 << 20, 1 << 30)) /
          sizeof(std::uint64_t)) {}

void CacheEvictor::sweep() {
  // One word of every line is read: that fills the caches with this memory, and is half the work of writing
  // it.
  constexpr std::int64_t line = 64 / sizeof(std::uint64_t);
  std::atomic<std::uint64_t> seen = 0;
  parallel_ranges(static_cast<std::int64_t>(words_.size()) / line, 1 << 16,
                  [&](int, std::int64_t begin, std::int64_t end) {
                    std::uint64_t sum = 0;
                    for (std::int64_t i = begin; i < end; ++i)
                      sum += words_[static_cast<std::size_t>(i * line)];
                    seen += sum;
                  });
  seen_ = seen;
}

}  // namespace ako
