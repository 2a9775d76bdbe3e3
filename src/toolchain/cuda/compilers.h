// SPDX-License-Identifier: Apache-2.0
// The CUDA compilers of this machine.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/hash.h"
#include "toolchain/device/device_toolchain.h"

namespace ako {

struct CudaCompiler {
  enum class Kind : std::uint8_t { nvrtc, nvcc } kind = Kind::nvrtc;
  std::filesystem::path path;                   // libnvrtc.so.13, or bin/nvcc
  std::string version;                          // "NVRTC 13.5", "nvcc 13.5"
  std::vector<std::filesystem::path> includes;  // the toolkit's headers, where they are there
  std::vector<std::filesystem::path> readable;  // what a guest must see to run it
  std::vector<int> architectures;               // 75, 80, …; empty: it does not tell
  Hash identity;
};

/// Folders that may hold a CUDA toolkit (bin/, lib/ or lib64/, include/): $AKO_CUDA alone if set, else
/// NVIDIA's Python wheels, $CUDA_HOME, $CUDA_PATH, /usr/local/cuda*, /usr.
std::vector<std::filesystem::path> cuda_folders();
/// The first NVRTC, else the first nvcc that answers. The error says what to install.
Result<CudaCompiler> find_cuda_compiler(const DeviceToolchainOptions&);
/// Those of one folder, NVRTC before nvcc; asked nothing yet.
std::vector<CudaCompiler> cuda_compilers_in(const std::filesystem::path& folder);
/// Asks it for its version, NVRTC in a guest.
Result<CudaCompiler> identify(CudaCompiler, const DeviceToolchainOptions&);

}  // namespace ako
