// SPDX-License-Identifier: Apache-2.0
// What a run guest may load: the C and C++ runtime and OpenMP, file by file. A kernel that needs another
// library is not a kernel.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace ako::host {

std::vector<std::filesystem::path> runtime_libraries();
/// "libm.so.6" where the dynamic loader finds it without being told: in the system's folders.
std::optional<std::filesystem::path> find_shared_library(std::string_view name);

}  // namespace ako::host
