// SPDX-License-Identifier: Apache-2.0
// Reverse-mode differentiation of index notation. Each tensor of the math that depends on a wanted input gets
// a cotangent: the derivative of the sum of outputs weighted by the outputs' own cotangents, which are
// inputs. A read A[s(i, k)] inside E(i) adds to A's cotangent, for every i and k, the cotangent of E's target
// times the derivative of E by that read. Where the subscripts s can be solved for the indices, that is a sum
// over the indices that are left (a gather); where they cannot, as with A[idx[t]], it is an update (a
// scatter).
//
// Conventions where there is no derivative: max, min, relu, clamp and `where` pass everything to the value
// chosen (the first of equals; relu and abs give 0 at 0); rounding to a type passes what it is given; what is
// piecewise constant (floor, sign, comparisons, argmax, int) passes nothing.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "problem/diagnostics.h"
#include "problem/problem.h"

namespace ako {

struct GradientMath {
  Problem problem;                          // the forward problem with more tensors, indices and expressions
  std::vector<Statement> statements;        // what is left of the forward math, then the backward math
  std::map<TensorId, TensorId> cotangents;  // of outputs: inputs of the backward problem
  std::map<TensorId, TensorId> gradients;   // of wanted inputs: its outputs
  std::set<TensorId> scattered;             // temporaries that need a declaration: made by updates
};

/// Mistakes are reported at places of the forward problem's text.
std::optional<GradientMath> differentiate(const Problem& forward, const std::vector<TensorId>& wanted,
                                          Diagnostics& in_forward);

}  // namespace ako
