// SPDX-License-Identifier: Apache-2.0
#include "toolchain/device/python_packages.h"

#include <algorithm>
#include <cstdlib>

#include "base/subprocess.h"

namespace ako {
namespace fs = std::filesystem;
namespace {

/// PREFIX/lib/python3.*/site-packages and Debian's dist-packages, the newest Python first.
void add_packages_of(const fs::path& prefix, std::vector<fs::path>& out) {
  std::vector<fs::path> versions;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(prefix / "lib", code))
    if (entry.path().filename().string().starts_with("python3")) versions.push_back(entry.path());
  std::sort(versions.rbegin(), versions.rend());
  for (const fs::path& version : versions)
    for (const char* name : {"site-packages", "dist-packages"})
      if (fs::path folder = version / name;
          fs::is_directory(folder, code) && std::find(out.begin(), out.end(), folder) == out.end())
        out.push_back(folder);
}

}  // namespace

std::vector<fs::path> python_package_folders() {
  std::vector<fs::path> folders;
  if (const char* environment = std::getenv("VIRTUAL_ENV"); environment && *environment)
    add_packages_of(environment, folders);
  if (auto python = find_program("python3")) {
    add_packages_of(python->parent_path().parent_path(), folders);
    std::error_code code;
    if (fs::path real = fs::canonical(*python, code); !code)
      add_packages_of(real.parent_path().parent_path(), folders);
  }
  if (const char* home = std::getenv("HOME"); home && *home)
    add_packages_of(fs::path(home) / ".local", folders);
  return folders;
}

}  // namespace ako
