// SPDX-License-Identifier: Apache-2.0
// A GPU for tests: the stand-in HIP library (tests/target/standin_hip) as a driver, and a compiler that makes
// its code objects of sources in the dialect of ako_device.h.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/files.h"
#include "target/gpu/device.h"
#include "toolchain/toolchain.h"

namespace ako::testing {

/// The stand-in as a driver; the same in every test of a program.
const gpu::Driver& standin_driver();
gpu::DeviceInfo standin_device();
/// Forgets a fault, as a new process would.
void reset_standin();

/// Shared objects instead of code objects. Every kernel of a source gets its function launch_NAME.
class StandinToolchain : public Toolchain {
 public:
  StandinToolchain();
  std::string name() const override { return "stand-in"; }
  std::string identity() const override { return "stand-in"; }
  bool builds(Language language, const TargetId& target) const override {
    return language == Language::hip && target == "gfx942";
  }
  Result<BuildResult> build(const Candidate&, const Problem&, const TargetFacts&) override;

 private:
  TemporaryFolder folder_;
};
/// What build() compiles, as bytes.
Result<std::string> standin_image(const std::string& source);

}  // namespace ako::testing
