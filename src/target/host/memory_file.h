// SPDX-License-Identifier: Apache-2.0
// Memory with a descriptor, to be shared with a guest.
#pragma once

#include <cstddef>
#include <span>

#include "base/files.h"
#include "base/units.h"

namespace ako::host {

class MemoryFile {
 public:
  /// All of it is there when this returns (no page is left to be found later, on the clock or out of memory),
  /// and it can neither grow nor shrink.
  static Result<MemoryFile> create(const char* name, Bytes size);
  MemoryFile() = default;
  MemoryFile(MemoryFile&&) noexcept;
  MemoryFile& operator=(MemoryFile&&) noexcept;
  ~MemoryFile();

  /// Whoever gets the descriptor from now on can map it for reading only; our own mapping stays writable.
  Result<void> seal_against_writing();

  int descriptor() const { return descriptor_.get(); }
  std::span<std::byte> bytes() const { return {data_, size_}; }

 private:
  Descriptor descriptor_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace ako::host
