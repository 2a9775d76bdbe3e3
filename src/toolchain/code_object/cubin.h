// SPDX-License-Identifier: Apache-2.0
// CUDA code objects. NVIDIA does not document their format; what is read here is what `cuobjdump -elf` prints
// by name (sections .nv.info and .nv.info.KERNEL, attributes EIATTR_…) and what LLVM's ELF.h says of the
// header's flags.
#pragma once

#include "toolchain/code_object/code_object.h"
#include "toolchain/code_object/elf_file.h"

namespace ako {

Result<CodeObject> read_cubin(const ElfFile&);

}  // namespace ako
