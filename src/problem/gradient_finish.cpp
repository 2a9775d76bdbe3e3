// SPDX-License-Identifier: Apache-2.0
// The derived math made fit to be read: statements that nothing reads go, indices get names that differ.
#include <fmt/format.h>

#include <algorithm>

#include "problem/dependence.h"
#include "problem/gradient_pass.h"
#include "problem/words.h"

namespace ako {

void Differentiator::trim() {
  std::vector<Statement> all = problem_.statements;
  all.insert(all.end(), backward_.begin(), backward_.end());
  std::set<TensorId> needed;
  for (const auto& [input, gradient] : math_.gradients) needed.insert(gradient);
  const auto read_by = [&](const Statement& statement) {
    const auto note = [&](ExprId which) {
      visit(problem_, which, [&](ExprId id) {
        if (problem_.expr(id).kind == ExprKind::access) needed.insert(problem_.expr(id).ref);
        return true;
      });
    };
    note(statement.value);
    for (ExprId subscript : statement.subscripts) note(subscript);
  };
  for (std::size_t before = 0; before != needed.size();) {
    before = needed.size();
    for (const Statement& statement : all)
      if (needed.contains(statement.target)) read_by(statement);
  }
  for (const Statement& statement : all)
    if (needed.contains(statement.target)) math_.statements.push_back(statement);
}

void Differentiator::name_indices(Statement& statement) {
  std::set<std::string> taken;
  for (const Dim& dim : problem_.dims) taken.insert(dim.name);
  for (const Scalar& scalar : problem_.scalars) taken.insert(scalar.name);
  for (const Tensor& tensor : problem_.tensors) taken.insert(tensor.name);
  // Every statement and every reduction has indices of its own, so that renaming one leaves the others alone.
  const auto name = [&](IndexId which, const std::set<std::string>& around) {
    std::string& now = problem_.indices[static_cast<std::size_t>(which)].name;
    const auto free = [&](const std::string& one) {
      return !taken.contains(one) && !around.contains(one) && why_not_a_name(one).empty();
    };
    std::string stem = now;
    while (!stem.empty() && stem.back() >= '0' && stem.back() <= '9') stem.pop_back();
    if (stem.empty()) stem = "i";
    if (free(now)) return;
    for (int number = 2;; ++number)
      if (std::string one = fmt::format("{}{}", stem, number); free(one)) {
        now = one;
        return;
      }
  };
  std::set<std::string> loops;
  for (const Range& range : statement.indices) {
    name(range.index, loops);
    loops.insert(problem_.indices[static_cast<std::size_t>(range.index)].name);
  }
  const auto inside = [&](auto& self, ExprId which, std::set<std::string> around) -> void {
    const Expr expr = problem_.expr(which);
    for (const Range& range : expr.bounds) {
      self(self, range.lower, around);
      self(self, range.upper, around);
      name(range.index, around);
      around.insert(problem_.indices[static_cast<std::size_t>(range.index)].name);
    }
    if (expr.condition) self(self, *expr.condition, around);
    for (ExprId part : expr.args) self(self, part, around);
  };
  inside(inside, statement.value, loops);
}

}  // namespace ako
