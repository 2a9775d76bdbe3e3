// SPDX-License-Identifier: Apache-2.0
// Kernels for GPUs run on this machine's processor: many sources, compiled as one library of plain C++
// against the device header's emulation, each run on memory that ends at a guard page and compared with the
// fp64 reference.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "synth/gpu/gpu.h"

namespace ako::testing {

/// An imaginary GPU: "sm_90" or "gfx942", with as few compute units as make grids interesting.
TargetFacts gpu_target(const std::string& id);

/// Every problem of problems/ whose reference is its math.
std::vector<Problem> shipped_problems();

class Emulated {
 public:
  explicit Emulated(int wave);
  ~Emulated();
  /// Sources to compile, by a number of their own.
  std::size_t add(const std::string& source, const LaunchPlan&);
  std::size_t add(const GpuReference&);
  /// Compiles them all. Returns the compiler's trouble, or nothing.
  std::string compile();

  /// Runs a candidate on a shape and compares; nothing when it agrees. `order`: in which threads take turns.
  std::string check(std::size_t which, const Problem&, const Shape&, const Candidate&, int order);
  /// Runs the reference meant for devices and compares it with the host's.
  std::string check(std::size_t which, const Problem&, const Shape&, const GpuReference&);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Those of a problem's shapes on which emulation takes milliseconds.
std::vector<Shape> small_shapes(const Problem&, double most_operations);

}  // namespace ako::testing
