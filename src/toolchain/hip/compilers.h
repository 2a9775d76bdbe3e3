// SPDX-License-Identifier: Apache-2.0
// The compilers of this machine that make code for AMD GPUs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/hash.h"

namespace ako {

struct HipCompiler {
  /// clang: links by itself. zig: the clang within zig, which only makes assembly for these targets by
  /// itself; zig's own assembler and linker do the rest. hiprtc: ROCm's run-time compiler.
  enum class Kind : std::uint8_t { clang, zig, hiprtc } kind = Kind::clang;
  std::filesystem::path path;
  std::filesystem::path
      rocm;             // of a ROCm: its HIP headers and device libraries are used; empty: ako's own header
  std::string version;  // "clang version 22.1.8"
  int major = 0;        // of clang
  Hash identity;

  /// gfx942 since clang 17, gfx950 since clang 20 (LLVM's release notes); hipRTC compiles for what its ROCm
  /// knows.
  bool builds(std::string_view target) const;
};

/// $AKO_HIP_CLANG alone if set; else ROCm's clang, then clangs in PATH and ziglang's, the newest first, then
/// hipRTC. Only those that answer.
std::vector<HipCompiler> find_hip_compilers();
Result<HipCompiler> identify_hip_compiler(HipCompiler);

}  // namespace ako
