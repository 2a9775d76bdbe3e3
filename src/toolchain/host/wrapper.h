// SPDX-License-Identifier: Apache-2.0
// The uniform entry into a host kernel. For every symbol that a plan launches, a C translation unit of ako's
// own exports `void ako_call_SYMBOL(void** args)`, where args[i] points to the value of argument i: a guest
// can then call any kernel without knowing its types.
#pragma once

#include <string>
#include <vector>

#include "kernel/launch_plan.h"

namespace ako {

struct KernelSignature {
  std::string symbol;
  std::vector<std::string> types;     // C, as passed: "void*", "int64_t", "float" …
  std::vector<std::string> names;     // of the parameters, from the plan's arguments
  std::vector<std::string> declared;  // as an author would declare them: "const float*"
};

/// One for each symbol the plan launches. Error: a symbol is launched with different types.
Result<std::vector<KernelSignature>> signatures(const LaunchPlan&, const Problem&);
/// extern "C" void softmax(const float* x, float* y, int64_t T, int64_t D)
std::string declaration(const KernelSignature&);
/// The C translation unit. It is valid C++ too, when compiled as such.
std::string wrapper_source(const std::vector<KernelSignature>&);

}  // namespace ako
