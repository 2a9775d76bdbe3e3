// SPDX-License-Identifier: Apache-2.0
// Operators and functions of one element.
#include <cmath>

#include "problem/words.h"
#include "synth/element.h"
#include "synth/precedence.h"
#include "synth/printer.h"

namespace ako::synth {

using namespace precedence;

namespace {

int c_precedence_of(Op op) {
  switch (op) {
    case Op::mul:
    case Op::div:
    case Op::mod:
      return product;
    case Op::add:
    case Op::sub:
      return sum;
    case Op::less:
    case Op::less_equal:
    case Op::greater:
    case Op::greater_equal:
      return comparison;
    case Op::equal:
    case Op::not_equal:
      return equality;
    case Op::logical_and:
      return conjunction;
    default:
      return disjunction;
  }
}

/// The C library's function, without its f; null: not one of its.
const char* library_name(Op op) {
  switch (op) {
    case Op::exp:
      return "exp";
    case Op::exp2:
      return "exp2";
    case Op::expm1:
      return "expm1";
    case Op::log:
      return "log";
    case Op::log2:
      return "log2";
    case Op::log1p:
      return "log1p";
    case Op::sqrt:
      return "sqrt";
    case Op::abs:
      return "fabs";
    case Op::floor:
      return "floor";
    case Op::ceil:
      return "ceil";
    case Op::round:
      return "rint";
    case Op::trunc:
      return "trunc";
    case Op::sin:
      return "sin";
    case Op::cos:
      return "cos";
    case Op::tan:
      return "tan";
    case Op::tanh:
      return "tanh";
    case Op::sinh:
      return "sinh";
    case Op::cosh:
      return "cosh";
    case Op::asin:
      return "asin";
    case Op::acos:
      return "acos";
    case Op::atan:
      return "atan";
    case Op::erf:
      return "erf";
    default:
      return nullptr;
  }
}

}  // namespace

Text Printer::one_unary(const Expr& expr) {
  return {(expr.op == Op::negate ? "-" : "!") + wrap(one(expr.args[0]), unary + 1), unary};
}

/// x ** n for a small whole n by multiplication.
std::optional<int> Printer::small_power(const Expr& expr) const {
  const Expr& exponent = program_.expr(expr.args[1]);
  double value = 0;
  if (exponent.kind == ExprKind::int_literal)
    value = static_cast<double>(exponent.integer);
  else if (exponent.kind == ExprKind::real_literal)
    value = exponent.real;
  else
    return std::nullopt;
  if (value != std::floor(value) || value < 1 || value > 4) return std::nullopt;
  return static_cast<int>(value);
}

Text Printer::one_binary(const Expr& expr) {
  const auto left_type = program_.expr(expr.args[0]).type;
  const auto right_type = program_.expr(expr.args[1]).type;
  const bool in_reals =
      left_type == NumberClass::real || right_type == NumberClass::real || expr.type == NumberClass::real;
  if (expr.op == Op::logical_and || expr.op == Op::logical_or) {
    const int p = c_precedence_of(expr.op);
    const Text right = lazily(expr.args[1]);
    const std::string left = scalar(expr.args[0], expr.op == Op::logical_or ? conjunction + 1 : p);
    return {fmt::format("{} {} {}", left, c_symbol_of(expr.op), wrap(right, conjunction + 1)), p};
  }
  const auto operand = [&](std::size_t i) {
    return in_reals ? real_operand(expr.args[i]) : one(expr.args[i]);
  };
  const Text left = operand(0), right = operand(1);
  if (expr.op == Op::pow) {
    if (const auto n = small_power(expr)) {
      if (*n == 1) return left;
      need("v_power");
      return {fmt::format("v_power<{}>({})", *n, left.text)};
    }
    if (!in_reals) {
      need("int_power");
      return {fmt::format("int_power({}, {})", left.text, right.text)};
    }
    const std::string function = wide_ ? "pow" : "powf";
    need("libm2:" + function);
    return {fmt::format("{}({}, {})", function, left.text, right.text)};
  }
  if (expr.op == Op::div && !in_reals) {
    if (non_negative(program_, expr.args[0], ranges_) && non_negative(program_, expr.args[1], ranges_)) {
      return {fmt::format("{} / {}", wrap(left, product), wrap(right, product + 1)), product};
    }
    need("floor_div");
    return {fmt::format("floor_div({}, {})", left.text, right.text)};
  }
  if (expr.op == Op::mod) {
    if (!in_reals && non_negative(program_, expr.args[0], ranges_) &&
        non_negative(program_, expr.args[1], ranges_)) {
      return {fmt::format("{} % {}", wrap(left, product), wrap(right, product + 1)), product};
    }
    need("floor_mod");
    return {fmt::format("floor_mod({}, {})", left.text, right.text)};
  }
  const int p = c_precedence_of(expr.op);
  return {fmt::format("{} {} {}", wrap(left, p), c_symbol_of(expr.op), wrap(right, p + 1)), p};
}

Text Printer::one_call(const Expr& expr) {
  const auto real_arg = [&](std::size_t i) { return real_operand(expr.args[i]).text; };
  const auto any_arg = [&](std::size_t i) {
    return expr.type == NumberClass::real ? real_operand(expr.args[i]).text : scalar(expr.args[i]);
  };
  const std::string suffix = wide_ ? "" : "f";
  const std::string one_text = wide_ ? "1.0" : "1.0f";
  const auto library = [&](const std::string& name) {
    need("libm:" + name + suffix);
    return name + suffix;
  };
  switch (expr.op) {
    case Op::to_int:
      return {"int64_t(" + scalar(expr.args[0]) + ")"};
    case Op::to_real:
      return real_operand(expr.args[0]);
    case Op::cast: {
      if (class_of(expr.cast) != NumberClass::real) return one(expr.args[0]);
      const Element element = element_of(expr.cast);
      if (element.encode.empty())
        return expr.cast == ScalarType::f32 && wide_ ? Text{"double(float(" + real_arg(0) + "))"}
                                                     : real_operand(expr.args[0]);
      const std::string function = "round_" + std::string(name_of(expr.cast));
      need(function);
      return {fmt::format("{}({})", function, real_arg(0))};
    }
    case Op::min:
      need("smaller");
      return {fmt::format("smaller({}, {})", any_arg(0), any_arg(1))};
    case Op::max:
      need("larger");
      return {fmt::format("larger({}, {})", any_arg(0), any_arg(1))};
    case Op::clamp:
      need("larger"), need("smaller");
      return {fmt::format("smaller(larger({}, {}), {})", any_arg(0), any_arg(1), any_arg(2))};
    case Op::relu:
      need("larger");
      return {
          fmt::format("larger({}, {}(0))", any_arg(0), expr.type == NumberClass::real ? real_ : "int64_t")};
    case Op::sign:
      need("sign");
      return {fmt::format("sign({})", any_arg(0))};
    case Op::abs:
      if (expr.type == NumberClass::integer)
        return {fmt::format("__builtin_llabs({})", scalar(expr.args[0]))};
      break;
    case Op::rsqrt:
      return {fmt::format("{} / {}({})", one_text, library("sqrt"), real_arg(0)), product};
    case Op::sigmoid:
      return {fmt::format("{0} / ({0} + {1}(-{2}))", one_text, library("exp"),
                          wrap(real_operand(expr.args[0]), unary + 1)),
              product};
    case Op::is_nan:
      need("is_nan");
      return {fmt::format("is_nan({})", real_arg(0))};
    case Op::is_inf:
      need("is_inf");
      return {fmt::format("is_inf({})", real_arg(0))};
    case Op::atan2:
      need("libm2:atan2" + suffix);
      return {fmt::format("atan2{}({}, {})", suffix, real_arg(0), real_arg(1))};
    default:
      break;
  }
  const char* name = library_name(expr.op);
  std::string call = fmt::format("{}({})", library(name == nullptr ? "fabs" : name), real_arg(0));
  // floor and its kin may be whole numbers in the language.
  if (expr.type == NumberClass::integer) return {"int64_t(" + call + ")"};
  return {std::move(call)};
}

}  // namespace ako::synth
