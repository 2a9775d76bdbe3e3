// SPDX-License-Identifier: Apache-2.0
// AMD GPU code objects (LLVM, "User Guide for AMDGPU Backend", code object versions 3 to 6).
#pragma once

#include <string_view>

#include "toolchain/code_object/code_object.h"
#include "toolchain/code_object/elf_file.h"

namespace ako {

Result<CodeObject> read_amdgpu(const ElfFile&);

/// The processor that an ELF header's flags name (EF_AMDGPU_MACH): "gfx942"; empty when unknown.
std::string_view amdgpu_processor(std::uint32_t flags);

}  // namespace ako
