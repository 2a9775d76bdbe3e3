// SPDX-License-Identifier: Apache-2.0
// Elementwise problems over several axes as one long axis: neighbours in memory are neighbours in the loop,
// whatever the rows' length, and there is one remainder instead of one per row.
#include <algorithm>
#include <utility>

#include "synth/program.h"

namespace ako::synth {

namespace {

bool covers(const Program& program, const Statement& statement, const std::vector<ExprId>& shape,
            const std::vector<ExprId>& subscripts) {
  if (shape.size() != statement.indices.size() || subscripts.size() != shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const Range& range = statement.indices[i];
    if (!rectangular(program, range) || !same(program, range.upper, shape[i]) ||
        !is_index(program, subscripts[i], range.index))
      return false;
  }
  return true;
}

/// Every tensor is swept whole and in order, and indices serve as subscripts only.
bool elementwise(const Program& program) {
  const std::vector<Range>& loops = program.statements.front().indices;
  if (loops.size() < 2) return false;
  for (const Statement& statement : program.statements) {
    const std::vector<ExprId>& shape = program.tensor(statement.target).shape;
    if (statement.kind != StatementKind::define || statement.indices.size() != loops.size() ||
        !covers(program, statement, shape, statement.subscripts))
      return false;
    for (std::size_t i = 0; i < loops.size(); ++i) {
      if (!same(program, loops[i].upper, statement.indices[i].upper)) return false;
    }
    int as_subscripts = 0, mentioned = 0;
    bool plain = true;
    visit(program, statement.value, [&](ExprId e) {
      const Expr& expr = program.expr(e);
      mentioned += expr.kind == ExprKind::index ? 1 : 0;
      plain = plain && expr.kind != ExprKind::reduce;
      if (expr.kind != ExprKind::access || expr.args.empty()) return;
      plain =
          plain && !expr.fallback && covers(program, statement, program.tensor(expr.ref).shape, expr.args);
      as_subscripts += static_cast<int>(expr.args.size());
    });
    if (!plain || as_subscripts != mentioned) return false;
  }
  return true;
}

ExprId product(Program& program, const std::vector<ExprId>& factors) {
  ExprId result = factors.front();
  for (std::size_t i = 1; i < factors.size(); ++i) {
    Expr expr;
    expr.kind = ExprKind::binary;
    expr.op = Op::mul;
    expr.type = NumberClass::integer;
    expr.args = {result, factors[i]};
    result = add(program, std::move(expr));
  }
  return result;
}

}  // namespace

bool flatten_elementwise(Program& program) {
  if (program.statements.empty() || !elementwise(program)) return false;
  std::set<TensorId> swept;
  for (Statement& statement : program.statements) {
    const Range last = statement.indices.back();
    const ExprId index = statement.subscripts.back();
    swept.insert(statement.target);
    std::vector<ExprId> reads;
    visit(program, statement.value, [&](ExprId e) {
      if (program.expr(e).kind == ExprKind::access && !program.expr(e).args.empty()) reads.push_back(e);
    });
    for (const ExprId e : reads) {
      Expr& expr = program.exprs[static_cast<std::size_t>(e)];
      swept.insert(expr.ref);
      expr.args = {expr.args.back()};
    }
    statement.indices = {last};
    statement.subscripts = {index};
  }
  ExprId total = -1;
  for (const TensorId id : swept) {
    Tensor& tensor = program.tensors[static_cast<std::size_t>(id)];
    if (total < 0) total = product(program, tensor.shape);
    tensor.shape = {total};
  }
  for (Statement& statement : program.statements) statement.indices.front().upper = total;
  return true;
}

}  // namespace ako::synth
