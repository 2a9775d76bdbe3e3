// SPDX-License-Identifier: Apache-2.0
// One side's memory on one shape: outputs and workspace of its own, attached together with the shared inputs.
#pragma once

#include <optional>
#include <span>

#include "judge/judged.h"
#include "judge/layout.h"

namespace ako {

class SideBuffers {
 public:
  static Result<SideBuffers> create(const Problem&, const Shape&, const Candidate&, const Layout&, int slots);

  /// Maps `inputs` (null when the problem has none), outputs and workspace into the guest at fresh addresses.
  Judged<void> attach(host::RunGuest&, host::SharedBuffers* inputs, Side, const std::string& stage,
                      const std::string& shape, const host::GuestOptions&);
  /// Every bit of outputs and workspace set: NaN in every float type. The guest must be frozen.
  void poison(std::span<const int> slots);
  /// Words for what was damaged around a slot's buffers, or nothing.
  std::optional<std::string> damage(int slot) const;
  host::SharedBuffers& outputs() { return outputs_; }
  Bytes total() const;

 private:
  SideBuffers(host::SharedBuffers outputs, std::optional<host::SharedBuffers> workspace,
              std::vector<host::GuestLaunch> launches)
      : outputs_(std::move(outputs)), workspace_(std::move(workspace)), launches_(std::move(launches)) {}
  void poison_group(host::SharedBuffers&, std::span<const int> slots);

  host::SharedBuffers outputs_;
  std::optional<host::SharedBuffers> workspace_;
  std::vector<host::GuestLaunch> launches_;
  bool surroundings_poisoned_ = false;
};

/// The inputs' group, or nothing when the problem has no inputs.
Result<std::optional<host::SharedBuffers>> create_inputs(const Layout&, int slots);

}  // namespace ako
