// SPDX-License-Identifier: Apache-2.0
// A guest with one of the candidates under tests/guests, buffers x and y of n floats, and y = twice(x) to
// check.
#pragma once

#include <string>
#include <vector>

#include "target/host/run_guest.h"

namespace ako::host {

/// tests/guests/NAME.cpp, compiled.
Result<Artifact> guest_artifact(const std::string& name);

struct GuestRun {
  explicit GuestRun(std::int64_t length = 1000, int slot_count = 4);

  /// Starts the candidate and attaches the buffers. False: `fault` says why.
  bool start(const std::string& name, const GuestOptions& options = {});
  /// Poisons y and runs. False: `fault` says why.
  bool run(const std::vector<int>& slots);
  /// Starts and runs on slots 0 and 1.
  bool complete(const std::string& name, const GuestOptions& options = {});
  bool doubled(int slot);

  std::int64_t n;
  int slots;
  SharedBuffers inputs, outputs;
  std::optional<RunGuest> guest;
  GuestFault fault;
  BatchTime time;
};

}  // namespace ako::host
