// SPDX-License-Identifier: Apache-2.0
// Which compiler flags a C++ candidate may add. A list of what is allowed, for a compiler has far too many
// that read, write or run files to list what is not.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace ako {

/// Code generation and arithmetic only; nothing that names a file, a program or a macro.
bool is_allowed_flag(std::string_view flag);
/// The first flag that is not allowed, as an error whose advice lists those that are.
Result<void> check_flags(std::span<const std::string> flags);
/// What every C++ candidate is compiled with; the candidate's own flags come after it and so win.
std::vector<std::string> base_flags(bool for_clang);

}  // namespace ako
