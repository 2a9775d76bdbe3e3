// SPDX-License-Identifier: Apache-2.0
// What a guest is told at attach: where to map every buffer, and the argument values of every launch and
// slot. The judge draws the addresses, so it knows what a faulting address was near to.
#pragma once

#include "base/random.h"
#include "target/host/run_guest_buffers.h"

namespace ako::host {

/// A buffer of one slot as the guest sees it.
struct Region {
  std::uint64_t begin = 0, end = 0;  // of the payload
  std::string_view name;             // the group's
  int slot = 0;
  bool writable = false;
};

struct AttachPlan {
  std::vector<std::byte> bytes;  // guest::Plan and what follows it
  std::vector<int> files;        // descriptors of the mappings; file 0, the plan, is not among them
  std::vector<Region> regions;   // by address
  int slots = 0;
  std::uint64_t begin = 0, end = 0;  // the reservation
};

/// `symbols`: what the guest has loaded, in its order. Addresses differ with every call.
Result<AttachPlan> plan_attach(std::span<const BufferMemory* const> groups,
                               std::span<const GuestLaunch> launches, std::span<const std::string> symbols,
                               Random& random);

}  // namespace ako::host
