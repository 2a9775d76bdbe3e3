// SPDX-License-Identifier: Apache-2.0
// HIP C++ for AMD Instinct GPUs by the best clang that is there, with ROCm's headers and device libraries or
// without: then ako_device.h and the few words of HIP in guest/device/hip_alone serve.
#pragma once

#include "toolchain/device/device_toolchain.h"
#include "toolchain/hip/compilers.h"

namespace ako {

class HipToolchain : public DeviceToolchain {
 public:
  /// With this machine's compilers. Error: there is none, or a file of ako's own is missing.
  static Result<std::unique_ptr<Toolchain>> find();
  /// `compilers` in the order of preference; the first that knows a target builds for it.
  HipToolchain(std::vector<HipCompiler> compilers, DeviceToolchainOptions);

  std::string name() const override { return "hip"; }
  std::string identity() const override;
  bool builds(Language, const TargetId&) const override;

 protected:
  Language language() const override { return Language::hip; }
  Result<Recipe> recipe(const Candidate&, const TargetId&, const std::string& unit,
                        const std::string& code) const override;
  Result<void> check_flags(const std::vector<std::string>&) const override;

 private:
  const HipCompiler* compiler_for(std::string_view target) const;
  std::vector<std::string> clang_options(const HipCompiler&, const Candidate&, const TargetId&) const;

  std::vector<HipCompiler> compilers_;
};

}  // namespace ako
