// SPDX-License-Identifier: Apache-2.0
#include "target/host/run_guest_libraries.h"

namespace ako::host {

namespace fs = std::filesystem;

namespace {

constexpr const char* library_folders[] = {
    "/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib",
    "/usr/local/lib64"};

}  // namespace

std::vector<fs::path> runtime_libraries() {
  constexpr const char* names[] = {
      "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "libc.so.6",      "libm.so.6",
      "libmvec.so.1",         "libgcc_s.so.1",         "libstdc++.so.6", "libgomp.so.1",
      "libomp.so.5",          "libpthread.so.0",       "libdl.so.2",     "librt.so.1"};
  std::vector<fs::path> found;
  for (const char* name : names)
    for (const char* folder : library_folders) {
      std::error_code code;
      fs::path path = fs::path(folder) / name;
      if (fs::exists(path, code)) found.push_back(path);
    }
  return found;
}

std::optional<fs::path> find_shared_library(std::string_view name) {
  for (const char* folder : library_folders) {
    std::error_code code;
    fs::path path = fs::path(folder) / name;
    if (fs::exists(path, code)) return path;
  }
  return std::nullopt;
}

}  // namespace ako::host
