// SPDX-License-Identifier: Apache-2.0
// Reductions and scans: their indices, bounds and conditions.
#include <fmt/format.h>

#include <algorithm>

#include "problem/resolver.h"
#include "problem/words.h"

namespace ako {

bool Resolver::bind(const SyntaxBound& bound, Range& range) {
  if (find_scope(bound.index)) {
    mistake(bound.spot, fmt::format("the index {} is bound already", bound.index), "use another letter");
    return false;
  }
  if (find(bound.index)) {
    mistake(bound.spot, fmt::format("{} is declared above and cannot be an index", bound.index),
            "use another name");
    return false;
  }
  if (std::string reason = why_not_a_name(bound.index); !reason.empty()) {
    mistake(bound.spot, fmt::format("`{}` cannot be an index: {}", bound.index, reason));
    return false;
  }
  range.lower =
      bound.lower.empty() ? int_literal(0, bound.spot) : integer_expression(bound.lower[0], "a bound");
  if (range.lower >= 0 && bound.lower_strict) range.lower = plus_one(range.lower, bound.spot);
  range.upper = integer_expression(bound.upper[0], "a bound");
  if (range.upper >= 0 && bound.upper_inclusive) range.upper = plus_one(range.upper, bound.spot);
  range.index = new_index(bound.index);
  return range.lower >= 0 && range.upper >= 0;
}

ExprId Resolver::reduction(const Syntax& syntax) {
  if (constant_only_) return mistake(syntax.spot, "no reduction may stand here", "only dims and numbers");
  std::size_t outer = scopes_.size();
  Expr value;
  value.kind = ExprKind::reduce;
  value.reduce = syntax.reduce;
  value.scan = syntax.scan;
  bool good = true;
  ++reduce_depth_;
  for (const SyntaxBound& bound : syntax.bounds) {
    Range range;
    good &= bind(bound, range);
    if (range.index >= 0)
      scopes_.push_back({bound.index, range.index});
    else if (!find_scope(bound.index) && !find(bound.index))
      scopes_.push_back({bound.index, new_index(bound.index)});
    value.bounds.push_back(range);
  }
  ExprId condition = syntax.condition.empty() ? -1 : expression(syntax.condition[0]);
  ExprId body = expression(syntax.args[0]);
  --reduce_depth_;
  scopes_.resize(outer);
  if (!good || body < 0 || (condition < 0 && !syntax.condition.empty())) return -1;
  if (condition >= 0) {
    if (expr(condition).type != NumberClass::boolean)
      return mistake(syntax.condition[0].spot, "a condition must be a truth value", "compare: `if x[k] > 0`");
    value.condition = condition;
  }
  bool logical = syntax.reduce == ReduceOp::any || syntax.reduce == ReduceOp::all;
  if (logical && expr(body).type != NumberClass::boolean)
    return mistake(syntax.args[0].spot, fmt::format("{} needs truth values", syntax.text),
                   "compare: `x[k] > 0`");
  if (!logical && !is_number(body, syntax.args[0].spot, syntax.text)) return -1;
  bool where = syntax.reduce == ReduceOp::argmax || syntax.reduce == ReduceOp::argmin;
  if (where && syntax.bounds.size() != 1)
    return mistake(syntax.spot, fmt::format("{} is over one index", syntax.text));
  value.type = where ? NumberClass::integer : expr(body).type;
  value.args = {body};
  if (value.scan && !scan_is_a_prefix(syntax, value)) return -1;
  return add(std::move(value), syntax.spot);
}

/// A scan must be what one pass can give: over all k up to (or before) an index of the statement, with
/// nothing else depending on that index.
bool Resolver::scan_is_a_prefix(const Syntax& syntax, const Expr& value) {
  auto wrong = [&](std::string what) {
    mistake(syntax.spot, std::move(what),
            "write `y[t] = scan sum(k <= t: x[k])`, or `k < t` to leave out the last");
    return false;
  };
  bool prefix_form = value.reduce == ReduceOp::sum || value.reduce == ReduceOp::prod ||
                     value.reduce == ReduceOp::max || value.reduce == ReduceOp::min;
  if (!prefix_form) return wrong("scan is of sum, prod, max or min");
  if (reduce_depth_ > 0) return wrong("a scan cannot stand inside a reduction");
  if (value.bounds.size() != 1) return wrong("a scan is over one index");
  const Expr* end = &expr(value.bounds[0].upper);
  if (end->kind == ExprKind::binary && end->op == Op::add &&
      expr(end->args[1]).kind == ExprKind::int_literal && expr(end->args[1]).integer == 1)
    end = &expr(end->args[0]);
  auto is_end = [&](const Range& loop) { return end->kind == ExprKind::index && end->ref == loop.index; };
  if (std::none_of(loops_.begin(), loops_.end(), is_end))
    return wrong("a scan ends at an index of the left side");
  IndexId last = end->ref;
  if (mentions(value.bounds[0].lower, last) || mentions(value.args[0], last) ||
      (value.condition && mentions(*value.condition, last)))
    return wrong("what a scan adds up must not depend on where it ends");
  return true;
}

}  // namespace ako
