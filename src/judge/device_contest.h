// SPDX-License-Identifier: Apache-2.0
// Checking and timing on a device: what check.h and contest_timing.h are for the host.
#pragma once

#include <functional>
#include <stop_token>

#include "judge/check.h"
#include "judge/decision.h"
#include "judge/device_verify.h"
#include "judge/noise.h"
#include "target/facts.h"

namespace ako {

/// One kernel under judgement: its plan's source and its code object.
struct DeviceContender {
  const Candidate& candidate;
  std::span<const std::byte> image;
  Side side = Side::candidate;
};

/// What both stages need of their surroundings.
struct DeviceBench {
  gpu::Device& device;
  DeviceKernels& kernels;
  DeviceLandings& landings;
  DeviceReference& reference;
  const Problem& problem;
  const TargetFacts& facts;
  const JudgeClient::Progress& progress;
  std::stop_token stop;
  Spent& spent;
  std::vector<std::string>& notes;
  bool& context_lost;  // set by a fault after which this process is to be replaced
};

struct DeviceChecked {
  double error_db = 0;
  Microseconds launch{0};  // the shortest
};

/// A contender loaded anew: device variables have their initial values.
Judged<DeviceProgram> load_program(DeviceBench&, const DeviceContender&, const Shape&);
Judged<DeviceChecked> check_on_device(DeviceBench&, const DeviceContender&, const Shape&, std::uint64_t seed,
                                      bool alone);

struct DeviceTimingRequest {
  std::vector<std::pair<const Shape*, DeviceChecked>> shapes;
  Effort effort = Effort::decide;
  Seconds budget{20}, limit{0};
  std::uint64_t seed = 0;
  const Noise& noise;
};
struct DeviceTimed {
  std::vector<ShapeTiming> timings;
  std::optional<Comparison> comparison;
};
/// `incumbent`: null, the candidate is timed alone.
Judged<DeviceTimed> time_on_device(DeviceBench&, const DeviceContender& candidate,
                                   const DeviceContender* incumbent, const DeviceTimingRequest&);

/// What a fault means for whoever launched; notes whether the context is lost.
Outcome outcome_of(const gpu::Fault&, Side, const std::string& stage, const std::string& shape,
                   bool& context_lost);

}  // namespace ako
