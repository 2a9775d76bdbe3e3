// SPDX-License-Identifier: Apache-2.0
// Looking at and copying expressions of the arena.
#include <utility>

#include "synth/program.h"

#include <algorithm>

namespace ako::synth {

void visit(const Program& program, ExprId id, const std::function<void(ExprId)>& f) {
  if (id < 0) return;
  f(id);
  const Expr& expr = program.expr(id);
  for (const Range& range : expr.bounds) {
    visit(program, range.lower, f);
    visit(program, range.upper, f);
  }
  for (ExprId arg : expr.args) visit(program, arg, f);
  if (expr.condition) visit(program, *expr.condition, f);
  if (expr.fallback) visit(program, *expr.fallback, f);
}

void visit(const Program& program, const Statement& statement, const std::function<void(ExprId)>& f) {
  for (const Range& range : statement.indices) {
    visit(program, range.lower, f);
    visit(program, range.upper, f);
  }
  for (ExprId subscript : statement.subscripts) visit(program, subscript, f);
  visit(program, statement.value, f);
}

bool mentions(const Program& program, ExprId id, IndexId index) {
  bool found = false;
  visit(program, id, [&](ExprId e) { found = found || is_index(program, e, index); });
  return found;
}

bool any_mentions(const Program& program, const std::vector<ExprId>& factors, IndexId index) {
  return std::ranges::any_of(factors, [&](ExprId e) { return mentions(program, e, index); });
}

bool unrounded(const Tensor& tensor) { return tensor.exact || tensor.type == ScalarType::f32; }

bool reads(const Program& program, ExprId id, TensorId tensor) {
  bool found = false;
  visit(program, id, [&](ExprId e) {
    found = found || (program.expr(e).kind == ExprKind::access && program.expr(e).ref == tensor);
  });
  return found;
}

bool is_index(const Program& program, ExprId id, IndexId index) {
  return bare_index(program, id) == index && index >= 0;
}

IndexId bare_index(const Program& program, ExprId id) {
  if (id < 0) return -1;
  const Expr& expr = program.expr(id);
  return expr.kind == ExprKind::index ? expr.ref : -1;
}

bool is_literal(const Program& program, ExprId id, std::int64_t value) {
  if (id < 0) return false;
  const Expr& expr = program.expr(id);
  return expr.kind == ExprKind::int_literal && expr.integer == value;
}

bool rectangular(const Program& program, const Range& range) {
  bool constant = is_literal(program, range.lower, 0);
  visit(program, range.upper, [&](ExprId e) {
    const ExprKind kind = program.expr(e).kind;
    constant =
        constant && (kind == ExprKind::dim || kind == ExprKind::int_literal || kind == ExprKind::binary);
  });
  return constant;
}

bool non_negative(const Program& program, ExprId id, const std::map<IndexId, Range>& ranges) {
  const Expr& expr = program.expr(id);
  const auto arg = [&](std::size_t i) { return non_negative(program, expr.args[i], ranges); };
  switch (expr.kind) {
    case ExprKind::int_literal:
      return expr.integer >= 0;
    case ExprKind::dim:
      return true;
    case ExprKind::index: {
      const auto range = ranges.find(expr.ref);
      return range != ranges.end() && non_negative(program, range->second.lower, ranges);
    }
    case ExprKind::binary:
      return (expr.op == Op::add || expr.op == Op::mul || expr.op == Op::div || expr.op == Op::mod) &&
             arg(0) && arg(1);
    default:
      return false;
  }
}

namespace {

bool same_optional(const Program& program, std::optional<ExprId> a, std::optional<ExprId> b,
                   const Renaming& names) {
  if (!a || !b) return a.has_value() == b.has_value();
  return same(program, *a, *b, names);
}

bool same_head(const Expr& x, const Expr& y) {
  return x.kind == y.kind && x.type == y.type && x.op == y.op && x.reduce == y.reduce && x.scan == y.scan &&
         x.cast == y.cast && x.integer == y.integer && x.real == y.real && x.args.size() == y.args.size() &&
         x.bounds.size() == y.bounds.size();
}

}  // namespace

bool same(const Program& program, ExprId a, ExprId b, Renaming names) {
  const Expr& x = program.expr(a);
  const Expr& y = program.expr(b);
  if (!same_head(x, y)) return false;
  if (x.kind == ExprKind::index) {
    const auto renamed = names.find(x.ref);
    return (renamed == names.end() ? x.ref : renamed->second) == y.ref;
  }
  if (x.ref != y.ref) return false;
  for (std::size_t i = 0; i < x.bounds.size(); ++i) {
    if (!same(program, x.bounds[i].lower, y.bounds[i].lower, names)) return false;
    if (!same(program, x.bounds[i].upper, y.bounds[i].upper, names)) return false;
    names[x.bounds[i].index] = y.bounds[i].index;
  }
  for (std::size_t i = 0; i < x.args.size(); ++i) {
    if (!same(program, x.args[i], y.args[i], names)) return false;
  }
  return same_optional(program, x.condition, y.condition, names) &&
         same_optional(program, x.fallback, y.fallback, names);
}

ExprId add(Program& program, Expr expr) {
  program.exprs.push_back(std::move(expr));
  return static_cast<ExprId>(program.exprs.size()) - 1;
}

ExprId index_expression(Program& program, IndexId index) {
  Expr expr;
  expr.kind = ExprKind::index;
  expr.type = NumberClass::integer;
  expr.ref = index;
  return add(program, std::move(expr));
}

namespace {

/// Copies an expression, asking `leaf` at each node whether something else is to stand there.
ExprId rebuild(Program& program, ExprId id, const std::function<std::optional<ExprId>(ExprId)>& leaf) {
  if (const auto other = leaf(id)) return *other;
  Expr copy = program.expr(id);
  for (Range& range : copy.bounds) {
    range.lower = rebuild(program, range.lower, leaf);
    range.upper = rebuild(program, range.upper, leaf);
  }
  for (ExprId& arg : copy.args) arg = rebuild(program, arg, leaf);
  if (copy.condition) copy.condition = rebuild(program, *copy.condition, leaf);
  if (copy.fallback) copy.fallback = rebuild(program, *copy.fallback, leaf);
  return add(program, std::move(copy));
}

}  // namespace

ExprId substitute(Program& program, ExprId id, const std::map<IndexId, ExprId>& values) {
  return rebuild(program, id, [&](ExprId e) -> std::optional<ExprId> {
    const auto found = values.find(bare_index(program, e));
    if (found == values.end()) return std::nullopt;
    return found->second;
  });
}

ExprId replace(Program& program, ExprId id, ExprId what, const Renaming& names, ExprId by) {
  return rebuild(program, id, [&](ExprId e) -> std::optional<ExprId> {
    if (same(program, what, e, names)) return by;
    return std::nullopt;
  });
}

IndexId add_index(Program& program, std::string name) {
  program.indices.push_back({std::move(name)});
  return static_cast<IndexId>(program.indices.size()) - 1;
}

TensorId add_temporary(Program& program, const std::string& like, NumberClass number,
                       std::vector<ExprId> shape) {
  Tensor tensor;
  tensor.name = like;
  for (int i = 2; program.find_tensor(tensor.name); ++i) tensor.name = like + "_" + std::to_string(i);
  tensor.number = number;
  tensor.type = number == NumberClass::real      ? ScalarType::f64
                : number == NumberClass::integer ? ScalarType::i64
                                                 : ScalarType::boolean;
  tensor.exact = true;
  tensor.role = TensorRole::temporary;
  tensor.shape = std::move(shape);
  program.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(program.tensors.size()) - 1;
}

ExprId access(Program& program, TensorId tensor, std::vector<ExprId> subscripts) {
  Expr expr;
  expr.kind = ExprKind::access;
  expr.type = program.tensor(tensor).number;
  expr.ref = tensor;
  expr.args = std::move(subscripts);
  return add(program, std::move(expr));
}

std::vector<ExprId> index_expressions(Program& program, const std::vector<Range>& ranges) {
  std::vector<ExprId> result;
  for (const Range& range : ranges) result.push_back(index_expression(program, range.index));
  return result;
}

}  // namespace ako::synth
