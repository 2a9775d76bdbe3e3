// SPDX-License-Identifier: Apache-2.0
// What a GPU's code object says of itself: its target and, for each kernel, the resources that the hardware
// will set aside for it and the arguments it takes. Read directly from the file; no tool of a vendor is
// needed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "kernel/artifact.h"
#include "toolchain/code_object/occupancy.h"

namespace ako {

struct KernelParameter {
  std::int64_t offset = 0;
  std::int64_t size = 0;
  std::string kind;  // AMD: "global_buffer", "by_value", "hidden_…"; NVIDIA: ""
  bool hidden() const { return kind.starts_with("hidden_"); }
};

/// One kernel. Absent: the file does not say.
struct KernelFacts {
  std::string name;
  std::optional<std::int64_t> registers;     // for each thread: NVIDIA's; AMD: VGPRs and AGPRs as allocated
  std::optional<std::int64_t> vgprs, agprs;  // AMD: of them, architectural and accumulation registers
  std::optional<std::int64_t> sgprs;         // AMD: for each wave
  std::optional<std::int64_t> vgpr_spills, sgpr_spills;  // AMD: values spilled
  std::optional<std::int64_t>
      scratch_bytes;                      // for each thread: spills, stack and arrays that found no register
  std::optional<std::int64_t> lds_bytes;  // for each block: LDS or shared memory, the static part
  std::optional<std::int64_t> kernarg_bytes;
  std::optional<std::int64_t> max_threads;  // of a block
  std::optional<std::int64_t> wave_size;
  std::int64_t code_bytes = 0;
  std::vector<KernelParameter> parameters;  // in order; empty when the file does not describe them
  bool describes_parameters = false;
  /// Where metadata and the kernel descriptor differ: "vgpr_count is 128 in the metadata, 256 in the
  /// descriptor".
  std::vector<std::string> disagreements;

  /// What the occupancy rules want to know, for blocks of max_threads (or `threads`) and `dynamic_lds` bytes
  /// more.
  BlockNeeds needs(std::optional<std::int64_t> threads = std::nullopt, std::int64_t dynamic_lds = 0) const;
};

struct CodeObject {
  TargetId target;     // "gfx942", "sm_90", "sm_90a"
  std::string format;  // "AMD code object version 6", "cubin, ABI version 8"
  std::vector<KernelFacts> kernels;

  const KernelFacts* find(std::string_view kernel) const;
};

/// One member of a file that holds several: an offload bundle of clang's, or a host program with one inside.
struct CodeObjectMember {
  std::string id;  // "hipv4-amdgcn-amd-amdhsa--gfx942", empty for a plain code object
  std::string_view bytes;
};

/// The members of a bundle (`__CLANG_OFFLOAD_BUNDLE__`), of the bundles in a host ELF file's .hip_fatbin
/// section, or the file itself. Empty members are left out. Errors: damaged, compressed (unsupported), or
/// nothing of the kind.
Result<std::vector<CodeObjectMember>> code_object_members(std::string_view file);
/// Reads one code object: AMD GPU or CUDA ELF.
Result<CodeObject> read_code_object(std::string_view bytes);

/// The facts of these kernels, the most demanding of each: "registers", "vgprs", "agprs", "sgprs", "spills",
/// "scratch_bytes", "lds_bytes", "max_threads", "code_bytes", and, the least of each, "waves_per_simd",
/// "blocks_per_cu".
ResourceUse resource_use(const CodeObject&, const std::vector<std::string>& kernels);

}  // namespace ako
