// SPDX-License-Identifier: Apache-2.0
// Evaluates a problem's math one element at a time, straight from the tree: slow, obvious, and of one mind
// with the language's description alone. Compiled references are compared with it.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <vector>

#include "problem/problem.h"

namespace ako::testing {

class Interpreter {
 public:
  Interpreter(const Problem& problem, const Shape& shape)
      : p_(problem), shape_(shape), index_(problem.indices.size()) {
    for (const Tensor& tensor : problem.tensors) {
      sizes_.push_back(extents(problem, tensor, shape));
      values_.emplace_back(static_cast<std::size_t>(element_count(problem, tensor, shape)));
      assigned_.push_back(false);
    }
  }
  void set(TensorId which, std::vector<double> values) { values_[at(which)] = std::move(values); }
  /// Unrounded values of an output after run().
  const std::vector<double>& get(TensorId which) const { return values_[at(which)]; }

  void run() {
    for (const Statement& statement : p_.statements) {
      const Tensor& tensor = p_.tensor(statement.target);
      statement_ = &statement;
      std::vector<double>& target = values_[at(statement.target)];
      if (statement.kind == StatementKind::accumulate) {
        if (!assigned_[at(statement.target)] && tensor.role != TensorRole::inout)
          std::fill(target.begin(), target.end(), identity(statement.accumulate));
      }
      pending_ = target;  // reads see what was there before, but for recurrences
      if (statement.kind == StatementKind::recurrence) assigned_[at(statement.target)] = true;
      loop(statement.indices, 0, [&] { assign(statement); });
      if (statement.kind != StatementKind::recurrence && statement.kind != StatementKind::initial)
        target = pending_;
      if (statement.kind != StatementKind::initial) assigned_[at(statement.target)] = true;
    }
  }

 private:
  static std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }
  static double identity(ReduceOp op) {
    switch (op) {
      case ReduceOp::prod:
        return 1;
      case ReduceOp::max:
        return -std::numeric_limits<double>::infinity();
      case ReduceOp::min:
        return std::numeric_limits<double>::infinity();
      case ReduceOp::all:
        return 1;
      default:
        return 0;
    }
  }
  static double combine(ReduceOp op, double a, double b) {
    switch (op) {
      case ReduceOp::sum:
        return a + b;
      case ReduceOp::prod:
        return a * b;
      case ReduceOp::max:
        return a < b ? b : a;
      case ReduceOp::min:
        return b < a ? b : a;
      case ReduceOp::any:
        return a != 0 || b != 0;
      default:
        return a != 0 && b != 0;
    }
  }

  void loop(const std::vector<Range>& ranges, std::size_t depth, const std::function<void()>& body) {
    if (depth == ranges.size()) return body();
    const Range& range = ranges[depth];
    const auto lower = static_cast<std::int64_t>(value(range.lower)),
               upper = static_cast<std::int64_t>(value(range.upper));
    for (std::int64_t i = lower; i < upper; ++i) {
      index_[at(range.index)] = static_cast<double>(i);
      loop(ranges, depth + 1, body);
    }
  }

  /// Row-major position, or -1 outside.
  std::int64_t position(TensorId tensor, const std::vector<ExprId>& subscripts) {
    std::int64_t place = 0;
    for (std::size_t axis = 0; axis < subscripts.size(); ++axis) {
      const auto i = static_cast<std::int64_t>(value(subscripts[axis])), size = sizes_[at(tensor)][axis];
      if (i < 0 || i >= size) return -1;
      place = place * size + i;
    }
    return place;
  }

  /// Where a recurrence's initial value is kept: the subscripts without the axis.
  std::vector<std::int64_t> before(const std::vector<ExprId>& subscripts, int axis) {
    std::vector<std::int64_t> key;
    for (std::size_t i = 0; i < subscripts.size(); ++i)
      if (static_cast<int>(i) != axis) key.push_back(static_cast<std::int64_t>(value(subscripts[i])));
    return key;
  }

  void assign(const Statement& statement) {
    if (statement.kind == StatementKind::initial) {
      before_[statement.target][before(statement.subscripts, statement.axis)] = value(statement.value);
      return;
    }
    const auto place = static_cast<std::size_t>(position(statement.target, statement.subscripts));
    const double result = value(statement.value);
    auto& into = statement.kind == StatementKind::recurrence ? values_[at(statement.target)] : pending_;
    into.at(place) = statement.kind == StatementKind::accumulate
                         ? combine(statement.accumulate, into.at(place), result)
                         : result;
  }

  double access(const Expr& expr) {
    const Tensor& tensor = p_.tensor(expr.ref);
    const bool recurs = statement_->kind == StatementKind::recurrence && statement_->target == expr.ref;
    double found = 0;
    if (recurs && before_.contains(expr.ref) && value(expr.args[at(statement_->axis)]) < 0) {
      found = before_[expr.ref].at(before(expr.args, statement_->axis));
    } else {
      const std::int64_t place = position(expr.ref, expr.args);
      if (place < 0) return expr.fallback ? value(*expr.fallback) : std::numeric_limits<double>::quiet_NaN();
      found = values_[at(expr.ref)].at(static_cast<std::size_t>(place));
    }
    const bool rounds = assigned_[at(expr.ref)] && !tensor.exact;
    return rounds ? round_to(tensor.type, found) : found;
  }

  double reduce(const Expr& expr) {
    double result = identity(expr.reduce), best = 0;
    const bool argument = expr.reduce == ReduceOp::argmax || expr.reduce == ReduceOp::argmin;
    bool found = false;
    loop(expr.bounds, 0, [&] {
      if (expr.condition && value(*expr.condition) == 0) return;
      const double body = value(expr.args[0]);
      if (!argument) {
        result = combine(expr.reduce, result, body);
      } else if (!found || (expr.reduce == ReduceOp::argmax ? body > best : body < best)) {
        best = body;
        result = index_[at(expr.bounds.front().index)];
        found = true;
      }
    });
    return result;
  }

  double binary(const Expr& expr) {
    const double a = value(expr.args[0]);
    if (expr.op == Op::logical_and && a == 0) return 0;
    if (expr.op == Op::logical_or && a != 0) return 1;
    const double b = value(expr.args[1]);
    const bool whole = expr.type == NumberClass::integer;
    switch (expr.op) {
      case Op::add:
        return a + b;
      case Op::sub:
        return a - b;
      case Op::mul:
        return a * b;
      case Op::div:
        return whole ? std::floor(a / b) : a / b;
      case Op::mod:
        return a - b * std::floor(a / b);
      case Op::pow:
        return std::pow(a, b);
      case Op::less:
        return a < b;
      case Op::less_equal:
        return a <= b;
      case Op::greater:
        return a > b;
      case Op::greater_equal:
        return a >= b;
      case Op::equal:
        return a == b;
      case Op::not_equal:
        return a != b;
      default:
        return b != 0;
    }
  }

  double call(const Expr& expr) {
    const double x = value(expr.args[0]);
    switch (expr.op) {
      case Op::exp:
        return std::exp(x);
      case Op::log:
        return std::log(x);
      case Op::sqrt:
        return std::sqrt(x);
      case Op::rsqrt:
        return 1 / std::sqrt(x);
      case Op::tanh:
        return std::tanh(x);
      case Op::abs:
        return std::fabs(x);
      case Op::sign:
        return (x > 0) - (x < 0);
      case Op::floor:
        return std::floor(x);
      case Op::ceil:
        return std::ceil(x);
      case Op::round:
        return std::nearbyint(x);
      case Op::trunc:
      case Op::to_int:
        return std::trunc(x);
      case Op::to_real:
        return x;
      case Op::relu:
        return std::max(x, 0.0);
      case Op::sigmoid:
        return 1 / (1 + std::exp(-x));
      case Op::cast:
        return round_to(expr.cast, x);
      case Op::min:
        return std::min(x, value(expr.args[1]));
      case Op::max:
        return std::max(x, value(expr.args[1]));
      case Op::exp2:
        return std::exp2(x);
      case Op::expm1:
        return std::expm1(x);
      case Op::log2:
        return std::log2(x);
      case Op::log1p:
        return std::log1p(x);
      case Op::sin:
        return std::sin(x);
      case Op::cos:
        return std::cos(x);
      case Op::tan:
        return std::tan(x);
      case Op::sinh:
        return std::sinh(x);
      case Op::cosh:
        return std::cosh(x);
      case Op::asin:
        return std::asin(x);
      case Op::acos:
        return std::acos(x);
      case Op::atan:
        return std::atan(x);
      case Op::erf:
        return std::erf(x);
      case Op::atan2:
        return std::atan2(x, value(expr.args[1]));
      case Op::clamp:
        return std::min(std::max(x, value(expr.args[1])), value(expr.args[2]));
      default:
        throw std::logic_error("the interpreter does not know this function");
    }
  }

  double value(ExprId which) {
    const Expr& expr = p_.expr(which);
    switch (expr.kind) {
      case ExprKind::real_literal:
        return expr.real;
      case ExprKind::int_literal:
      case ExprKind::bool_literal:
        return static_cast<double>(expr.integer);
      case ExprKind::dim:
        return static_cast<double>(shape_.dims[at(expr.ref)]);
      case ExprKind::scalar: {
        const Scalar& scalar = p_.scalars[at(expr.ref)];
        return round_to(scalar.type, scalar.value);
      }
      case ExprKind::index:
        return index_[at(expr.ref)];
      case ExprKind::access:
        return access(expr);
      case ExprKind::unary: {
        const double x = value(expr.args[0]);
        return expr.op == Op::negate ? -x : static_cast<double>(x == 0);
      }
      case ExprKind::binary:
        return binary(expr);
      case ExprKind::call:
        return call(expr);
      case ExprKind::select:
        return value(value(expr.args[0]) != 0 ? expr.args[1] : expr.args[2]);
      case ExprKind::reduce:
        return reduce(expr);
    }
    return 0;
  }

  const Problem& p_;
  const Shape& shape_;
  std::vector<double> index_;
  std::vector<std::vector<std::int64_t>> sizes_;
  std::vector<std::vector<double>> values_;
  std::vector<double> pending_;
  std::vector<bool> assigned_;
  std::map<TensorId, std::map<std::vector<std::int64_t>, double>> before_;
  const Statement* statement_ = nullptr;
};

}  // namespace ako::testing
