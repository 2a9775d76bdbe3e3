// SPDX-License-Identifier: Apache-2.0
// Computing only what is read: a temporary whose last axis every reader stops short of (causal scores: keys
// up to the query) is computed up to there, and conditions that then always hold go away.
#include <utility>

#include "synth/program.h"

namespace ako::synth {

namespace {

/// A bound of a reader, in terms of the definition's indices; -1: not to be said in them.
ExprId in_terms_of(Program& program, ExprId bound, const Expr& access, const Statement& definition) {
  std::map<IndexId, ExprId> renamed;
  for (std::size_t axis = 0; axis + 1 < access.args.size(); ++axis) {
    const IndexId index = bare_index(program, access.args[axis]);
    if (index >= 0) renamed[index] = definition.subscripts[axis];
  }
  bool expressible = true;
  visit(program, bound, [&](ExprId e) {
    const Expr& expr = program.expr(e);
    if (expr.kind == ExprKind::index) expressible = expressible && renamed.contains(expr.ref);
    if (expr.kind == ExprKind::access || expr.kind == ExprKind::reduce) expressible = false;
  });
  return expressible ? substitute(program, bound, renamed) : -1;
}

/// Ranges of all indices in a statement: its own and those of its reductions.
std::map<IndexId, Range> ranges_in(const Program& program, const Statement& statement) {
  std::map<IndexId, Range> ranges;
  for (const Range& range : statement.indices) ranges[range.index] = range;
  visit(program, statement.value, [&](ExprId e) {
    for (const Range& range : program.expr(e).bounds) ranges[range.index] = range;
  });
  return ranges;
}

/// The bound that all readers of a definition's last axis share, or -1.
ExprId common_bound(Program& program, std::size_t at) {
  const Statement definition = program.statements[at];
  ExprId bound = -1;
  bool common = true;
  for (std::size_t i = 0; i < program.statements.size(); ++i) {
    if (i == at) continue;
    const Statement reader = program.statements[i];
    if (reader.target == definition.target) return -1;
    const std::map<IndexId, Range> ranges = ranges_in(program, reader);
    std::vector<Expr> accesses;
    visit(program, reader, [&](ExprId e) {
      if (program.expr(e).kind == ExprKind::access && program.expr(e).ref == definition.target)
        accesses.push_back(program.expr(e));
    });
    for (const Expr& access : accesses) {
      const auto range = ranges.find(bare_index(program, access.args.back()));
      if (range == ranges.end() || access.fallback || !is_literal(program, range->second.lower, 0)) return -1;
      const ExprId theirs = in_terms_of(program, range->second.upper, access, definition);
      if (theirs < 0) return -1;
      common = common && (bound < 0 || same(program, bound, theirs));
      bound = theirs;
    }
  }
  return common ? bound : -1;
}

/// `k <= q` and `k < q + 1` hold when k's range ends at q + 1.
bool always_holds(const Program& program, ExprId condition, const Range& range) {
  const Expr& expr = program.expr(condition);
  if (expr.kind != ExprKind::binary || !is_index(program, expr.args[0], range.index)) return false;
  if (expr.op == Op::less) return same(program, expr.args[1], range.upper);
  const Expr& upper = program.expr(range.upper);
  return expr.op == Op::less_equal && upper.kind == ExprKind::binary && upper.op == Op::add &&
         is_literal(program, upper.args[1], 1) && same(program, expr.args[1], upper.args[0]);
}

ExprId without_certain_choices(Program& program, ExprId id, const Range& range) {
  Expr copy = program.expr(id);
  if (copy.kind == ExprKind::select && always_holds(program, copy.args[0], range)) {
    return without_certain_choices(program, copy.args[1], range);
  }
  for (ExprId& arg : copy.args) arg = without_certain_choices(program, arg, range);
  return copy.args == program.expr(id).args ? id : add(program, std::move(copy));
}

}  // namespace

int trim_to_readers(Program& program) {
  int trimmed = 0;
  for (std::size_t at = program.statements.size(); at-- > 0;) {
    const Statement statement = program.statements[at];
    const bool temporary = program.tensor(statement.target).role == TensorRole::temporary;
    if (!temporary || statement.kind != StatementKind::define || statement.indices.empty()) continue;
    if (!rectangular(program, statement.indices.back()) || program.expr(statement.value).scan) continue;
    const ExprId bound = common_bound(program, at);
    if (bound < 0 || same(program, bound, statement.indices.back().upper)) continue;
    Range range = statement.indices.back();
    range.upper = bound;
    const ExprId value = without_certain_choices(program, statement.value, range);
    program.statements[at].indices.back() = range;
    program.statements[at].value = value;
    ++trimmed;
  }
  return trimmed;
}

}  // namespace ako::synth
