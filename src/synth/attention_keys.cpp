// SPDX-License-Identifier: Apache-2.0
// Which keys a query sees: conditions as bounds.
#include <algorithm>
#include <optional>

#include "synth/attention.h"

namespace ako::synth {

namespace {

ExprId integer(Program& program, Op op, ExprId left, ExprId right) {
  if (op == Op::sub && is_literal(program, right, 0)) return left;
  Expr expr;
  expr.kind = ExprKind::binary;
  expr.type = NumberClass::integer;
  expr.op = op;
  expr.args = {left, right};
  return add(program, std::move(expr));
}

ExprId literal(Program& program, std::int64_t value) {
  Expr expr;
  expr.kind = ExprKind::int_literal;
  expr.type = NumberClass::integer;
  expr.integer = value;
  return add(program, std::move(expr));
}

/// `key`, or `key + x`, `key - x`, `x + key` with an x that does not mention it: the other side less x.
std::optional<ExprId> alone(Program& program, ExprId side, ExprId other, IndexId key) {
  if (is_index(program, side, key)) return other;
  const Expr expr = program.expr(side);
  if (expr.kind != ExprKind::binary || (expr.op != Op::add && expr.op != Op::sub)) return std::nullopt;
  if (is_index(program, expr.args[0], key) && !mentions(program, expr.args[1], key))
    return integer(program, expr.op == Op::add ? Op::sub : Op::add, other, expr.args[1]);
  if (expr.op == Op::add && is_index(program, expr.args[1], key) && !mentions(program, expr.args[0], key))
    return integer(program, Op::sub, other, expr.args[0]);
  // x - key < other: x - other < key, with the sides changed about; left to the caller's mirror image.
  return std::nullopt;
}

/// The comparison that holds when its sides change places.
Op mirrored(Op op) {
  switch (op) {
    case Op::less:
      return Op::greater;
    case Op::less_equal:
      return Op::greater_equal;
    case Op::greater:
      return Op::less;
    case Op::greater_equal:
      return Op::less_equal;
    default:
      return op;
  }
}

/// `x - key op other` is `x - other op key`.
std::optional<ExprId> subtracted(Program& program, ExprId side, ExprId other, IndexId key) {
  const Expr expr = program.expr(side);
  if (expr.kind != ExprKind::binary || expr.op != Op::sub) return std::nullopt;
  if (!is_index(program, expr.args[1], key) || mentions(program, expr.args[0], key)) return std::nullopt;
  return integer(program, Op::sub, expr.args[0], other);
}

bool bound_key(Program& program, VisibleKeys& keys, Op op, ExprId bound) {
  switch (op) {
    case Op::less:
      add_bound(program, keys.upper, bound);
      return true;
    case Op::less_equal:
      add_bound(program, keys.upper, integer(program, Op::add, bound, literal(program, 1)));
      return true;
    case Op::greater:
      add_bound(program, keys.lower, integer(program, Op::add, bound, literal(program, 1)));
      return true;
    case Op::greater_equal:
      add_bound(program, keys.lower, bound);
      return true;
    default:
      return false;
  }
}

}  // namespace

void add_bound(Program& program, std::vector<ExprId>& bounds, ExprId bound) {
  const bool known = std::ranges::any_of(bounds, [&](ExprId e) { return same(program, e, bound); });
  if (!known) bounds.push_back(bound);
}

bool add_condition(Program& program, VisibleKeys& keys, ExprId condition, IndexId key) {
  const Expr expr = program.expr(condition);
  if (expr.kind != ExprKind::binary) return false;
  if (expr.op == Op::logical_and) {
    return add_condition(program, keys, expr.args[0], key) && add_condition(program, keys, expr.args[1], key);
  }
  const auto left = expr.args[0], right = expr.args[1];
  if (program.expr(left).type != NumberClass::integer || program.expr(right).type != NumberClass::integer)
    return false;
  if (!mentions(program, right, key)) {
    if (const auto bound = alone(program, left, right, key)) return bound_key(program, keys, expr.op, *bound);
    if (const auto bound = subtracted(program, left, right, key))
      return bound_key(program, keys, mirrored(expr.op), *bound);
  } else if (!mentions(program, left, key)) {
    if (const auto bound = alone(program, right, left, key))
      return bound_key(program, keys, mirrored(expr.op), *bound);
    if (const auto bound = subtracted(program, right, left, key))
      return bound_key(program, keys, expr.op, *bound);
  }
  return false;
}

bool same_bounds(const Program& program, const VisibleKeys& a, const VisibleKeys& b) {
  const auto within = [&](const std::vector<ExprId>& few, const std::vector<ExprId>& many) {
    return std::ranges::all_of(few, [&](ExprId e) {
      return std::ranges::any_of(many, [&](ExprId other) { return same(program, e, other); });
    });
  };
  return within(a.lower, b.lower) && within(b.lower, a.lower) && within(a.upper, b.upper) &&
         within(b.upper, a.upper);
}

}  // namespace ako::synth
