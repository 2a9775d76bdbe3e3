// SPDX-License-Identifier: Apache-2.0
// Input values by seed: the same bits on every machine (integer arithmetic and correctly rounded +,* only).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "problem/problem.h"

namespace ako {

/// How a check asks for values: `declared` is the problem file's distribution; the others keep its range
/// where the distribution has one (indices stay indices) and otherwise probe what kernels get wrong.
enum class InputStyle : std::uint8_t {
  declared,
  large_offset,   // declared + a large common offset per row: catches one-pass variance, unstabilized exp
  tiny,           // scaled near the smallest normal of the type, some denormals
  zeros,          // all zero (integers: the lowest allowed)
  constant_rows,  // one value along the last axis
  mixed_scale,  // declared times 2^k, k varying by element over the range that the type and problem can bear
  spikes,       // a few very large elements among small ones
};
std::string_view name_of(InputStyle);

/// The styles that may make sense for this problem, judged from its math and its inputs' distributions: a
/// superset of those under which the fp64 reference is finite. Who checks a kernel drops a style whose
/// reference has a value that is not finite, or that the output's type cannot hold. Always holds `declared`,
/// first.
std::vector<InputStyle> check_styles(const Problem&);

/// Fills `bytes` with a tensor's storage. `seed` is secret to candidates; `stream` separates tensors and
/// launches. Uses all cores for large tensors (or `threads` of them); the result does not depend on how many.
/// `bytes` holds at least storage_bytes of the tensor; values are rounded to its type, so that a uniform
/// value may round to the upper end of its range.
void generate_input(const Problem&, TensorId, const Shape&, InputStyle, std::uint64_t seed,
                    std::uint64_t stream, std::span<std::byte> bytes, int threads = 0);

}  // namespace ako
