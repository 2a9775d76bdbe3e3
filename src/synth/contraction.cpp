// SPDX-License-Identifier: Apache-2.0
// Recognizing contractions.
#include "synth/contraction.h"

#include <algorithm>

#include "synth/element.h"

namespace ako::synth {

namespace {

void factors_of(const Program& program, ExprId id, NumberClass type, std::vector<ExprId>& factors) {
  const Expr& expr = program.expr(id);
  if (expr.kind == ExprKind::binary && expr.op == Op::mul && expr.type == type) {
    factors_of(program, expr.args[0], type, factors);
    factors_of(program, expr.args[1], type, factors);
  } else {
    factors.push_back(id);
  }
}

bool all_rectangular(const Program& program, const std::vector<Range>& ranges) {
  return std::ranges::all_of(ranges, [&](const Range& r) { return rectangular(program, r); });
}

bool has_reduction(const Program& program, ExprId id) {
  bool found = false;
  visit(program, id, [&](ExprId e) { found = found || program.expr(e).kind == ExprKind::reduce; });
  return found;
}

/// The later statements of a group work on the sum's element alone.
bool finishes(const Program& program, const Statement& sum, const Statement& later) {
  if (later.indices.size() != sum.indices.size() || has_reduction(program, later.value)) return false;
  if (later.subscripts.size() != later.indices.size()) return false;
  bool same_element = true;
  visit(program, later.value, [&](ExprId e) {
    const Expr& expr = program.expr(e);
    if (expr.kind != ExprKind::access || expr.ref != sum.target) return;
    for (std::size_t axis = 0; axis < expr.args.size(); ++axis) {
      same_element = same_element && is_index(program, expr.args[axis], later.indices[axis].index);
    }
  });
  return same_element;
}

/// A tensor of 8-bit integers, read as it is.
bool is_bytes(const Program& program, const std::vector<ExprId>& factors) {
  if (factors.size() != 1) return false;
  const Expr& expr = program.expr(factors[0]);
  if (expr.kind != ExprKind::access || program.tensor(expr.ref).exact) return false;
  const ScalarType type = program.tensor(expr.ref).type;
  return type == ScalarType::i8 || type == ScalarType::u8;
}

/// Reals that are stored without rounding: what a later statement may take from the register.
}  // namespace

std::optional<Contraction> match_contraction(const Program& program, const Layout& layout,
                                             const Group& group) {
  Contraction result;
  result.statement = group.statements.front();
  const Statement& statement = program.statements[result.statement];
  const Expr& value = program.expr(statement.value);
  const bool sums = value.kind == ExprKind::reduce && value.reduce == ReduceOp::sum && !value.scan &&
                    !value.condition && value.type != NumberClass::boolean;
  if (!sums || statement.kind != StatementKind::define || statement.indices.size() < 2 ||
      has_reduction(program, value.args[0])) {
    return std::nullopt;
  }
  if (!all_rectangular(program, statement.indices) || !all_rectangular(program, value.bounds))
    return std::nullopt;
  for (std::size_t i = 1; i < group.statements.size(); ++i) {
    const Statement& later = program.statements[group.statements[i]];
    if (!finishes(program, statement, later)) return std::nullopt;
    // What passes from one to the next does so in registers, where nothing is rounded.
    for (std::size_t before = 0; before < i; ++before) {
      const TensorId target = program.statements[group.statements[before]].target;
      if (reads(program, later.value, target) && !unrounded(program.tensor(target))) return std::nullopt;
    }
    result.finish.push_back(group.statements[i]);
  }
  const bool wanted_elsewhere =
      layout.storage[static_cast<std::size_t>(statement.target)].home == Home::workspace;
  if (wanted_elsewhere && !program.tensor(statement.target).exact) return std::nullopt;

  std::vector<ExprId> factors;
  factors_of(program, value.args[0], value.type, factors);
  for (const ExprId factor : factors) {
    (mentions(program, factor, statement.indices.back().index) ? result.b : result.a).push_back(factor);
  }
  for (const Range& range : statement.indices) {
    const bool in_a = any_mentions(program, result.a, range.index),
               in_b = any_mentions(program, result.b, range.index);
    if (!in_a && !in_b) return std::nullopt;
    (in_a && in_b ? result.batch : in_a ? result.rows : result.columns).push_back(range);
  }
  result.depth = value.bounds;
  const bool shared = std::ranges::any_of(result.depth, [&](const Range& range) {
    return any_mentions(program, result.a, range.index) && any_mentions(program, result.b, range.index);
  });
  if (!shared || result.rows.empty() || result.columns.empty()) return std::nullopt;
  result.integer = value.type == NumberClass::integer;
  const bool doubles = std::ranges::any_of(
      program.tensors, [](const Tensor& t) { return t.type == ScalarType::f64 && !t.exact; });
  if (result.integer && (doubles || !is_bytes(program, result.a) || !is_bytes(program, result.b)))
    return std::nullopt;
  return result;
}

bool can_pair(const Program& program, const Contraction& contraction) {
  const auto plain = [&](const std::vector<ExprId>& factors) {
    if (factors.size() != 1) return false;
    const Expr& expr = program.expr(factors[0]);
    return expr.kind == ExprKind::access && !expr.fallback &&
           program.tensor(expr.ref).type == ScalarType::bf16 &&
           program.tensor(expr.ref).role != TensorRole::temporary;
  };
  return plain(contraction.a) && plain(contraction.b);
}

}  // namespace ako::synth
