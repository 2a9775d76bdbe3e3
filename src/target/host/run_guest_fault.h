// SPDX-License-Identifier: Apache-2.0
// What a guest died of, for people. The kind follows from how it ended, which the judge saw itself; the
// guest's own sighting of the fault only explains it.
#pragma once

#include "../../../guest/host_protocol.h"
#include "target/host/run_guest_plan.h"

namespace ako::host {

struct LastWords {
  guest::Sighting sighting;
  bool memory_short = false;
  std::span<const Region> regions;   // by address
  std::uint64_t begin = 0, end = 0;  // the reservation they lie in
  Bytes memory_limit;
  bool withdrawn = false;  // buffers were taken away as launches returned
};

GuestFault explain_end(const Exit&, const LastWords&);

/// "writing 4 bytes after the end of y (slot 3)"; empty when the address is near no buffer.
std::string place_of(std::uint64_t address, bool writing, std::span<const Region> regions);

}  // namespace ako::host
