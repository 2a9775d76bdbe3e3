// SPDX-License-Identifier: Apache-2.0
// What an input style does to the values that a distribution made.
#pragma once

#include <optional>
#include <span>

#include "problem/inputs.h"
#include "problem/random_values.h"

namespace ako {

/// What a style must know of a distribution.
struct ValueTraits {
  bool numbers = true;            // real values to compute with; false: indices, counts and the like
  double center = 0, spread = 1;  // where most values lie
  std::optional<double> low = std::nullopt, high = std::nullopt;  // the range not to leave, both or neither
  double nearest_zero() const;
};

/// Rewrites the declared values of elements first, first + 1, … of rows that are `row_length` long. Leaves
/// those of constant_rows alone, which are made so from the start.
void apply_style(InputStyle, ScalarType, const ValueTraits&, const WordSequence&, std::uint64_t first,
                 std::uint64_t row_length, std::span<double> values);

}  // namespace ako
