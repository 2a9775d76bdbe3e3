// SPDX-License-Identifier: Apache-2.0
// What a problem costs at least: operations counted from the math, bytes that any kernel must move.
#pragma once

#include "problem/problem.h"

namespace ako {

struct Cost {
  double flops = 0;           // adds, multiplies, divides, comparisons of reals: one each
  double transcendental = 0;  // exp, log, tanh, erf …: counted apart, also one each in `flops`
  double contraction_flops =
      0;             // the part of flops that multiply-accumulates of a contraction make (matrix units)
  Bytes compulsory;  // every input element that is used read once, every output element written once
  double intensity() const {
    return compulsory.count > 0 ? flops / static_cast<double>(compulsory.count) : 0;
  }
};

/// `x or 0` reads, gathers and triangular conditions are counted as the math says (a causal sum counts half).
Cost cost_of(const Problem&, const Shape&);

enum class Pattern : std::uint8_t {
  elementwise,    // every output element from O(1) input elements, same or permuted indices
  row_reduction,  // reductions over trailing axes, results combined with the row: softmax, layernorm
  contraction,    // one sum of a product of two tensors that share the summed index and differ in others
  attention,      // contraction, softmax over its result, contraction
  grouped_contraction,  // contraction whose operand is chosen by a gathered group index or ragged offsets
  scan,                 // prefix forms or recurrences
  other,
};
std::string_view name_of(Pattern);
Pattern pattern_of(const Problem&);

}  // namespace ako
