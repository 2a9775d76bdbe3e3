// SPDX-License-Identifier: Apache-2.0
// Forms in the math that kernels are built around.
#pragma once

#include <vector>

#include "problem/problem.h"

namespace ako {

/// A sum whose body is a product in which two tensors share a summed index and each has an index of its own.
bool is_contraction(const Problem&, ExprId);
/// The tensor reads that are factors of a product, through negations and casts.
std::vector<ExprId> factors(const Problem&, ExprId);
/// Every reduction of an expression, outer before inner.
std::vector<ExprId> reductions(const Problem&, ExprId);

}  // namespace ako
