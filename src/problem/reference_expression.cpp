// SPDX-License-Identifier: Apache-2.0
// C++ for expressions.
#include <fmt/format.h>

#include <cmath>

#include "problem/reference_lowering.h"
#include "problem/words.h"

namespace ako {
namespace {

std::string_view cpp_type(NumberClass number) {
  switch (number) {
    case NumberClass::real:
      return "double";
    case NumberClass::integer:
      return "i64";
    default:
      return "bool";
  }
}

std::string literal(double value) {
  if (std::isnan(value)) return "nan_value";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", value);  // the shortest that reads back as the same number
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

/// Small numbers stay `int`, which mixes with int64 without harm; the rest must not overflow among
/// themselves.
std::string literal(std::int64_t value) {
  return std::abs(value) < 1000 ? fmt::format("{}", value) : fmt::format("i64({})", value);
}

/// Functions of one real that have the same name in <cmath>, or a helper.
std::string_view real_function(Op op) {
  switch (op) {
    case Op::exp:
      return "std::exp";
    case Op::exp2:
      return "std::exp2";
    case Op::expm1:
      return "std::expm1";
    case Op::log:
      return "std::log";
    case Op::log2:
      return "std::log2";
    case Op::log1p:
      return "std::log1p";
    case Op::sqrt:
      return "std::sqrt";
    case Op::rsqrt:
      return "1 / std::sqrt";
    case Op::floor:
      return "std::floor";
    case Op::ceil:
      return "std::ceil";
    case Op::round:
      return "std::nearbyint";  // ties to even, as NumPy and PyTorch have it
    case Op::trunc:
      return "std::trunc";
    case Op::sin:
      return "std::sin";
    case Op::cos:
      return "std::cos";
    case Op::tan:
      return "std::tan";
    case Op::tanh:
      return "std::tanh";
    case Op::sinh:
      return "std::sinh";
    case Op::cosh:
      return "std::cosh";
    case Op::asin:
      return "std::asin";
    case Op::acos:
      return "std::acos";
    case Op::atan:
      return "std::atan";
    case Op::erf:
      return "std::erf";
    case Op::sigmoid:
      return "sigmoid";
    default:
      return "";
  }
}

std::string_view identity(ReduceOp op, NumberClass number) {
  const bool real = number == NumberClass::real;
  switch (op) {
    case ReduceOp::sum:
      return "0";
    case ReduceOp::prod:
      return "1";
    case ReduceOp::max:
      return real ? "-inf" : "std::numeric_limits<i64>::min()";
    case ReduceOp::min:
      return real ? "inf" : "std::numeric_limits<i64>::max()";
    default:
      return "false";
  }
}

}  // namespace

std::string reference_type(NumberClass number) { return std::string(cpp_type(number)); }
std::string reference_identity(ReduceOp op, NumberClass number) { return std::string(identity(op, number)); }

std::string combined(ReduceOp op, NumberClass number, const std::string& into, const std::string& value) {
  const std::string_view type = cpp_type(number);
  switch (op) {
    case ReduceOp::sum:
      return fmt::format("{} += {};", into, value);
    case ReduceOp::prod:
      return fmt::format("{} *= {};", into, value);
    case ReduceOp::max:
      return fmt::format("{0} = greatest<{1}>({0}, {2});", into, type, value);
    case ReduceOp::min:
      return fmt::format("{0} = least<{1}>({0}, {2});", into, type, value);
    case ReduceOp::any:
      return fmt::format("{0} = {0} || {1};", into, value);
    case ReduceOp::all:
      return fmt::format("{0} = {0} && {1};", into, value);
    default:
      return "";
  }
}

std::string indented(std::string_view text, int spaces) {
  std::string result;
  for (char c : text) {
    result += c;
    if (c == '\n') result.append(static_cast<std::size_t>(spaces), ' ');
  }
  return result;
}

std::string ReferenceLowering::converted(NumberClass from, NumberClass to, const std::string& text) {
  if (from == to) return text;
  if (to == NumberClass::boolean) return fmt::format("({} != 0)", text);
  if (to == NumberClass::integer && from == NumberClass::real) return fmt::format("to_integer({})", text);
  return fmt::format("{}({})", cpp_type(to), text);
}

std::string ReferenceLowering::as(NumberClass wanted, ExprId which) {
  const Expr& expr = problem_.expr(which);
  if (wanted == NumberClass::real && expr.kind == ExprKind::int_literal)
    return literal(static_cast<double>(expr.integer));
  return converted(expr.type, wanted, expression(which));
}

std::string ReferenceLowering::expression(ExprId which) {
  if (auto ready = replaced_.find(which); ready != replaced_.end()) return ready->second;
  const Expr& expr = problem_.expr(which);
  switch (expr.kind) {
    case ExprKind::real_literal:
      return literal(expr.real);
    case ExprKind::int_literal:
      return literal(expr.integer);
    case ExprKind::bool_literal:
      return expr.integer ? "true" : "false";
    case ExprKind::dim:
      return names_.dim(expr.ref);
    case ExprKind::scalar:
      return names_.scalar(expr.ref);
    case ExprKind::index:
      return names_.index(expr.ref);
    case ExprKind::access:
      return access(expr);
    case ExprKind::unary:
      return unary(expr);
    case ExprKind::binary:
      return binary(expr);
    case ExprKind::call:
      return call(expr);
    case ExprKind::select:
      return select(expr);
    case ExprKind::reduce:
      return reduction(which);
  }
  return "";
}

std::string ReferenceLowering::position(const std::vector<std::string>& subscripts,
                                        const std::vector<std::string>& extents) {
  if (subscripts.empty()) return "0";
  std::string text = subscripts[0];
  for (std::size_t axis = 1; axis < subscripts.size(); ++axis)
    text = fmt::format("{} * {} + {}", axis == 1 ? text : "(" + text + ")", extents[axis], subscripts[axis]);
  return text;
}

std::vector<std::string> ReferenceLowering::extent_texts(const Tensor& tensor) {
  std::vector<std::string> texts;
  for (ExprId size : tensor.shape) texts.push_back(expression(size));
  return texts;
}

std::string ReferenceLowering::rounded(const Tensor& tensor, const std::string& value) const {
  if (tensor.exact || tensor.type == ScalarType::f64 || tensor.type == ScalarType::i64) return value;
  if (class_of(tensor.type) == NumberClass::real)
    return fmt::format("round_{}({})", name_of(tensor.type), value);
  if (class_of(tensor.type) == NumberClass::boolean) return value;
  const auto high = static_cast<std::int64_t>(largest(tensor.type));
  const std::int64_t low = tensor.type == ScalarType::u8 ? 0 : -high - 1;
  return fmt::format("saturated({}, {}, {})", value, literal(low), literal(high));
}

/// The value at an access's subscripts, which are known to be inside.
std::string ReferenceLowering::element(const Expr& expr) {
  const Tensor& tensor = problem_.tensor(expr.ref);
  std::vector<std::string> subscripts;
  for (ExprId subscript : expr.args) subscripts.push_back(integer(subscript));
  const std::vector<std::string> sizes = extent_texts(tensor);
  const std::string at = position(subscripts, sizes);
  const auto which = static_cast<std::size_t>(expr.ref);
  if (residence_[which] == Residence::storage) {
    const bool inout = tensor.role == TensorRole::inout;
    return fmt::format("{}[{}]", inout ? names_.before(expr.ref) : names_.tensor(expr.ref), at);
  }
  std::string value = fmt::format("{}[{}]", names_.tensor(expr.ref), at);
  const bool delivered = tensor.role == TensorRole::output || tensor.role == TensorRole::inout;
  if (delivered && tensor.number == NumberClass::integer) value = fmt::format("to_integer({})", value);
  if (tensor.number == NumberClass::boolean) value = fmt::format("({} != 0)", value);
  const bool recurs = current_ && current_->kind == StatementKind::recurrence && current_->target == expr.ref;
  if (recurs && has_initial_[which]) {
    const auto axis = static_cast<std::size_t>(current_->axis);
    std::vector<std::string> others = subscripts, other_sizes = sizes;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(axis));
    other_sizes.erase(other_sizes.begin() + static_cast<std::ptrdiff_t>(axis));
    value = fmt::format("({} < 0 ? {}[{}] : {})", subscripts[axis], names_.before(expr.ref),
                        position(others, other_sizes), value);
  }
  return rounded(tensor, value);
}

/// An index by itself whose loop runs from zero to the very extent.
bool ReferenceLowering::always_inside(ExprId subscript, ExprId extent) {
  const Expr& expr = problem_.expr(subscript);
  if (expr.kind != ExprKind::index) return false;
  const Range& range = range_of_index_[static_cast<std::size_t>(expr.ref)];
  if (range.index < 0) return false;
  const Expr& lower = problem_.expr(range.lower);
  return lower.kind == ExprKind::int_literal && lower.integer >= 0 &&
         expression(range.upper) == expression(extent);
}

std::string ReferenceLowering::access(const Expr& expr) {
  const std::string value = element(expr);
  if (!expr.fallback && !guarded_) return value;
  const Tensor& tensor = problem_.tensor(expr.ref);
  std::string inside;
  for (std::size_t axis = 0; axis < expr.args.size(); ++axis) {
    if (always_inside(expr.args[axis], tensor.shape[axis])) continue;
    if (!inside.empty()) inside += " && ";
    inside += fmt::format("inside({}, {})", integer(expr.args[axis]), expression(tensor.shape[axis]));
  }
  if (inside.empty()) return converted(tensor.number, expr.type, value);
  const std::string otherwise =
      expr.fallback ? as(expr.type, *expr.fallback) : fmt::format("{}(0)", cpp_type(expr.type));
  return fmt::format("({} ? {} : {})", inside, converted(tensor.number, expr.type, value), otherwise);
}

std::string ReferenceLowering::unary(const Expr& expr) {
  if (expr.op == Op::logical_not) return fmt::format("!{}", as(NumberClass::boolean, expr.args[0]));
  return fmt::format("(-{})", as(expr.type, expr.args[0]));
}

std::string ReferenceLowering::binary(const Expr& expr) {
  const ExprId left = expr.args[0], right = expr.args[1];
  if (expr.op == Op::logical_and || expr.op == Op::logical_or)
    return fmt::format("({} {} {})", as(NumberClass::boolean, left), c_symbol_of(expr.op),
                       as(NumberClass::boolean, right));
  const bool compares = expr.op >= Op::less && expr.op <= Op::not_equal;
  NumberClass number = expr.type;
  if (compares) {
    const NumberClass a = problem_.expr(left).type, b = problem_.expr(right).type;
    number = a == b                                             ? a
             : a == NumberClass::real || b == NumberClass::real ? NumberClass::real
                                                                : NumberClass::integer;
  }
  const std::string a = as(number, left), b = as(number, right);
  const bool whole = number == NumberClass::integer;
  if (expr.op == Op::div && whole) return fmt::format("floor_div({}, {})", a, b);
  if (expr.op == Op::mod) return fmt::format("{}({}, {})", whole ? "floor_mod" : "real_mod", a, b);
  if (expr.op == Op::pow) {
    const Expr& exponent = problem_.expr(right);
    const double power = exponent.kind == ExprKind::int_literal    ? static_cast<double>(exponent.integer)
                         : exponent.kind == ExprKind::real_literal ? exponent.real
                                                                   : 0;
    if (whole) return fmt::format("integer_power({}, {})", a, b);
    if (power == 2) return fmt::format("square({})", a);
    if (power == 3) return fmt::format("cube({})", a);
    return fmt::format("std::pow({}, {})", a, b);
  }
  return fmt::format("({} {} {})", a, c_symbol_of(expr.op), b);
}

std::string ReferenceLowering::cast(const Expr& expr) {
  const ExprId value = expr.args[0];
  const NumberClass number = class_of(expr.cast);
  if (number == NumberClass::boolean) return as(NumberClass::boolean, value);
  if (number == NumberClass::real) {
    if (expr.cast == ScalarType::f64) return real(value);
    return fmt::format("round_{}({})", name_of(expr.cast), real(value));
  }
  const double high = largest(expr.cast), low = expr.cast == ScalarType::u8 ? 0 : -high - 1;
  if (problem_.expr(value).type == NumberClass::real) {
    if (expr.cast == ScalarType::i64) return fmt::format("rounded_integer({}, -0x1p63, 0x1p63)", real(value));
    return fmt::format("rounded_integer({}, {}, {})", real(value), literal(low), literal(high));
  }
  if (expr.cast == ScalarType::i64) return integer(value);
  return fmt::format("saturated({}, {}, {})", integer(value), literal(static_cast<std::int64_t>(low)),
                     literal(static_cast<std::int64_t>(high)));
}

std::string ReferenceLowering::call(const Expr& expr) {
  const auto argument = [&](std::size_t which) { return as(expr.type, expr.args[which]); };
  const std::string_view type = cpp_type(expr.type);
  const bool takes_integer = problem_.expr(expr.args[0]).type == NumberClass::integer;
  switch (expr.op) {
    case Op::cast:
      return cast(expr);
    case Op::to_int:
      return integer(expr.args[0]);
    case Op::to_real:
      return real(expr.args[0]);
    case Op::min:
      return fmt::format("least<{}>({}, {})", type, argument(0), argument(1));
    case Op::max:
      return fmt::format("greatest<{}>({}, {})", type, argument(0), argument(1));
    case Op::clamp:
      return fmt::format("clamped<{}>({}, {}, {})", type, argument(0), argument(1), argument(2));
    case Op::relu:
      return fmt::format("greatest<{}>({}, 0)", type, argument(0));
    case Op::abs:
      return fmt::format("magnitude({}({}))", type, argument(0));
    case Op::sign:
      return fmt::format("sign_of({}({}))", type, argument(0));
    case Op::atan2:
      return fmt::format("std::atan2({}, {})", real(expr.args[0]), real(expr.args[1]));
    case Op::is_nan:
      return fmt::format("std::isnan({})", real(expr.args[0]));
    case Op::is_inf:
      return fmt::format("std::isinf({})", real(expr.args[0]));
    case Op::floor:
    case Op::ceil:
    case Op::round:
    case Op::trunc:
      if (expr.type == NumberClass::integer && takes_integer) return integer(expr.args[0]);
      break;
    default:
      break;
  }
  const std::string value = fmt::format("{}({})", real_function(expr.op), real(expr.args[0]));
  if (expr.type == NumberClass::integer) return fmt::format("to_integer({})", value);
  return expr.op == Op::rsqrt ? "(" + value + ")" : value;
}

std::string ReferenceLowering::select(const Expr& expr) {
  return fmt::format("({} ? {} : {})", as(NumberClass::boolean, expr.args[0]), as(expr.type, expr.args[1]),
                     as(expr.type, expr.args[2]));
}

std::string ReferenceLowering::loop_header(const Range& range) {
  const std::string& index = names_.index(range.index);
  if (share_ && share_->index == range.index)
    return fmt::format("for (i64 {0} = {1}; {0} < {2}; ++{0})", index, share_->from, share_->to);
  return fmt::format("for (i64 {0} = {1}; {0} < {2}; ++{0})", index, integer(range.lower),
                     integer(range.upper));
}

std::string ReferenceLowering::reduction(ExprId which) {
  const Expr& expr = problem_.expr(which);
  std::string loops;
  for (std::size_t i = 0; i < expr.bounds.size(); ++i)
    loops += fmt::format("\n{}{}", std::string(2 * i + 2, ' '), loop_header(expr.bounds[i]));
  const std::string margin(2 * expr.bounds.size() + 2, ' ');
  const std::string guard =
      expr.condition ? fmt::format("if ({}) ", as(NumberClass::boolean, *expr.condition)) : "";
  const bool argument = expr.reduce == ReduceOp::argmax || expr.reduce == ReduceOp::argmin;
  const NumberClass body_type = argument ? problem_.expr(expr.args[0]).type : expr.type;
  const std::string body = indented(as(body_type, expr.args[0]), static_cast<int>(margin.size()));
  const std::string_view type = cpp_type(body_type);
  if (argument) {
    const std::string index = names_.index(expr.bounds.front().index);
    const std::string_view better = expr.reduce == ReduceOp::argmax ? ">" : "<";
    return fmt::format(
        "[&] {{\n  i64 place = {0};\n  {1} best = 0;\n  bool found = false;{2} {{\n{3}  {4}{{\n{3}    const "
        "{1} value = {5};\n"
        "{3}    if (!found || value {6} best || (value != value && best == best)) best = value, place = {7}, "
        "found = true;\n{3}  }}\n{3}}}\n  return place;\n}}()",
        integer(expr.bounds.front().lower), type, loops, margin.substr(2), guard, body, better, index);
  }
  // The lanes of a vector hold partial sums; the loop must not call lambdas of its own to be worth it.
  const bool plain = body.find('\n') == std::string::npos && guard.find('\n') == std::string::npos;
  if (expr.reduce == ReduceOp::sum && plain) {
    const auto innermost = loops.rfind('\n');
    loops.insert(innermost, "\n#pragma omp simd reduction(+ : result)");
  }
  return fmt::format("[&] {{\n  {} result = {};{}\n{}{}{}\n  return result;\n}}()", type,
                     identity(expr.reduce, expr.type), loops, margin, guard,
                     combined(expr.reduce, expr.type, "result", body));
}

}  // namespace ako
