// SPDX-License-Identifier: Apache-2.0
// Inputs never seen before, quickly.
//
// Every pair of timed batches gets new inputs. Making 16 million normal numbers takes longer than the kernel;
// copying them does not. So large tensors of independent elements are windows into a secret pool, twice the
// tensor's size or more, at a secret offset that is no multiple of the last axis: no address, row or sample
// of content comes back. Small tensors and those with structure (sorted, permutations, offsets) are generated
// anew.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "base/random.h"
#include "judge/layout.h"
#include "problem/inputs.h"

namespace ako {

class FreshInputs {
 public:
  FreshInputs(const Problem&, const Shape&, const Layout&, std::uint64_t seed);

  /// New values for one slot's inputs, and initial values for its inouts (kept here until load_inouts).
  void refresh(host::SharedBuffers* inputs, int slot);
  /// As refresh, in a given style by (seed, stream): for checks, which are replayable.
  void generate(host::SharedBuffers* inputs, int slot, InputStyle, std::uint64_t seed, std::uint64_t stream);
  /// Copies the slot's initial values into one side's inouts; to be called before every launch.
  void load_inouts(host::SharedBuffers& outputs, int slot);
  /// Storage of inputs and inouts in kernel_tensors order: what Reference::evaluate wants.
  std::vector<std::span<const std::byte>> storage(host::SharedBuffers* inputs, int slot);

 private:
  struct Pool {
    std::vector<std::byte> bytes;
    std::int64_t offsets = 0;  // allowed offsets, in units
    std::int64_t unit = 1;     // bytes of the smallest piece that starts at a byte boundary
  };
  void refresh_tensor(const TensorBuffer&, std::span<std::byte> target);
  Pool make_pool(const TensorBuffer&);
  std::span<std::byte> place(const TensorBuffer&, host::SharedBuffers* inputs, int slot);

  const Problem& problem_;
  const Shape& shape_;
  const Layout& layout_;
  std::uint64_t seed_, stream_ = 1ull << 32;  // apart from the streams of checks
  Random random_;
  std::map<TensorId, Pool> pools_;
  std::map<int, std::vector<std::vector<std::byte>>> initial_;  // slot → inout → storage
};

}  // namespace ako
