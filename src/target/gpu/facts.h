// SPDX-License-Identifier: Apache-2.0
// What is known of a GPU as a target: from its driver's attributes, from data sheets, measured.
#pragma once

#include "target/facts.h"
#include "target/gpu/device.h"

namespace ako::gpu {

/// Attributes and peaks; with bandwidths, when they were measured on this device before
/// (data_folder()/facts/gpu-NAME-BUS.json).
TargetFacts look_up(const DeviceInfo&);
/// Measures how fast memory is copied, in about 50 ms, and keeps it. Roofs are limits: an earlier, higher
/// measurement stands.
Driven<TargetFacts> measure(Device&);

/// Of a target without a device: what the data sheet of its best-known product says. Enough to derive
/// schedules and write kernels; nothing of it was measured. Error: unsupported, with the targets that are
/// known.
Result<TargetFacts> sheet_facts(const TargetId&);

/// Every device that a driver here shows; errors are what each driver that is not there says.
struct Found {
  std::vector<std::unique_ptr<Driver>> drivers;
  struct One {
    const Driver* driver = nullptr;
    DeviceInfo info;
  };
  std::vector<One> devices;
  std::vector<Error> missing;
};
Found find_devices();
/// The devices of `found` that are this target ("sm_90", "gfx942"); a target named like "sm_90a" is its
/// base's.
std::vector<Found::One> devices_of(const Found&, const TargetId&);
/// Why there is none: what is here instead, what each driver says, and what to do.
Error no_device(const Found&, const TargetId&);
/// Facts of the first such device here, else sheet_facts().
Result<TargetFacts> facts_of(const TargetId&);

}  // namespace ako::gpu
