// SPDX-License-Identifier: Apache-2.0
// The inside of SharedBuffers, for run_guest.cpp.
#pragma once

#include "target/host/memory_file.h"
#include "target/host/run_guest.h"

namespace ako::host {

/// Kernels may rely on buffers that start at a multiple of this many bytes.
constexpr std::int64_t kBufferAlignment = 64;

/// One buffer of one slot: whole pages of one of the two files, the payload at one end of them.
struct Segment {
  std::int64_t offset = 0;   // in its file
  std::int64_t bytes = 0;    // whole pages
  std::int64_t payload = 0;  // where the buffer starts, from `offset`
  std::int64_t size = 0;     // of the buffer
  Access access = Access::read_only;
};

/// `offset` is left 0. Odd slots start at a page, so that what comes before faults; even slots end at one, or
/// within the last 64 bytes before it when the size is no multiple of the alignment.
Segment segment_for(const BufferSpec&, int slot);

/// What SharedBuffers holds.
struct BufferMemory {
  std::vector<BufferSpec> specs;
  int slots = 0;
  std::vector<Segment> segments;  // slot by slot
  MemoryFile read_only, read_write;

  const Segment& segment(int slot, std::size_t buffer) const {
    return segments[static_cast<std::size_t>(slot) * specs.size() + buffer];
  }
  std::span<std::byte> pages(const Segment& segment) const {
    const MemoryFile& file = segment.access == Access::read_only ? read_only : read_write;
    return file.bytes().subspan(static_cast<std::size_t>(segment.offset),
                                static_cast<std::size_t>(segment.bytes));
  }
};

struct SharedBuffers::State : BufferMemory {};

}  // namespace ako::host
