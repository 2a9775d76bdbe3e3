// SPDX-License-Identifier: Apache-2.0
#include "problem/index_ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "problem/evaluate.h"
#include "problem/words.h"

namespace ako {
namespace {

using Bound = std::optional<std::int64_t>;

ValueRange type_interval(ScalarType type) {
  switch (type) {
    case ScalarType::i4:
      return {-8, 7};
    case ScalarType::i8:
      return {-128, 127};
    case ScalarType::u8:
      return {0, 255};
    case ScalarType::i16:
      return {-32768, 32767};
    case ScalarType::i32:
      return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
    default:
      return {};
  }
}

/// The interval that holds both.
ValueRange hull(const ValueRange& a, const ValueRange& b) {
  ValueRange result;
  if (a.low && b.low) result.low = std::min(*a.low, *b.low);
  if (a.high && b.high) result.high = std::max(*a.high, *b.high);
  return result;
}

/// From the values at the corners of two intervals.
ValueRange corners(const ValueRange& a, const ValueRange& b, auto operation) {
  if (!a.low || !a.high || !b.low || !b.high) return {};
  ValueRange result;
  bool first = true;
  for (std::int64_t x : {*a.low, *a.high})
    for (std::int64_t y : {*b.low, *b.high}) {
      Bound value = operation(x, y);
      if (!value) return {};
      result.low = first ? *value : std::min(*result.low, *value);
      result.high = first ? *value : std::max(*result.high, *value);
      first = false;
    }
  return result;
}

Bound times(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? Bound{} : result;
}

}  // namespace

IndexRanges::IndexRanges(const Problem& problem, const Shape& shape) : problem_(problem), shape_(shape) {
  for (const Tensor& tensor : problem.tensors) {
    ValueRange values;
    if (tensor.number == NumberClass::integer) {
      values = type_interval(tensor.type);
      if (tensor.values) values = declared_values(tensor, *tensor.values);
    }
    values_.push_back(values);
  }
}

ValueRange IndexRanges::declared_values(const Tensor& tensor, const ValueSpec& spec) const {
  if (!spec.inner.empty()) return declared_values(tensor, spec.inner[0]);
  auto argument = [&](std::size_t i) {
    return static_cast<std::int64_t>(evaluate_constant(problem_, spec.args[i], shape_));
  };
  switch (spec.distribution) {
    case Distribution::integers:
      return {argument(0), argument(1) - 1};
    case Distribution::categorical:
    case Distribution::permutation:
      return {0, argument(0) - 1};
    case Distribution::ragged:
      return {0, argument(0)};
    case Distribution::constant:
      return {argument(0), argument(0)};
    default:
      return type_interval(tensor.type);
  }
}

void IndexRanges::set_values(TensorId which, const ValueRange& values) {
  const Tensor& tensor = problem_.tensor(which);
  ValueRange type = type_interval(tensor.type), result = values;
  if (type.low) result.low = std::max(result.low.value_or(*type.low), *type.low);
  if (type.high) result.high = std::min(result.high.value_or(*type.high), *type.high);
  ValueRange& held = values_[static_cast<std::size_t>(which)];
  held = tensor.role == TensorRole::inout ? hull(held, result) : result;
}

void IndexRanges::leave(const Mark& mark) {
  known_.shrink(mark.inequalities);
  next_ = mark.next;
  std::erase_if(variables_, [&](const auto& entry) { return entry.second >= next_; });
}

bool IndexRanges::enter(const Range& range) {
  Linear lower = form(range.lower), upper = form(range.upper);
  bool empty = known_.proves_at_most(upper - lower, 0);
  Variable index = next_++;
  variables_["i" + std::to_string(range.index)] = index;
  known_.add(Linear::variable(index) - lower);
  known_.add(upper + -1 - Linear::variable(index));
  return !empty;
}

void IndexRanges::assume(ExprId condition, bool truth) {
  const Expr& expr = problem_.expr(condition);
  if (expr.kind == ExprKind::unary) return assume(expr.args[0], !truth);
  if (expr.kind != ExprKind::binary) return;
  if (expr.op == (truth ? Op::logical_and : Op::logical_or)) {
    assume(expr.args[0], truth);
    return assume(expr.args[1], truth);
  }
  bool integers = is_comparison(expr.op) && problem_.expr(expr.args[0]).type == NumberClass::integer &&
                  problem_.expr(expr.args[1]).type == NumberClass::integer;
  if (!integers) return;
  Linear gap = form(expr.args[1]) - form(expr.args[0]);  // right - left
  Linear back = scaled(gap, -1);
  switch (expr.op) {
    case Op::less:
      return known_.add(truth ? gap + -1 : back);
    case Op::less_equal:
      return known_.add(truth ? gap : back + -1);
    case Op::greater:
      return known_.add(truth ? back + -1 : gap);
    case Op::greater_equal:
      return known_.add(truth ? back : gap + -1);
    default:
      break;
  }
  if ((expr.op == Op::equal) == truth) {
    known_.add(gap);
    known_.add(back);
  } else if (known_.proves_at_least(gap, 0)) {  // not equal, and known to be on one side: `d != 0`
    known_.add(gap + -1);
  } else if (known_.proves_at_least(back, 0)) {
    known_.add(back + -1);
  }
}

Linear IndexRanges::atom(const std::string& key, const ValueRange& interval) {
  auto [at, fresh] = variables_.emplace(key, next_);
  Linear result = Linear::variable(at->second);
  if (!fresh) return result;
  ++next_;
  if (interval.low) known_.add(result + -*interval.low);
  if (interval.high) known_.add(Linear::number(*interval.high) - result);
  return result;
}

ValueRange IndexRanges::interval_of(const Linear& value) const {
  return {known_.lower(value), known_.upper(value)};
}

ValueRange IndexRanges::interval(ExprId which) { return interval_of(form(which)); }

std::int64_t IndexRanges::extent(TensorId which, std::size_t axis) const {
  return evaluate_integer(problem_, problem_.tensor(which).shape[axis], shape_);
}

/// Tells values apart by what they are made of; equal keys are equal values.
std::string IndexRanges::key_of(ExprId which) const {
  const Expr& expr = problem_.expr(which);
  std::string key = fmt::format("{}.{}.{}.{}.{}.{}(", static_cast<int>(expr.kind), static_cast<int>(expr.op),
                                static_cast<int>(expr.cast), expr.ref, expr.integer, expr.real);
  // A reduction binds indices of its own, so that two with the same text differ: its place stands for it.
  if (expr.kind == ExprKind::reduce) key += std::to_string(which);
  for (ExprId arg : expr.args) key += key_of(arg) + ",";
  if (expr.fallback) key += "or" + key_of(*expr.fallback);
  return key + ")";
}

Linear IndexRanges::form(ExprId which) {
  const Expr& expr = problem_.expr(which);
  switch (expr.kind) {
    case ExprKind::int_literal:
      return Linear::number(expr.integer);
    case ExprKind::dim:
      return Linear::number(shape_.dims[static_cast<std::size_t>(expr.ref)]);
    case ExprKind::scalar:
      return Linear::number(
          static_cast<std::int64_t>(problem_.scalars[static_cast<std::size_t>(expr.ref)].value));
    case ExprKind::index:
      return atom("i" + std::to_string(expr.ref), {});
    case ExprKind::access: {
      ValueRange values = values_[static_cast<std::size_t>(expr.ref)];
      if (expr.fallback) values = hull(values, interval(*expr.fallback));
      return atom(key_of(which), values);
    }
    case ExprKind::unary:
      return scaled(form(expr.args[0]), -1);
    case ExprKind::binary:
      return binary(which, expr);
    case ExprKind::call:
      return call(which, expr);
    case ExprKind::select:
      return select(which, expr);
    case ExprKind::reduce:
      return reduction(which, expr);
    default:
      return atom(key_of(which), {});
  }
}

Linear IndexRanges::binary(ExprId which, const Expr& expr) {
  Linear left = form(expr.args[0]), right = form(expr.args[1]);
  switch (expr.op) {
    case Op::add:
      return left + right;
    case Op::sub:
      return left - right;
    case Op::mul:
      return product(which, left, right);
    case Op::div:
    case Op::mod: {
      if (!right.is_number() || right.constant <= 0) return uneven_division(which, expr, left, right);
      Linear whole = quotient(left, right.constant);
      return expr.op == Op::div ? whole : left - scaled(whole, right.constant);
    }
    case Op::pow: {
      ValueRange base = interval_of(left);
      if (base.low && *base.low < 0) return atom(key_of(which), {});
      return atom(key_of(which), corners(base, interval_of(right), integer_power));
    }
    default:
      return atom(key_of(which), {});
  }
}

Linear IndexRanges::product(ExprId which, const Linear& left, const Linear& right) {
  if (left.is_number()) return scaled(right, left.constant);
  if (right.is_number()) return scaled(left, right.constant);
  return atom(key_of(which), corners(interval_of(left), interval_of(right), times));
}

/// floor(dividend / divisor): multiples of the divisor come out whole.
Linear IndexRanges::quotient(const Linear& dividend, std::int64_t divisor) {
  Linear whole, rest;
  whole.exact = rest.exact = dividend.exact;
  whole.constant = *floored_div(dividend.constant, divisor);
  rest.constant = *floored_mod(dividend.constant, divisor);
  for (auto [variable, coefficient] : dividend.coefficients) {
    if (coefficient % divisor == 0)
      whole.coefficients[variable] = coefficient / divisor;
    else
      rest.coefficients[variable] = coefficient;
  }
  if (rest.coefficients.empty()) return whole;
  if (known_.proves_at_least(rest, 0) && known_.proves_at_most(rest, divisor - 1)) return whole;
  std::string key = fmt::format("({})/{}", rest.key(), divisor);
  bool fresh = !variables_.contains(key);
  ValueRange range = interval_of(rest);
  if (range.low) range.low = floored_div(*range.low, divisor);
  if (range.high) range.high = floored_div(*range.high, divisor);
  Linear part = atom(key, range);
  if (fresh) {
    known_.add(rest - scaled(part, divisor));
    known_.add(scaled(part, divisor) + (divisor - 1) - rest);
  }
  return whole + part;
}

/// By a divisor that varies: bounds only. A remainder is below its divisor.
Linear IndexRanges::uneven_division(ExprId which, const Expr& expr, const Linear& left, const Linear& right) {
  ValueRange divisor = interval_of(right), dividend = interval_of(left);
  bool positive = divisor.low && *divisor.low > 0;
  if (expr.op == Op::div)
    return atom(key_of(which), positive ? corners(dividend, divisor, floored_div) : ValueRange{});
  if (!positive) return atom(key_of(which), {});
  ValueRange range{0, divisor.high ? Bound(*divisor.high - 1) : Bound{}};
  bool fresh = !variables_.contains(key_of(which));
  Linear rest = atom(key_of(which), range);
  if (fresh) known_.add(right + -1 - rest);
  return rest;
}

Linear IndexRanges::minimum(ExprId which, const std::vector<Linear>& parts, bool largest) {
  ValueRange result;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    ValueRange part = interval_of(parts[i]);
    if (i == 0) {
      result = part;
      continue;
    }
    auto pick = [&](const Bound& a, const Bound& b, bool one_suffices) -> Bound {
      if (!a || !b) return one_suffices ? (a ? a : b) : Bound{};
      return largest ? std::max(*a, *b) : std::min(*a, *b);
    };
    result = {pick(result.low, part.low, largest), pick(result.high, part.high, !largest)};
  }
  bool fresh = !variables_.contains(key_of(which));
  Linear value = atom(key_of(which), result);
  for (const Linear& part : parts)
    if (fresh) known_.add(largest ? value - part : part - value);
  return value;
}

Linear IndexRanges::call(ExprId which, const Expr& expr) {
  if (expr.op == Op::min || expr.op == Op::max)
    return minimum(which, {form(expr.args[0]), form(expr.args[1])}, expr.op == Op::max);
  if (expr.op == Op::cast) {
    ValueRange type = type_interval(expr.cast);
    return atom(key_of(which), type);
  }
  if (expr.op == Op::sign) return atom(key_of(which), {-1, 1});
  if (expr.op == Op::to_int) {
    NumberClass from = problem_.expr(expr.args[0]).type;
    if (from == NumberClass::integer) return form(expr.args[0]);
    return atom(key_of(which), from == NumberClass::boolean ? ValueRange{0, 1} : ValueRange{});
  }
  if (expr.op == Op::abs || expr.op == Op::relu) {
    ValueRange inner = interval(expr.args[0]);
    ValueRange result{0, inner.high};
    if (expr.op == Op::abs && inner.low && inner.high) result.high = std::max(-*inner.low, *inner.high);
    if (expr.op == Op::abs && !inner.low) result.high.reset();
    if (result.high) result.high = std::max<std::int64_t>(*result.high, 0);
    return atom(key_of(which), result);
  }
  if (expr.op == Op::clamp) {  // min(max(x, low), high)
    ValueRange low = interval(expr.args[1]), high = interval(expr.args[2]), value = interval(expr.args[0]);
    ValueRange result;
    if (low.low && high.low)
      result.low = std::min(value.low ? std::max(*value.low, *low.low) : *low.low, *high.low);
    result.high = high.high;
    if (value.high && low.high && high.high)
      result.high = std::min(std::max(*value.high, *low.high), *high.high);
    bool fresh = !variables_.contains(key_of(which));
    Linear ceiling = form(expr.args[2]);
    Linear clamped = atom(key_of(which), result);
    if (fresh) known_.add(ceiling - clamped);
    return clamped;
  }
  return atom(key_of(which), {});
}

Linear IndexRanges::select(ExprId which, const Expr& expr) {
  ValueRange result;
  for (bool truth : {true, false}) {
    Mark before = mark();
    assume(expr.args[0], truth);
    ValueRange side = interval(expr.args[truth ? 1 : 2]);
    leave(before);
    result = truth ? side : hull(result, side);
  }
  return atom(key_of(which), result);
}

Linear IndexRanges::reduction(ExprId which, const Expr& expr) {
  bool places = expr.reduce == ReduceOp::argmax || expr.reduce == ReduceOp::argmin;
  if (places) {
    ValueRange low = interval(expr.bounds[0].lower), high = interval(expr.bounds[0].upper);
    if (high.high) high.high = *high.high - 1;
    return atom(key_of(which), {low.low, high.high});
  }
  Mark before = mark();
  double most = 1;
  for (const Range& range : expr.bounds) {
    ValueRange length = interval_of(form(range.upper) - form(range.lower));
    most *= length.high ? std::max(0.0, static_cast<double>(*length.high)) : INFINITY;
    enter(range);
  }
  if (expr.condition) assume(*expr.condition, true);
  ValueRange body = interval(expr.args[0]);
  leave(before);
  ValueRange result;
  if (expr.reduce == ReduceOp::max || expr.reduce == ReduceOp::min) result = body;
  if (expr.reduce == ReduceOp::sum && most < 0x1p40) {
    auto count = static_cast<std::int64_t>(most);
    if (body.low) result.low = times(count, std::min<std::int64_t>(*body.low, 0));
    if (body.high) result.high = times(count, std::max<std::int64_t>(*body.high, 0));
  }
  return atom(key_of(which), result);
}

}  // namespace ako
