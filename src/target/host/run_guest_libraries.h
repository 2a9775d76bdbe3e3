// SPDX-License-Identifier: Apache-2.0
// What a run guest may load: the C and C++ runtime and OpenMP, file by file. A kernel that needs another
// library is not a kernel.
#pragma once

#include <filesystem>
#include <vector>

namespace ako::host {

std::vector<std::filesystem::path> runtime_libraries();

}  // namespace ako::host
