// SPDX-License-Identifier: Apache-2.0
// Compilers that come as Python packages: NVIDIA's wheels, ziglang.
#pragma once

#include <filesystem>
#include <vector>

namespace ako {

/// The site-packages folders of the active virtual environment, of the python3 in PATH, and of the user;
/// those that are there, in this order. No Python is run.
std::vector<std::filesystem::path> python_package_folders();

}  // namespace ako
