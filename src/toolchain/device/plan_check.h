// SPDX-License-Identifier: Apache-2.0
// Whether a code object has the kernels that a plan launches, with the parameters that it passes. A launch
// through a driver passes bytes: a kernel that takes an int where the plan passes an int64_t would compute
// nonsense.
#pragma once

#include "toolchain/code_object/code_object.h"
#include "toolchain/host/wrapper.h"

namespace ako {

/// What is wrong with it in a compiler's words, empty when nothing is.
std::string plan_mismatch(const CodeObject&, const std::vector<KernelSignature>&);
/// extern "C" __global__ void softmax(const float* x, float* y, int64_t T, int64_t D)
std::string device_declaration(const KernelSignature&);
/// NVRTC's and clang's messages: without their closing counts, "file.cu(3): error" as "file.cu:3: error".
std::string uniform_messages(std::string_view raw);

}  // namespace ako
