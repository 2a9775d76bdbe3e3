// SPDX-License-Identifier: Apache-2.0
#include "problem/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ako {
namespace {

using Integer = std::optional<std::int64_t>;

Integer apply(Op op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (op) {
    case Op::add:
      return __builtin_add_overflow(a, b, &result) ? Integer{} : result;
    case Op::sub:
      return __builtin_sub_overflow(a, b, &result) ? Integer{} : result;
    case Op::mul:
      return __builtin_mul_overflow(a, b, &result) ? Integer{} : result;
    case Op::div:
      return floored_div(a, b);
    case Op::mod:
      return floored_mod(a, b);
    case Op::pow:
      return integer_power(a, b);
    case Op::min:
      return std::min(a, b);
    case Op::max:
      return std::max(a, b);
    default:
      return std::nullopt;
  }
}

std::optional<double> apply_real(Op op, double a, double b) {
  switch (op) {
    case Op::add:
      return a + b;
    case Op::sub:
      return a - b;
    case Op::mul:
      return a * b;
    case Op::div:
      return b == 0 ? std::optional<double>{} : a / b;
    case Op::pow:
      return std::pow(a, b);
    case Op::min:
      return std::min(a, b);
    case Op::max:
      return std::max(a, b);
    default:
      return std::nullopt;
  }
}

std::optional<double> apply_function(Op op, double a) {
  switch (op) {
    case Op::negate:
      return -a;
    case Op::exp:
      return std::exp(a);
    case Op::log:
      return std::log(a);
    case Op::log2:
      return std::log2(a);
    case Op::sqrt:
      return std::sqrt(a);
    case Op::rsqrt:
      return 1 / std::sqrt(a);
    case Op::abs:
      return std::abs(a);
    case Op::floor:
      return std::floor(a);
    case Op::ceil:
      return std::ceil(a);
    case Op::to_real:
      return a;
    default:
      return std::nullopt;
  }
}

}  // namespace

Integer floored_div(std::int64_t a, std::int64_t b) {
  if (b == 0 || (b == -1 && a == std::numeric_limits<std::int64_t>::min())) return std::nullopt;
  std::int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

Integer floored_mod(std::int64_t a, std::int64_t b) {
  if (b == 0) return std::nullopt;
  if (b == -1) return 0;
  std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Integer integer_power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) return std::nullopt;
  if (base == 0 || base == 1) return exponent == 0 ? 1 : base;
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  std::int64_t result = 1;
  for (std::int64_t i = 0; i < exponent; ++i)
    if (__builtin_mul_overflow(result, base, &result)) return std::nullopt;
  return result;
}

Integer try_evaluate_integer(const Problem& problem, ExprId which, const Shape& shape) {
  const Expr& expr = problem.expr(which);
  switch (expr.kind) {
    case ExprKind::int_literal:
      return expr.integer;
    case ExprKind::dim:
      return shape.dims[static_cast<std::size_t>(expr.ref)];
    case ExprKind::unary: {
      Integer value = try_evaluate_integer(problem, expr.args[0], shape);
      return value && expr.op == Op::negate ? apply(Op::sub, 0, *value) : std::nullopt;
    }
    case ExprKind::binary:
    case ExprKind::call: {
      if (expr.args.size() != 2) return std::nullopt;
      Integer left = try_evaluate_integer(problem, expr.args[0], shape);
      Integer right = try_evaluate_integer(problem, expr.args[1], shape);
      return left && right ? apply(expr.op, *left, *right) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

std::optional<double> try_evaluate_constant(const Problem& problem, ExprId which, const Shape& shape) {
  const Expr& expr = problem.expr(which);
  if (expr.type == NumberClass::integer && expr.kind != ExprKind::int_literal) {
    Integer value = try_evaluate_integer(problem, which, shape);
    return value ? std::optional<double>(static_cast<double>(*value)) : std::nullopt;
  }
  if (expr.kind == ExprKind::int_literal || expr.kind == ExprKind::bool_literal)
    return static_cast<double>(expr.integer);
  if (expr.kind == ExprKind::real_literal) return expr.real;
  if (expr.args.empty() || expr.args.size() > 2 || expr.kind == ExprKind::access ||
      expr.kind == ExprKind::reduce)
    return std::nullopt;
  std::optional<double> left = try_evaluate_constant(problem, expr.args[0], shape);
  if (!left) return std::nullopt;
  if (expr.args.size() == 1) return apply_function(expr.op, *left);
  std::optional<double> right = try_evaluate_constant(problem, expr.args[1], shape);
  return right ? apply_real(expr.op, *left, *right) : std::nullopt;
}

// What parse_problem returned has passed check_shapes: every extent and argument has a value on every shape.
std::int64_t evaluate_integer(const Problem& problem, ExprId which, const Shape& shape) {
  return try_evaluate_integer(problem, which, shape).value_or(0);
}

double evaluate_constant(const Problem& problem, ExprId which, const Shape& shape) {
  return try_evaluate_constant(problem, which, shape).value_or(0);
}

std::vector<std::int64_t> extents(const Problem& problem, const Tensor& tensor, const Shape& shape) {
  std::vector<std::int64_t> result;
  for (ExprId extent : tensor.shape) result.push_back(evaluate_integer(problem, extent, shape));
  return result;
}

std::int64_t element_count(const Problem& problem, const Tensor& tensor, const Shape& shape) {
  std::int64_t count = 1;
  for (std::int64_t extent : extents(problem, tensor, shape)) count *= extent;
  return count;
}

std::vector<TensorId> kernel_tensors(const Problem& problem) {
  std::vector<TensorId> result;
  for (std::size_t i = 0; i < problem.tensors.size(); ++i)
    if (problem.tensors[i].role != TensorRole::temporary) result.push_back(static_cast<TensorId>(i));
  return result;
}

std::optional<TensorId> Problem::find_tensor(std::string_view tensor_name) const {
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].name == tensor_name) return static_cast<TensorId>(i);
  return std::nullopt;
}

}  // namespace ako
