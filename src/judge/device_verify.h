// SPDX-License-Identifier: Apache-2.0
// Are a launch's outputs right? Against fp64, or against the incumbent's on the same inputs.
#pragma once

#include "judge/compare.h"
#include "judge/device_reference.h"
#include "judge/judged.h"

namespace ako {

class DeviceVerifier {
 public:
  DeviceVerifier(const Problem& problem, const Shape& shape) : problem_(problem), shape_(shape) {}

  struct Finding {
    bool dropped = false;  // the fp64 reference is not finite: the style says nothing
    double error_db = 0;   // of the worst output
  };
  /// Outputs that came whole, against expected values.
  Judged<Finding> against_truth(const DevicePlan&, const std::vector<SeenOutput>&, const ExpectedValues&,
                                InputStyle, bool when_timed);
  /// Two launches on the same inputs, their outputs whole or as projections under one key.
  Judged<void> against_each_other(const DevicePlan&, const std::vector<SeenOutput>& trusted,
                                  const std::vector<SeenOutput>& got) const;

 private:
  Wrong explain(const DeviceBuffer&, const Bounds&, const OutputCheck&, std::span<const double> expected,
                std::span<const std::byte> got) const;

  const Problem& problem_;
  const Shape& shape_;
  std::map<TensorId, double> declared_rms_;
};

/// What two projections say of the outputs: an upper bound on the noise, with a chance below 1e-9 to exceed
/// what really is there by more than the slack it allows itself.
OutputCheck compare_sketches(ScalarType, const Bounds&, std::int64_t count, const Sketch& trusted,
                             const Sketch& got);

}  // namespace ako
