// SPDX-License-Identifier: Apache-2.0
// Does the function that a source defines take what the plan passes? C linkage forgets types, so that neither
// compiler nor linker tells; a kernel called with other arguments than it declares only crashes. This reads
// the source's text and speaks up where it is sure: types that it does not know (macros, aliases) pass.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernel/candidate.h"
#include "toolchain/host/wrapper.h"

namespace ako {

struct Definition {
  std::string file;
  int line = 0;
  std::vector<std::string> parameters;  // as written: "const float* x"
};
/// The one definition `void SYMBOL(…) {` in the sources; nullopt when there is none, or several that differ.
std::optional<Definition> find_definition(std::span<const SourceFile>, const std::string& symbol);

/// "error: …" with the place, both signatures and the plan's arguments; nullopt: they fit, as far as can be
/// told.
std::optional<std::string> signature_mismatch(const KernelSignature&, const Definition&);

}  // namespace ako
