// SPDX-License-Identifier: Apache-2.0
// How many waves of a kernel a compute unit (AMD) or multiprocessor (NVIDIA) holds at once, and what limits
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ako {

struct BlockNeeds {
  std::int64_t threads = 1;
  std::int64_t registers = 0;  // for each thread; AMD: VGPRs and AGPRs
  std::int64_t sgprs = 0;      // for each wave; AMD
  std::int64_t lds_bytes = 0;  // static and dynamic
};

struct Occupancy {
  std::int64_t waves_per_simd = 0;   // with as many blocks as fit
  std::int64_t blocks_per_unit = 0;  // 0: it does not fit at all
  std::int64_t most_waves_per_simd = 0;
  std::string limited_by;  // "registers", "LDS", "block slots", "wave slots"
};

/// nullopt for targets whose limits are not known here.
std::optional<Occupancy> occupancy(std::string_view target, const BlockNeeds&);

}  // namespace ako
