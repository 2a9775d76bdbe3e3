// SPDX-License-Identifier: Apache-2.0
// Kernels for GPUs, CUDA and HIP from the same text: every source is written against
// guest/device/ako_device.h, which makes one dialect of the two. docs/schedules-gpu.md.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kernel/candidate.h"
#include "synth/schedule.h"
#include "target/facts.h"

namespace ako {

/// A device target: "sm_90", "gfx942" …
bool is_gpu(const TargetFacts&);

// --- the fp64 reference on a device -----------------------------------------------------------------------

/// Memory that the reference needs, all of it allocated by whoever launches it.
struct GpuBuffer {
  enum class Role : std::uint8_t {
    input,      // an input or inout tensor in its storage type, as a kernel is given it; never written
    expected,   // an output or inout tensor's values in fp64, not rounded to the declared type
    temporary,  // whatever the steps pass to each other; needs no initial content
  };
  Role role = Role::temporary;
  TensorId tensor = -1;  // input, expected
  std::string name;
  ScalarType type = ScalarType::f64;
  std::int64_t elements = 0;
};

struct GpuArgument {
  enum class Kind : std::uint8_t { buffer, integer, real } kind = Kind::integer;
  std::size_t buffer = 0;    // index into GpuReference::buffers; passed as a pointer
  std::int64_t integer = 0;  // passed as int64_t
  double real = 0;           // passed as double
};

struct GpuStep {
  std::string kernel;
  std::array<std::int64_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::int64_t shared = 0;  // bytes of dynamic shared memory
  std::vector<GpuArgument> arguments;
};

struct GpuReference {
  SourceFile source;  // the same text for every shape of the problem: compiled once
  std::vector<GpuBuffer> buffers;
  std::vector<GpuStep> steps;  // in order, each after the one before has ended
};

/// Every temporary and output in fp64 by plain kernels: deterministic, no atomics, no reassociation that
/// depends on the launch. `shape` is one of the problem's (or smaller than its largest).
Result<GpuReference> gpu_reference_source(const Problem&, const Shape& shape);

}  // namespace ako
