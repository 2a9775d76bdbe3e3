// SPDX-License-Identifier: Apache-2.0
// CUDA C++ for NVIDIA GPUs: NVRTC in a compile guest, else nvcc. No GPU and no driver is needed.
#pragma once

#include "toolchain/cuda/compilers.h"
#include "toolchain/device/device_toolchain.h"

namespace ako {

class CudaToolchain : public DeviceToolchain {
 public:
  /// With this machine's compiler. Error: it, or a file of ako's own, is missing.
  static Result<std::unique_ptr<Toolchain>> find();
  CudaToolchain(CudaCompiler, DeviceToolchainOptions);

  std::string name() const override { return "cuda"; }
  std::string identity() const override;
  /// CUDA for sm_70 and later, with 'a' or 'f' behind the number or without, as far as the compiler knows
  /// them.
  bool builds(Language, const TargetId&) const override;

 protected:
  Language language() const override { return Language::cuda; }
  Result<Recipe> recipe(const Candidate&, const TargetId&, const std::string& unit,
                        const std::string& code) const override;
  Result<void> check_flags(const std::vector<std::string>&) const override;

 private:
  CudaCompiler compiler_;
};

}  // namespace ako
