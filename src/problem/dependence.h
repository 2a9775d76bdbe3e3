// SPDX-License-Identifier: Apache-2.0
// What an expression depends on: the indices free in it, the tensors it reads.
#pragma once

#include <functional>
#include <set>

#include "problem/problem.h"

namespace ako {

using IndexSet = std::set<IndexId>;

/// Indices that occur in the expression and are not bound by a reduction inside it.
IndexSet free_indices(const Problem&, ExprId);
/// The indices in the bounds of a range.
IndexSet free_indices(const Problem&, const Range&);
bool reads_tensor(const Problem&, ExprId, TensorId);
bool intersects(const IndexSet&, const IndexSet&);

/// Calls f on the expression and on everything in it, also in bounds, conditions, subscripts and fallbacks.
/// What lies below an expression for which f returns false is left out.
void visit(const Problem&, ExprId, const std::function<bool(ExprId)>& f);

}  // namespace ako
