// SPDX-License-Identifier: Apache-2.0
// A candidate compiled, loaded into this process and given buffers: for benchmarks of kernels that ako wrote
// itself. What anybody else wrote goes through the judge.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernel/candidate.h"
#include "toolchain/toolchain.h"

namespace ako::bench {

/// A tensor's or workspace's memory, aligned to a cache line.
class Buffer {
 public:
  explicit Buffer(std::size_t size);
  std::span<std::byte> bytes() { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_;
};

/// Kernel tensors of one shape, the inputs filled with their declared distributions.
std::vector<Buffer> make_tensors(const Problem&, const Shape&);

class LoadedKernel {
 public:
  static Result<LoadedKernel> load(Toolchain&, const Candidate&, const Problem&, const Shape&,
                                   const TargetFacts&, std::vector<Buffer>& tensors);
  void operator()() {
    for (Call& call : calls_) call.function(call.pointers.data());
  }

 private:
  struct Call {
    void (*function)(void**) = nullptr;
    std::vector<std::array<std::byte, 8>> values;
    std::vector<void*> pointers;
  };
  std::vector<Buffer> workspace_;
  std::vector<Call> calls_;
};

}  // namespace ako::bench
