// SPDX-License-Identifier: Apache-2.0
#include "toolchain/code_object/occupancy.h"

#include <algorithm>
#include <array>

namespace ako {
namespace {

/// What one compute unit or multiprocessor has.
struct Unit {
  std::string_view target;
  std::int64_t wave;
  std::int64_t simds;  // waves are dealt out to them and stay
  std::int64_t waves_per_simd;
  std::int64_t registers_per_simd;                    // for each lane of a wave: AMD; in all: NVIDIA
  std::int64_t register_granule;                      // for each lane: AMD; for each wave: NVIDIA
  std::int64_t lds_bytes, lds_granule, lds_reserved;  // reserved: of each block, by the driver
  std::int64_t blocks;
};

// AMD: LLVM, "User Guide for AMDGPU Backend" and SIInstrInfo's occupancy rules: 512 registers a lane in
// granules of 8, 8 waves a SIMD; at most 16 blocks of several waves. NVIDIA: CUDA C++ Programming Guide,
// technical specifications by compute capability; registers are given to warps by 256, 1 KiB of shared memory
// belongs to the system.
constexpr Unit known_units[] = {
    {"gfx90a", 64, 4, 8, 512, 8, 65536, 512, 0, 16},
    {"gfx942", 64, 4, 8, 512, 8, 65536, 512, 0, 16},
    {"gfx950", 64, 4, 8, 512, 8, 163840, 1280, 0, 16},
    {"sm_80", 32, 4, 16, 16384, 256, 167936, 128, 1024, 32},
    {"sm_86", 32, 4, 12, 16384, 256, 102400, 128, 1024, 16},
    {"sm_89", 32, 4, 12, 16384, 256, 102400, 128, 1024, 24},
    {"sm_90", 32, 4, 16, 16384, 256, 233472, 128, 1024, 32},
};

std::int64_t round_up(std::int64_t n, std::int64_t granule) { return (n + granule - 1) / granule * granule; }

std::int64_t waves_by_registers(const Unit& unit, const BlockNeeds& needs) {
  bool amd = unit.target.starts_with("gfx");
  std::int64_t each = amd ? round_up(std::max<std::int64_t>(needs.registers, 1), unit.register_granule)
                          : round_up(needs.registers * unit.wave, unit.register_granule);
  std::int64_t waves = each == 0 ? unit.waves_per_simd : unit.registers_per_simd / each;
  // 800 scalar registers a SIMD in granules of 16 (GFX9).
  if (amd && needs.sgprs > 0) waves = std::min(waves, 800 / round_up(needs.sgprs, 16));
  return std::min(waves, unit.waves_per_simd);
}

}  // namespace

std::optional<Occupancy> occupancy(std::string_view target, const BlockNeeds& needs) {
  if (target.starts_with("sm_") && (target.ends_with('a') || target.ends_with('f'))) target.remove_suffix(1);
  auto unit = std::find_if(std::begin(known_units), std::end(known_units),
                           [&](const Unit& each) { return each.target == target; });
  if (unit == std::end(known_units)) return std::nullopt;
  std::int64_t waves =
      std::max<std::int64_t>(1, (needs.threads + unit->wave - 1) / unit->wave);  // of a block
  std::int64_t by_registers = waves_by_registers(*unit, needs);
  std::int64_t lds = needs.lds_bytes + unit->lds_reserved;

  struct Limit {
    std::string_view name;
    std::int64_t blocks;
  };
  std::array<Limit, 4> limits = {{
      {"wave slots", unit->simds * unit->waves_per_simd / waves},
      {"registers", unit->simds * by_registers / waves},
      {"LDS",
       lds > 0 ? unit->lds_bytes / round_up(lds, unit->lds_granule) : unit->simds * unit->waves_per_simd},
      {"block slots", waves > 1 || unit->wave == 32 ? unit->blocks : unit->simds * unit->waves_per_simd},
  }};
  auto least = std::min_element(limits.begin(), limits.end(),
                                [](const Limit& a, const Limit& b) { return a.blocks < b.blocks; });
  Occupancy result;
  result.blocks_per_unit = least->blocks;
  result.most_waves_per_simd = unit->waves_per_simd;
  result.waves_per_simd =
      std::min(by_registers, (result.blocks_per_unit * waves + unit->simds - 1) / unit->simds);
  result.limited_by = least->name;
  return result;
}

}  // namespace ako
