// SPDX-License-Identifier: Apache-2.0
// A launch plan with a shape bound to it: buffers a device has to hold, launches with sizes and arguments.
#pragma once

#include <vector>

#include "kernel/candidate.h"
#include "target/gpu/device.h"

namespace ako {

struct DeviceBuffer {
  enum class Role : std::uint8_t { input, inout, output, workspace } role = Role::input;
  TensorId tensor = -1;  // but for workspace
  std::string name;
  ScalarType type = ScalarType::f32;
  std::int64_t count = 0;
  Bytes size;
};

struct DeviceArgument {
  int buffer = -1;         // a buffer's address, or
  std::uint64_t bits = 0;  // a value
  std::size_t size = 8;
};

struct DeviceLaunch {
  std::string kernel;
  gpu::LaunchSize size;
  std::vector<DeviceArgument> arguments;
};

struct DevicePlan {
  std::vector<DeviceBuffer> buffers;  // the problem's tensors in kernel_tensors order, then workspace
  std::vector<DeviceLaunch> launches;
  Bytes total() const;
};

/// Errors: the plan does not fit the problem.
Result<DevicePlan> bind_plan(const Problem&, const Shape&, const Candidate&);

}  // namespace ako
