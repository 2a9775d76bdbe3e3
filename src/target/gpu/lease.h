// SPDX-License-Identifier: Apache-2.0
// One judge per device, among all processes and users of a machine: a lock on a file named after the device's
// bus address, which says who holds it. The lock goes with the process that took it, however that ends.
#pragma once

#include <filesystem>

#include "base/files.h"
#include "target/gpu/driver.h"

namespace ako::gpu {

class Lease {
 public:
  /// Error `conflict`: someone else has the device; it names the process, the user and the time.
  static Result<Lease> take(const DeviceInfo&, const std::filesystem::path& folder = lease_folder());
  /// $AKO_LEASE_DIR, else /tmp/ako-devices: shared by everybody here.
  static std::filesystem::path lease_folder();
  /// Who holds the device, in words; empty when nobody does.
  static std::string holder(const DeviceInfo&, const std::filesystem::path& folder = lease_folder());

 private:
  explicit Lease(Descriptor file) : file_(std::move(file)) {}
  Descriptor file_;
};

}  // namespace ako::gpu
