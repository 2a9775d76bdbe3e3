// SPDX-License-Identifier: Apache-2.0
// Which input styles can work for a problem is found by following one question through the math: what if
// every real input were zero (or the value of its range next to zero)? Where that divides by zero or takes
// the logarithm of zero, the styles that go to zero are left out.
#include <cmath>
#include <optional>

#include "problem/inputs.h"

namespace ako {
namespace {

using Known = std::optional<double>;  // a value that is the same for every element; nullopt: not known

class ZeroInputs {
 public:
  explicit ZeroInputs(const Problem& problem) : problem_(problem), tensors_(problem.tensors.size()) {
    for (std::size_t i = 0; i < tensors_.size(); ++i)
      if (const Tensor& tensor = problem.tensors[i]; tensor.values && tensor.number == NumberClass::real)
        tensors_[i] = value_of_input(*tensor.values);
  }

  /// Whether the math may be evaluated: nothing is certain to be undefined.
  bool defined() {
    for (const Statement& statement : problem_.statements) {
      const Known value = of(statement.value);
      const auto target = static_cast<std::size_t>(statement.target);
      tensors_[target] = statement.kind == StatementKind::define ? value : std::nullopt;
    }
    return defined_;
  }

 private:
  static Known value_of_input(const ValueSpec& spec) {
    switch (spec.distribution) {
      case Distribution::normal:
      case Distribution::adversarial:
        return 0.0;
      default:
        return std::nullopt;  // has a range, which may not hold zero
    }
  }

  Known of(ExprId which) {
    const Expr& expr = problem_.expr(which);
    switch (expr.kind) {
      case ExprKind::real_literal:
        return expr.real;
      case ExprKind::int_literal:
        return static_cast<double>(expr.integer);
      case ExprKind::scalar:
        return problem_.scalars[static_cast<std::size_t>(expr.ref)].value;
      case ExprKind::access:
        return expr.fallback ? std::nullopt : tensors_[static_cast<std::size_t>(expr.ref)];
      case ExprKind::unary:
        return of_unary(expr);
      case ExprKind::binary:
        return of_binary(expr);
      case ExprKind::call:
        return of_call(expr);
      case ExprKind::reduce:
        return of_reduce(expr);
      default:
        return std::nullopt;  // a guarded branch may never be taken
    }
  }

  Known of_unary(const Expr& expr) {
    const Known value = of(expr.args[0]);
    return value && expr.op == Op::negate ? Known(-*value) : std::nullopt;
  }

  Known of_binary(const Expr& expr) {
    const Known left = of(expr.args[0]), right = of(expr.args[1]);
    if (expr.type != NumberClass::real) return std::nullopt;
    if (expr.op == Op::div && right == 0.0) defined_ = false;
    if (expr.op == Op::mul && (left == 0.0 || right == 0.0)) return 0.0;
    if (!left || !right) return std::nullopt;
    switch (expr.op) {
      case Op::add:
        return *left + *right;
      case Op::sub:
        return *left - *right;
      case Op::mul:
        return *left * *right;
      case Op::div:
        return *left / *right;
      case Op::pow:
        return std::pow(*left, *right);
      default:
        return std::nullopt;
    }
  }

  Known of_call(const Expr& expr) {
    const Known value = of(expr.args[0]);
    for (std::size_t i = 1; i < expr.args.size(); ++i) of(expr.args[i]);
    if (!value) return std::nullopt;
    switch (expr.op) {
      case Op::log:
      case Op::log2:
      case Op::rsqrt:
        defined_ = defined_ && *value > 0;
        return std::nullopt;
      case Op::sqrt:
        return std::sqrt(*value);
      case Op::abs:
        return std::fabs(*value);
      case Op::exp:
      case Op::exp2:
        return *value == 0 ? Known(1.0) : std::nullopt;
      case Op::relu:
        return *value > 0 ? *value : 0.0;
      case Op::cast:
        return *value == 0 ? value : std::nullopt;
      case Op::to_real:
        return value;
      default:
        return std::nullopt;
    }
  }

  Known of_reduce(const Expr& expr) {
    const Known value = of(expr.args[0]);
    if (!value || expr.condition) return std::nullopt;
    if (expr.reduce == ReduceOp::max || expr.reduce == ReduceOp::min) return value;
    return expr.reduce == ReduceOp::sum && *value == 0 ? value : std::nullopt;
  }

  const Problem& problem_;
  std::vector<Known> tensors_;
  bool defined_ = true;
};

bool has_real_input(const Problem& problem) {
  for (const Tensor& tensor : problem.tensors)
    if (tensor.values && tensor.number == NumberClass::real) return true;
  return false;
}

}  // namespace

std::vector<InputStyle> check_styles(const Problem& problem) {
  using enum InputStyle;
  if (!has_real_input(problem)) return {declared, zeros, constant_rows};
  std::vector<InputStyle> styles = {declared, large_offset, constant_rows, mixed_scale, spikes};
  if (ZeroInputs(problem).defined()) styles.insert(styles.end(), {zeros, tiny});
  return styles;
}

}  // namespace ako
