// SPDX-License-Identifier: Apache-2.0
// Problems made from other problems: `derive: {of: rmsnorm, gradients: [x, w]}` stands for the file that
// someone would write by hand for rmsnorm's backward pass, and is replaced by it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "problem/document.h"
#include "problem/problem.h"

namespace ako {

/// The file that `of` names: a path beside the deriving file, or the name of a problem there or of a shipped
/// one.
Result<std::filesystem::path> derived_from(const Document::Derive&, const std::filesystem::path& deriving);

/// The text of a complete problem file. Mistakes of the request go to `here`, those that lie in the forward
/// problem's math to `in_forward`.
std::optional<std::string> derived_text(const Document&, const Problem& forward, Diagnostics& here,
                                        Diagnostics& in_forward);

}  // namespace ako
