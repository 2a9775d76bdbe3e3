// SPDX-License-Identifier: Apache-2.0
// A compiler's and linker's words, made fit for the author of a candidate: the candidate's own file names,
// nothing of ako's wrapper, missing kernels explained, floods cut.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "toolchain/host/wrapper.h"

namespace ako {

struct MessageContext {
  std::vector<std::string>
      hidden_prefixes;  // folders that the author does not know, each with a trailing '/'
  std::vector<KernelSignature> kernels;
  std::size_t most_lines = 60;
};

std::string readable_messages(std::string_view raw, const MessageContext&);
/// What to do about a kernel that the plan launches and no source defines.
std::string missing_kernel(const KernelSignature&);

}  // namespace ako
