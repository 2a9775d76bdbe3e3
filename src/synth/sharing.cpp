// SPDX-License-Identifier: Apache-2.0
// Computing once what is used twice, and not storing what is used once.
#include <algorithm>
#include <utility>

#include "synth/program.h"

namespace ako::synth {

namespace {

bool transcendental(Op op) {
  switch (op) {
    case Op::exp:
    case Op::exp2:
    case Op::expm1:
    case Op::log:
    case Op::log2:
    case Op::log1p:
    case Op::sin:
    case Op::cos:
    case Op::tanh:
    case Op::erf:
    case Op::sigmoid:
    case Op::pow:
      return true;
    default:
      return false;
  }
}

/// The outermost calls of a transcendental function in a value.
void collect(const Program& program, ExprId id, std::vector<ExprId>& found) {
  const Expr& expr = program.expr(id);
  if (expr.kind == ExprKind::call && transcendental(expr.op)) return found.push_back(id);
  if (expr.kind == ExprKind::reduce || expr.kind == ExprKind::select || expr.fallback) return;
  for (ExprId arg : expr.args) collect(program, arg, found);
}

/// All indices of a reduction statement: its own, then the reduction's.
std::vector<Range> all_indices(const Program& program, const Statement& statement) {
  std::vector<Range> ranges = statement.indices;
  const Expr& reduce = program.expr(statement.value);
  ranges.insert(ranges.end(), reduce.bounds.begin(), reduce.bounds.end());
  return ranges;
}

bool same_ranges(const Program& program, const std::vector<Range>& a, const std::vector<Range>& b,
                 Renaming& names) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!same(program, a[i].lower, b[i].lower, names) || !same(program, a[i].upper, b[i].upper, names))
      return false;
    names[a[i].index] = b[i].index;
  }
  return true;
}

/// Whether nothing that `value` reads is written by statements first … last-1.
bool unchanged(const Program& program, ExprId value, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) {
    if (reads(program, value, program.statements[i].target)) return false;
  }
  return true;
}

/// Finds a later statement that evaluates `common` of statement `at` again, and makes both read a temporary.
bool share(Program& program, std::size_t at, ExprId common) {
  const std::vector<Range> ranges = all_indices(program, program.statements[at]);
  const Renaming identity;
  if (!std::ranges::all_of(ranges, [&](const Range& range) { return rectangular(program, range); }))
    return false;
  for (std::size_t later = at + 1; later < program.statements.size(); ++later) {
    if (program.statements[later].kind != StatementKind::define || !unchanged(program, common, at, later))
      return false;
    Renaming names;
    if (!same_ranges(program, ranges, program.statements[later].indices, names)) continue;
    bool again = false;
    visit(program, program.statements[later].value,
          [&](ExprId e) { again = again || same(program, common, e, names); });
    if (!again) continue;

    Statement definition;
    std::map<IndexId, ExprId> renamed;
    std::vector<ExprId> shape;
    for (const Range& range : ranges) {
      const IndexId index = add_index(program, program.indices[static_cast<std::size_t>(range.index)].name);
      renamed[range.index] = index_expression(program, index);
      definition.indices.push_back({index, range.lower, range.upper});
      definition.subscripts.push_back(renamed[range.index]);
      shape.push_back(range.upper);
    }
    definition.target = add_temporary(program, "kept", NumberClass::real, shape);
    definition.value = substitute(program, common, renamed);
    const ExprId there =
        access(program, definition.target, index_expressions(program, program.statements[later].indices));
    const ExprId here = access(program, definition.target, index_expressions(program, ranges));
    const ExprId later_value = replace(program, program.statements[later].value, common, names, there);
    const ExprId here_value = replace(program, program.statements[at].value, common, identity, here);
    program.statements[later].value = later_value;
    program.statements[at].value = here_value;
    program.statements.insert(program.statements.begin() + static_cast<std::ptrdiff_t>(at),
                              std::move(definition));
    return true;
  }
  return false;
}

}  // namespace

int keep_common(Program& program) {
  int kept = 0;
  for (std::size_t at = 0; at < program.statements.size(); ++at) {
    const Statement& statement = program.statements[at];
    const Expr& value = program.expr(statement.value);
    if (statement.kind != StatementKind::define || value.kind != ExprKind::reduce || value.scan ||
        value.condition)
      continue;
    std::vector<ExprId> candidates;
    collect(program, value.args[0], candidates);
    for (ExprId common : candidates) {
      if (share(program, at, common)) {
        ++kept;
        ++at;  // the definition came before this statement
      }
    }
  }
  return kept;
}

namespace {

struct Uses {
  int count = 0;
  bool spoiled =
      false;  // read out of range, written again, or inside loops that the definition does not have
  std::size_t last = 0;
};

Uses uses_of(const Program& program, std::size_t at) {
  const Statement& definition = program.statements[at];
  Uses uses;
  for (std::size_t i = 0; i < program.statements.size(); ++i) {
    const Statement& statement = program.statements[i];
    if (i != at && (statement.target == definition.target || i < at)) {
      uses.spoiled = uses.spoiled || statement.target == definition.target;
    }
    std::size_t loops = statement.indices.size();
    int here = 0;
    visit(program, statement, [&](ExprId e) {
      const Expr& expr = program.expr(e);
      loops += expr.bounds.size();
      if (expr.kind != ExprKind::access || expr.ref != definition.target) return;
      ++here;
      uses.spoiled = uses.spoiled || expr.fallback.has_value() || i <= at;
    });
    if (here == 0) continue;
    uses.count += here;
    uses.last = i;
    uses.spoiled =
        uses.spoiled || loops != definition.indices.size() || statement.kind != StatementKind::define;
  }
  return uses;
}

/// Every read of the definition's target in a statement becomes the definition's value.
void put_in_place(Program& program, const Statement& definition, std::size_t user) {
  for (;;) {
    ExprId use = -1;
    visit(program, program.statements[user].value, [&](ExprId e) {
      if (program.expr(e).kind == ExprKind::access && program.expr(e).ref == definition.target) use = e;
    });
    if (use < 0) return;
    std::map<IndexId, ExprId> arguments;
    for (std::size_t i = 0; i < definition.indices.size(); ++i)
      arguments[definition.indices[i].index] = program.expr(use).args[i];
    const ExprId by = substitute(program, definition.value, arguments);
    const ExprId value = replace(program, program.statements[user].value, use, {}, by);
    program.statements[user].value = value;
  }
}

}  // namespace

int inline_elementwise(Program& program, int most_uses) {
  int inlined = 0;
  for (std::size_t at = 0; at < program.statements.size();) {
    const Statement definition = program.statements[at];
    const Tensor& tensor = program.tensor(definition.target);
    const bool simple = definition.kind == StatementKind::define && tensor.role == TensorRole::temporary &&
                        tensor.exact && program.expr(definition.value).kind != ExprKind::reduce &&
                        !definition.indices.empty();
    const Uses uses = uses_of(program, at);
    if (!simple || uses.spoiled || uses.count == 0 || uses.count > most_uses ||
        !unchanged(program, definition.value, at + 1, uses.last + 1)) {
      ++at;
      continue;
    }
    for (std::size_t user = at + 1; user < program.statements.size(); ++user)
      put_in_place(program, definition, user);
    program.statements.erase(program.statements.begin() + static_cast<std::ptrdiff_t>(at));
    ++inlined;
  }
  return inlined;
}

}  // namespace ako::synth
