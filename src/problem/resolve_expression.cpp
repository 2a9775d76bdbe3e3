// SPDX-License-Identifier: Apache-2.0
// Expressions: names, number classes, promotions.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "problem/resolver.h"
#include "problem/words.h"

namespace ako {
namespace {

constexpr std::size_t most_expressions = 1 << 16;

std::string_view class_word(NumberClass number) {
  switch (number) {
    case NumberClass::real:
      return "real";
    case NumberClass::integer:
      return "an integer";
    case NumberClass::boolean:
      return "a truth value";
  }
  return {};
}

}  // namespace

ExprId Resolver::add(Expr value, const Spot& spot) {
  if (problem_.exprs.size() >= most_expressions) {
    if (!std::exchange(too_large_, true))
      diagnostics_.add(spot, fmt::format("the math has more than {} expressions", most_expressions),
                       "write repeated parts as a reduction, or split the problem");
    return -1;
  }
  value.line = spot.line;
  value.column = spot.column;
  problem_.exprs.push_back(std::move(value));
  return static_cast<ExprId>(problem_.exprs.size() - 1);
}

ExprId Resolver::int_literal(std::int64_t value, const Spot& spot) {
  Expr literal;
  literal.kind = ExprKind::int_literal;
  literal.type = NumberClass::integer;
  literal.integer = value;
  return add(std::move(literal), spot);
}

ExprId Resolver::plus_one(ExprId value, const Spot& spot) {
  if (value < 0) return -1;
  ExprId one = int_literal(1, spot);
  if (one < 0) return -1;
  Expr sum;
  sum.kind = ExprKind::binary;
  sum.op = Op::add;
  sum.type = NumberClass::integer;
  sum.args = {value, one};
  return add(std::move(sum), spot);
}

bool Resolver::mentions(ExprId which, IndexId index) const {
  const Expr& value = problem_.expr(which);
  if (value.kind == ExprKind::index && value.ref == index) return true;
  auto inside = [&](ExprId part) { return mentions(part, index); };
  if (std::any_of(value.args.begin(), value.args.end(), inside)) return true;
  for (const Range& range : value.bounds)
    if (inside(range.lower) || inside(range.upper)) return true;
  return (value.condition && inside(*value.condition)) || (value.fallback && inside(*value.fallback));
}

/// Whether an integer value is a quotient that has lost its fraction: i / 2, 1 + i / 2.
bool Resolver::divides_integers(ExprId which) const {
  const Expr& value = problem_.expr(which);
  if (value.type != NumberClass::integer) return false;
  if (value.kind == ExprKind::binary && value.op == Op::div) return true;
  bool arithmetic = value.kind == ExprKind::unary || value.kind == ExprKind::binary ||
                    (value.kind == ExprKind::call && (value.op == Op::min || value.op == Op::max));
  if (!arithmetic || value.op == Op::mod) return false;
  return std::any_of(value.args.begin(), value.args.end(),
                     [&](ExprId part) { return divides_integers(part); });
}

ExprId Resolver::real_or_same(ExprId which, NumberClass wanted) {
  if (which < 0 || wanted != NumberClass::real || expr(which).type != NumberClass::integer) return which;
  Expr& value = expr(which);
  Spot spot{value.line, value.column, 1};
  if (divides_integers(which))
    return mistake(
        spot, "a quotient of two integers is floored, but is used as a real number here",
        "write a real number on one side, for example `1.0 / D`; or say `real(…)` if flooring is meant");
  if (value.kind == ExprKind::int_literal) {
    value.kind = ExprKind::real_literal;
    value.real = static_cast<double>(value.integer);
    value.integer = 0;
    value.type = NumberClass::real;
  } else if (value.kind == ExprKind::unary && value.op == Op::negate &&
             expr(value.args[0]).kind == ExprKind::int_literal) {
    real_or_same(value.args[0], wanted);
    value.type = NumberClass::real;
  }
  return which;
}

ExprId Resolver::expression(const Syntax& syntax) {
  if (too_large_) return -1;
  Expr value;
  switch (syntax.kind) {
    case Syntax::Kind::integer:
      return int_literal(syntax.integer, syntax.spot);
    case Syntax::Kind::real:
      value.kind = ExprKind::real_literal;
      value.real = syntax.real;
      return add(std::move(value), syntax.spot);
    case Syntax::Kind::boolean:
      value.kind = ExprKind::bool_literal;
      value.type = NumberClass::boolean;
      value.integer = syntax.integer;
      return add(std::move(value), syntax.spot);
    case Syntax::Kind::name:
      return name(syntax);
    case Syntax::Kind::access:
      return access(syntax);
    case Syntax::Kind::negate:
    case Syntax::Kind::logical_not:
      return negation(syntax);
    case Syntax::Kind::binary:
      return binary(syntax);
    case Syntax::Kind::chain:
      return chain(syntax);
    case Syntax::Kind::call:
      return call(syntax);
    case Syntax::Kind::reduce:
      return reduction(syntax);
    case Syntax::Kind::bounded: {  // its bound was used when the index was made
      Syntax index = syntax;
      index.kind = Syntax::Kind::name;
      return name(index);
    }
  }
  return -1;
}

ExprId Resolver::integer_expression(const Syntax& syntax, std::string_view where) {
  ExprId value = expression(syntax);
  if (value < 0 || expr(value).type == NumberClass::integer) return value;
  return mistake(syntax.spot,
                 fmt::format("{} must be an integer, this is {}", where, class_word(expr(value).type)),
                 "say `int(…)` to truncate a real number");
}

ExprId Resolver::name(const Syntax& syntax) {
  Expr value;
  if (const Scope* scope = find_scope(syntax.text)) {
    value.kind = ExprKind::index;
    value.type = NumberClass::integer;
    value.ref = scope->index;
    return add(std::move(value), syntax.spot);
  }
  const Symbol* symbol = find(syntax.text);
  if (!symbol) return unknown(syntax);
  if (symbol->kind == Symbol::Kind::broken) return -1;
  if (symbol->kind == Symbol::Kind::tensor) return access(syntax);
  value.ref = symbol->ref;
  if (symbol->kind == Symbol::Kind::dim) {
    dims_used_.insert(syntax.text);
    value.kind = ExprKind::dim;
    value.type = NumberClass::integer;
  } else {
    if (constant_only_) return unknown(syntax);
    scalars_used_.insert(syntax.text);
    value.kind = ExprKind::scalar;
    value.type = class_of(problem_.scalars[static_cast<std::size_t>(symbol->ref)].type);
  }
  return add(std::move(value), syntax.spot);
}

ExprId Resolver::unknown(const Syntax& syntax) {
  if (constant_only_)
    return mistake(syntax.spot, fmt::format("`{}` is no dim", syntax.text),
                   did_you_mean(syntax.text, known_names(), "only dims and numbers may stand here"));
  for (const SyntaxStatement& later : syntax_)
    if (later.target == syntax.text)
      return mistake(
          syntax.spot,
          fmt::format("{} is read before it is assigned, in line {}", syntax.text, later.spot.line),
          "statements are evaluated in the order written; move its definition up");
  return mistake(syntax.spot, fmt::format("`{}` is not known here", syntax.text),
                 did_you_mean(syntax.text, known_names(),
                              fmt::format("an index must stand on the left side or be bound by a reduction: "
                                          "`sum({} < …: …)`",
                                          syntax.text)));
}

ExprId Resolver::access(const Syntax& syntax) {
  const Symbol* symbol = find(syntax.text);
  if (!symbol || symbol->kind != Symbol::Kind::tensor || constant_only_) {
    if (symbol && symbol->kind == Symbol::Kind::broken) return -1;
    if (symbol && !constant_only_)
      return mistake(syntax.spot, fmt::format("`{}` has no subscripts: it is a {}", syntax.text,
                                              symbol->kind == Symbol::Kind::dim ? "dim" : "scalar"));
    return unknown(syntax);
  }
  const Tensor& source = tensor(symbol->ref);
  if (syntax.args.size() != source.shape.size())
    return mistake(syntax.spot,
                   fmt::format("{} has {} {}, not {}", syntax.text, source.shape.size(),
                               source.shape.size() == 1 ? "axis" : "axes", syntax.args.size()),
                   source.shape.empty() ? fmt::format("write just `{}`", syntax.text)
                                        : "give one subscript for each axis of its shape");
  Expr value;
  value.kind = ExprKind::access;
  value.type = source.number;
  value.ref = symbol->ref;
  bool good = true;
  for (const Syntax& subscript : syntax.args) {
    value.args.push_back(integer_expression(subscript, "a subscript"));
    good &= value.args.back() >= 0;
  }
  if (!syntax.fallback.empty()) {
    ExprId fallback = real_or_same(expression(syntax.fallback[0]), value.type);
    if (fallback < 0) return -1;
    if (expr(fallback).type != value.type)
      return mistake(syntax.fallback[0].spot,
                     fmt::format("{} holds {} numbers, the value after `or` is {}", syntax.text,
                                 value.type == NumberClass::boolean ? "truth" : "integer",
                                 class_word(expr(fallback).type)));
    value.fallback = fallback;
  }
  if (!good || !readable(syntax, symbol->ref, value)) return -1;
  return add(std::move(value), syntax.spot);
}

/// Whether a tensor has a value at this point of the math.
bool Resolver::readable(const Syntax& syntax, TensorId which, const Expr& value) {
  Progress& progress = progress_[static_cast<std::size_t>(which)];
  TensorRole role = tensor(which).role;
  bool input = role == TensorRole::input || role == TensorRole::inout;
  if (which == target_ && !input && !progress.assigned) return recurs(syntax, which, value);
  progress.read = true;
  if (input || progress.assigned) return true;
  mistake(syntax.spot, fmt::format("{} is read before it is assigned", syntax.text),
          "statements are evaluated in the order written; move its definition up");
  return false;
}

/// h[t-1, d] inside h[t, d] = …: every subscript is the left side's, one of them less 1.
bool Resolver::recurs(const Syntax& syntax, TensorId which, const Expr& value) {
  Progress& progress = progress_[static_cast<std::size_t>(which)];
  if (!self_reads_allowed_ || loops_.size() != value.args.size()) {
    mistake(syntax.spot, fmt::format("{} is read inside its own definition", syntax.text),
            "give the intermediate value a name of its own");
    return false;
  }
  int axis = -1;
  for (std::size_t i = 0; i < value.args.size(); ++i) {
    const Expr& subscript = expr(value.args[i]);
    if (subscript.kind == ExprKind::index && subscript.ref == loops_[i].index) continue;
    bool step = subscript.kind == ExprKind::binary && subscript.op == Op::sub &&
                expr(subscript.args[0]).kind == ExprKind::index &&
                expr(subscript.args[0]).ref == loops_[i].index &&
                expr(subscript.args[1]).kind == ExprKind::int_literal && expr(subscript.args[1]).integer == 1;
    if (!step || axis >= 0) {
      mistake(syntax.spot,
              fmt::format("{} reads itself other than one step back along one axis", syntax.text),
              fmt::format(
                  "a recurrence is written `{0}[t, …] = … {0}[t-1, …] …` with the other subscripts unchanged",
                  syntax.text));
      return false;
    }
    axis = static_cast<int>(i);
  }
  if (axis < 0 || (recurrence_axis_ >= 0 && recurrence_axis_ != axis)) {
    mistake(syntax.spot,
            axis < 0 ? fmt::format("{} is defined by itself", syntax.text)
                     : fmt::format("{} recurs along two axes", syntax.text),
            "a recurrence steps back by one along one axis");
    return false;
  }
  if (progress.initial_axis != axis && !value.fallback) {
    mistake(syntax.spot, fmt::format("the recurrence of {} has no value before its first", syntax.text),
            fmt::format("add a line before it: `{}[{}] = 0.0`, or read `… or 0`", syntax.text,
                        axis == 0 ? "-1, …" : "…, -1, …"));
    return false;
  }
  progress.initial_used = true;
  progress.read = true;
  recurrence_axis_ = axis;
  return true;
}

ExprId Resolver::negation(const Syntax& syntax) {
  ExprId operand = expression(syntax.args[0]);
  if (operand < 0) return -1;
  bool logical = syntax.kind == Syntax::Kind::logical_not;
  if (logical && expr(operand).type != NumberClass::boolean)
    return mistake(syntax.args[0].spot, "`not` needs a truth value", "compare first: `not (x > 0)`");
  if (!logical && !is_number(operand, syntax.args[0].spot, "`-`")) return -1;
  Expr value;
  value.kind = ExprKind::unary;
  value.op = logical ? Op::logical_not : Op::negate;
  value.type = expr(operand).type;
  value.args = {operand};
  return add(std::move(value), syntax.spot);
}

bool Resolver::is_number(ExprId which, const Spot& spot, std::string_view user) {
  if (expr(which).type != NumberClass::boolean) return true;
  mistake(spot, fmt::format("{} needs a number, this is a truth value", user),
          "say `where(condition, 1, 0)` or `int(condition)`");
  return false;
}

ExprId Resolver::binary(const Syntax& syntax) {
  ExprId left = expression(syntax.args[0]), right = expression(syntax.args[1]);
  if (left < 0 || right < 0) return -1;
  if (!is_logical(syntax.op)) {
    std::string user = fmt::format("`{}`", symbol_of(syntax.op));
    if (!is_number(left, syntax.args[0].spot, user) || !is_number(right, syntax.args[1].spot, user))
      return -1;
    return arithmetic(syntax.op, syntax.spot, left, right);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    ExprId side = i == 0 ? left : right;
    if (expr(side).type == NumberClass::boolean) continue;
    bool meant_fallback = syntax.op == Op::logical_or && i == 0 && expr(side).kind == ExprKind::access;
    return mistake(
        syntax.args[i].spot,
        fmt::format("`{}` needs truth values, this is {}", symbol_of(syntax.op), class_word(expr(side).type)),
        meant_fallback ? "the value of an out-of-range read must be a literal: `x[i-1] or 0`"
                       : "compare first: `x > 0 and y > 0`");
  }
  Expr value;
  value.kind = ExprKind::binary;
  value.op = syntax.op;
  value.type = NumberClass::boolean;
  value.args = {left, right};
  return add(std::move(value), syntax.spot);
}

ExprId Resolver::arithmetic(Op op, const Spot& spot, ExprId left, ExprId right) {
  bool integers = expr(left).type == NumberClass::integer && expr(right).type == NumberClass::integer;
  if (op == Op::pow) {
    // An integer exponent stays one (x^2 is x*x); its result is an integer when that is certain.
    integers = integers && expr(right).kind == ExprKind::int_literal;
    if (!integers) {
      left = real_or_same(left, NumberClass::real);
      if (divides_integers(right)) right = real_or_same(right, NumberClass::real);
    }
  } else if (!integers) {
    left = real_or_same(left, NumberClass::real);
    right = real_or_same(right, NumberClass::real);
  }
  if (left < 0 || right < 0) return -1;
  if (integers && (op == Op::div || op == Op::mod) && expr(right).kind == ExprKind::int_literal &&
      expr(right).integer == 0)
    return mistake(spot, "division by zero");
  Expr value;
  value.kind = ExprKind::binary;
  value.op = op;
  value.type = integers ? NumberClass::integer : NumberClass::real;
  value.args = {left, right};
  return add(std::move(value), spot);
}

ExprId Resolver::comparison(Op op, const Spot& spot, ExprId left, ExprId right) {
  NumberClass a = expr(left).type, b = expr(right).type;
  bool truth = a == NumberClass::boolean || b == NumberClass::boolean;
  if (truth && (a != b || (op != Op::equal && op != Op::not_equal)))
    return mistake(spot,
                   fmt::format("`{}` cannot compare {} with {}", symbol_of(op), class_word(a), class_word(b)),
                   "numbers are compared with numbers");
  if (a != b) {
    left = real_or_same(left, NumberClass::real);
    right = real_or_same(right, NumberClass::real);
    if (left < 0 || right < 0) return -1;
  }
  Expr value;
  value.kind = ExprKind::binary;
  value.op = op;
  value.type = NumberClass::boolean;
  value.args = {left, right};
  return add(std::move(value), spot);
}

/// a <= b < c is a <= b and b < c; b gets an expression for each, so that expressions stay trees.
ExprId Resolver::chain(const Syntax& syntax) {
  ExprId result = -1;
  for (std::size_t i = 0; i < syntax.comparisons.size(); ++i) {
    ExprId left = expression(syntax.args[i]);
    if (left < 0) return -1;
    ExprId right = expression(syntax.args[i + 1]);
    if (right < 0) return -1;
    ExprId link = comparison(syntax.comparisons[i], syntax.spot, left, right);
    if (link < 0) return -1;
    if (i == 0) {
      result = link;
      continue;
    }
    Expr both;
    both.kind = ExprKind::binary;
    both.op = Op::logical_and;
    both.type = NumberClass::boolean;
    both.args = {result, link};
    result = add(std::move(both), syntax.spot);
    if (result < 0) return -1;
  }
  return result;
}

bool Resolver::arity_is(const Syntax& syntax, std::size_t arity) {
  if (syntax.args.size() == arity) return true;
  mistake(syntax.spot, fmt::format("{} takes {} argument{}, not {}", syntax.text, arity,
                                   arity == 1 ? "" : "s", syntax.args.size()));
  return false;
}

ExprId Resolver::call(const Syntax& syntax) {
  if (syntax.text == "where") return select(syntax);
  std::optional<ScalarType> cast = scalar_type_from(syntax.text);
  const Function* function = find_function(syntax.text);
  Function rounding{syntax.text, Op::cast};
  if (cast && !function) function = &rounding;
  if (!function) {
    const Symbol* symbol = find(syntax.text);
    if (symbol && symbol->kind == Symbol::Kind::tensor)
      return mistake(syntax.spot, fmt::format("{} is a tensor, not a function", syntax.text),
                     fmt::format("subscripts stand in square brackets: `{}[…]`", syntax.text));
    return mistake(syntax.spot, fmt::format("there is no function `{}`", syntax.text),
                   did_you_mean(syntax.text, function_names(), "docs/problems.md lists the functions"));
  }
  if (!arity_is(syntax, static_cast<std::size_t>(function->arity))) return -1;
  std::vector<ExprId> args;
  for (const Syntax& arg : syntax.args) {
    args.push_back(expression(arg));
    if (args.back() < 0) return -1;
    bool takes_truth = function->op == Op::to_int || function->op == Op::to_real;
    if (!takes_truth && !is_number(args.back(), arg.spot, syntax.text)) return -1;
  }
  if (!cast || function->op != Op::cast) return apply(*function, syntax, std::move(args));
  Expr value;
  value.kind = ExprKind::call;
  value.op = Op::cast;
  value.cast = *cast;
  value.type = class_of(*cast);
  if (value.type == NumberClass::boolean)
    return mistake(syntax.spot, "numbers are not cast to truth values", "compare: `x != 0`");
  value.args = {real_or_same(args[0], value.type)};
  return value.args[0] < 0 ? -1 : add(std::move(value), syntax.spot);
}

ExprId Resolver::apply(const Function& function, const Syntax& syntax, std::vector<ExprId> args) {
  auto is_integer = [&](ExprId arg) { return expr(arg).type == NumberClass::integer; };
  bool integers = std::all_of(args.begin(), args.end(), is_integer);
  Expr value;
  value.kind = ExprKind::call;
  value.op = function.op;
  bool promote = false;
  switch (function.signature) {
    case Signature::real_to_real:
      promote = true;
      break;
    case Signature::real_to_bool:
      promote = true;
      value.type = NumberClass::boolean;
      break;
    case Signature::number_to_same:
      promote = !integers;
      if (integers) value.type = NumberClass::integer;
      break;
    case Signature::any_to_integer:
      value.type = NumberClass::integer;
      break;
    case Signature::any_to_real:
      break;
  }
  if (function.op == Op::pow) return arithmetic(Op::pow, syntax.spot, args[0], args[1]);
  for (ExprId& arg : args) {
    if (promote) arg = real_or_same(arg, NumberClass::real);
    if (arg < 0) return -1;
  }
  value.args = std::move(args);
  return add(std::move(value), syntax.spot);
}

ExprId Resolver::select(const Syntax& syntax) {
  if (!arity_is(syntax, 3)) return -1;
  ExprId condition = expression(syntax.args[0]), then = expression(syntax.args[1]),
         other = expression(syntax.args[2]);
  if (condition < 0 || then < 0 || other < 0) return -1;
  if (expr(condition).type != NumberClass::boolean)
    return mistake(syntax.args[0].spot, "the first argument of where must be a truth value",
                   "write `where(x > 0, then, else)`");
  NumberClass a = expr(then).type, b = expr(other).type;
  if (a != b) {
    if (a == NumberClass::boolean || b == NumberClass::boolean)
      return mistake(syntax.spot, fmt::format("where gives {} on one side and {} on the other", class_word(a),
                                              class_word(b)));
    then = real_or_same(then, NumberClass::real);
    other = real_or_same(other, NumberClass::real);
    if (then < 0 || other < 0) return -1;
  }
  Expr value;
  value.kind = ExprKind::select;
  value.type = a == b ? a : NumberClass::real;
  value.args = {condition, then, other};
  return add(std::move(value), syntax.spot);
}

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

const Resolver::Symbol* Resolver::find(const std::string& symbol_name) const {
  auto found = symbols_.find(symbol_name);
  return found == symbols_.end() ? nullptr : &found->second;
}

const Resolver::Scope* Resolver::find_scope(const std::string& index) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (scope->name == index) return &*scope;
  return nullptr;
}

IndexId Resolver::new_index(const std::string& index_name) {
  problem_.indices.push_back({index_name});
  return static_cast<IndexId>(problem_.indices.size() - 1);
}

std::vector<std::string> Resolver::known_names() const {
  std::vector<std::string> names;
  for (const Scope& scope : scopes_) names.push_back(scope.name);
  for (const auto& [symbol_name, symbol] : symbols_)
    if (!constant_only_ || symbol.kind == Symbol::Kind::dim) names.push_back(symbol_name);
  return names;
}

}  // namespace ako
