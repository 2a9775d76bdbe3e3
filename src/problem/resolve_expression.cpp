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

/// Names of other notations, and how this one says it.
std::string_view said_otherwise(std::string_view function) {
  static constexpr std::pair<std::string_view, std::string_view> known[] = {
      {"invsqrt", "`rsqrt(x)` is 1 / sqrt(x)"},
      {"ln", "`log(x)` is the natural logarithm"},
      {"silu", "write `x * sigmoid(x)`"},
      {"swish", "write `x * sigmoid(x)`"},
      {"gelu", "write `0.5 * x * (1 + erf(x * 0.7071067811865476))`"},
      {"softplus", "write `log1p(exp(x))`"},
      {"square", "write `x^2`"},
      {"mean", "a mean is a sum divided by its length: `sum(d < D: x[t, d]) / D`"},
      {"dot", "write `sum(k < K: a[k] * b[k])`"},
      {"select", "write `where(condition, then, else)`"},
      {"float", "`real(i)` makes a real of an integer; the name of a type rounds: `f32(x)`"},
      {"maximum", "write `max(a, b)`"},
      {"minimum", "write `min(a, b)`"},
  };
  for (const auto& [name, advice] : known)
    if (name == function) return advice;
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

std::vector<std::string> Resolver::dim_names() const {
  std::vector<std::string> names;
  for (const Dim& dim : problem_.dims) names.push_back(dim.name);
  return names;
}

ExprId Resolver::unknown(const Syntax& syntax) {
  if (constant_only_)
    return mistake(syntax.spot, fmt::format("`{}` is no dim", syntax.text),
                   did_you_mean(syntax.text, dim_names(),
                                fmt::format("the dims are {}; a new one is declared under `dims:`",
                                            fmt::join(dim_names(), ", "))));
  for (const SyntaxStatement& later : syntax_)
    if (later.target == syntax.text)
      return mistake(
          syntax.spot,
          fmt::format("{} is read before it is assigned, in line {}", syntax.text, later.spot.line),
          "statements are evaluated in the order written; move its definition up");
  if (syntax.kind == Syntax::Kind::access)
    return mistake(
        syntax.spot, fmt::format("there is no tensor `{}`", syntax.text),
        did_you_mean(syntax.text, known_names(),
                     fmt::format("declare it under `tensors:`, `{}: {{type: f32, shape: […]}}`, or "
                                 "assign it in a line before this one",
                                 syntax.text)));
  return mistake(syntax.spot, fmt::format("`{}` is not known here", syntax.text),
                 did_you_mean(syntax.text, known_names(),
                              fmt::format("an index must stand on the left side or be bound by a reduction: "
                                          "`sum({} < …: …)`",
                                          syntax.text)));
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
    const std::string_view otherwise = said_otherwise(syntax.text);
    if (!otherwise.empty())
      return mistake(syntax.spot, fmt::format("there is no function `{}`", syntax.text),
                     std::string(otherwise));
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
