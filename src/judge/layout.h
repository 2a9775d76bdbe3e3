// SPDX-License-Identifier: Apache-2.0
// A problem's tensors on one shape as buffers a guest is given: inputs in one sealed group that candidate and
// incumbent share, outputs and inouts in a group of each side's own, the launch plan's workspace in another.
#pragma once

#include <optional>
#include <vector>

#include "kernel/candidate.h"
#include "problem/problem.h"
#include "target/host/run_guest.h"

namespace ako {

struct TensorBuffer {
  TensorId tensor = -1;
  ScalarType type = ScalarType::f32;
  std::vector<std::int64_t> extents;
  std::int64_t count = 0;  // elements
  Bytes size;
  TensorRole role = TensorRole::input;
  std::size_t buffer = 0;  // within its group
  std::size_t inout = 0;   // role inout: its position among them
};

struct Layout {
  std::vector<TensorBuffer> tensors;      // kernel_tensors order
  std::vector<host::BufferSpec> inputs;   // read-only group; may be empty
  std::vector<host::BufferSpec> outputs;  // outputs and inouts
  Bytes slot_inputs, slot_outputs;        // of one launch

  int output_group() const { return inputs.empty() ? 0 : 1; }
  int workspace_group() const { return output_group() + 1; }
};
Layout lay_out(const Problem&, const Shape&);

Result<std::vector<host::BufferSpec>> workspace_specs(const Problem&, const Shape&, const Candidate&);
/// The candidate's launches with its arguments bound to the layout's buffers.
Result<std::vector<host::GuestLaunch>> guest_launches(const Problem&, const Shape&, const Candidate&,
                                                      const Layout&);

}  // namespace ako
