// SPDX-License-Identifier: Apache-2.0
#include "problem/dependence.h"

#include <algorithm>

namespace ako {

void visit(const Problem& problem, ExprId which, const std::function<bool(ExprId)>& f) {
  if (which < 0 || !f(which)) return;
  const Expr& expr = problem.expr(which);
  for (const Range& range : expr.bounds) {
    visit(problem, range.lower, f);
    visit(problem, range.upper, f);
  }
  if (expr.condition) visit(problem, *expr.condition, f);
  for (ExprId arg : expr.args) visit(problem, arg, f);
  if (expr.fallback) visit(problem, *expr.fallback, f);
}

IndexSet free_indices(const Problem& problem, ExprId which) {
  // Every binding occurrence has an id of its own, so that what is bound inside is simply taken out at the
  // end.
  IndexSet found, bound;
  visit(problem, which, [&](ExprId id) {
    const Expr& expr = problem.expr(id);
    if (expr.kind == ExprKind::index) found.insert(expr.ref);
    for (const Range& range : expr.bounds) bound.insert(range.index);
    return true;
  });
  for (IndexId index : bound) found.erase(index);
  return found;
}

IndexSet free_indices(const Problem& problem, const Range& range) {
  IndexSet found = free_indices(problem, range.lower);
  found.merge(free_indices(problem, range.upper));
  return found;
}

bool reads_tensor(const Problem& problem, ExprId which, TensorId tensor) {
  bool found = false;
  visit(problem, which, [&](ExprId id) {
    const Expr& expr = problem.expr(id);
    found = found || (expr.kind == ExprKind::access && expr.ref == tensor);
    return !found;
  });
  return found;
}

bool intersects(const IndexSet& a, const IndexSet& b) {
  return std::any_of(a.begin(), a.end(), [&](IndexId index) { return b.contains(index); });
}

}  // namespace ako
