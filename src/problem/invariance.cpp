// SPDX-License-Identifier: Apache-2.0
// What becomes of m[i] + c: an expression gains a multiple of c, or a factor exp(a c), or stays as it is.
#include "problem/invariance.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "problem/algebra.h"
#include "problem/dependence.h"

namespace ako {
namespace {

struct Change {
  enum class Kind : std::uint8_t { none, gains, scales, unknown } kind = Kind::none;
  double by = 0;             // gains by * c, or scales by exp(by * c)
  std::vector<ExprId> at{};  // the subscripts of m whose c it is
};
using Kind = Change::Kind;

class Invariance {
 public:
  Invariance(const Problem& problem, TensorId which) : problem_(problem), algebra_(problem_), which_(which) {}

  bool holds() {
    bool after = false;
    for (const Statement& statement : std::vector<Statement>(problem_.statements)) {
      if (after) changes_[statement.target] = stored(statement);
      after = after || statement.target == which_;
    }
    return std::all_of(changes_.begin(), changes_.end(), [&](const auto& one) {
      const TensorRole role = problem_.tensor(one.first).role;
      const bool result = role == TensorRole::output || role == TensorRole::inout;
      return !result || one.second.kind == Kind::none;
    });
  }

 private:
  /// The change of a tensor, its `at` being the statement's own indices.
  Change stored(const Statement& statement) {
    for (ExprId subscript : statement.subscripts)
      if (change(subscript).kind != Kind::none) return {Kind::unknown};
    const auto earlier = changes_.find(statement.target);
    if (earlier != changes_.end() && earlier->second.kind != Kind::none) return {Kind::unknown};
    Change made = change(statement.value);
    if (made.kind == Kind::none) return made;
    const bool plain = statement.kind == StatementKind::define && problem_.tensor(statement.target).exact;
    if (!plain || made.kind == Kind::unknown) return {Kind::unknown};
    indices_[statement.target] = statement.subscripts;
    for (ExprId at : made.at) {
      const bool own = std::any_of(statement.subscripts.begin(), statement.subscripts.end(),
                                   [&](ExprId subscript) { return algebra_.same(subscript, at); });
      if (!own) return {Kind::unknown};
    }
    return made;
  }

  static Change combined(Kind kind, double by, const Change& like) {
    return by == 0 ? Change{} : Change{kind, by, like.at};
  }

  bool same_place(const Change& a, const Change& b) const {
    return a.at.size() == b.at.size() && std::equal(a.at.begin(), a.at.end(), b.at.begin(),
                                                    [&](ExprId x, ExprId y) { return algebra_.same(x, y); });
  }

  Change change(ExprId which) {
    const Expr expr = problem_.expr(which);
    switch (expr.kind) {
      case ExprKind::access:
        return read(expr);
      case ExprKind::unary: {
        Change one = change(expr.args[0]);
        if (one.kind == Kind::gains) one.by = -one.by;
        return one;
      }
      case ExprKind::binary:
        return binary(expr);
      case ExprKind::call:
        return call(expr);
      case ExprKind::select:
        if (change(expr.args[0]).kind != Kind::none) return {Kind::unknown};
        return either(expr.args[1], expr.args[2]);
      case ExprKind::reduce:
        return reduction(expr);
      default:
        return {};
    }
  }

  Change read(const Expr& expr) {
    for (ExprId subscript : expr.args)
      if (change(subscript).kind != Kind::none) return {Kind::unknown};
    if (expr.ref == which_) return expr.fallback ? Change{Kind::unknown} : Change{Kind::gains, 1, expr.args};
    const auto known = changes_.find(expr.ref);
    if (known == changes_.end() || known->second.kind == Kind::none) return {};
    Change result = known->second;
    if (result.kind == Kind::unknown || expr.fallback) return {Kind::unknown};
    const std::vector<ExprId>& own = indices_.at(expr.ref);
    for (ExprId& at : result.at) {
      const auto axis =
          std::find_if(own.begin(), own.end(), [&](ExprId one) { return algebra_.same(one, at); });
      at = expr.args[static_cast<std::size_t>(axis - own.begin())];
    }
    return result;
  }

  /// One of two values: equal changes, or one that absorbs the other's (0 a factor, an infinity a gain).
  Change either(ExprId a, ExprId b) {
    const Change x = change(a), y = change(b);
    const auto absorbs = [&](ExprId literal, const Change& other) {
      Expr value = problem_.expr(literal);
      if (value.kind == ExprKind::unary && value.op == Op::negate) value = problem_.expr(value.args[0]);
      if (value.kind != ExprKind::real_literal) return false;
      return other.kind == Kind::scales ? value.real == 0
                                        : other.kind == Kind::gains && std::isinf(value.real);
    };
    if (x.kind == y.kind && x.kind != Kind::unknown && x.by == y.by && same_place(x, y)) return x;
    if (absorbs(b, x)) return x;
    if (absorbs(a, y)) return y;
    return {Kind::unknown};
  }

  Change binary(const Expr& expr) {
    const Change a = change(expr.args[0]), b = change(expr.args[1]);
    if (a.kind == Kind::none && b.kind == Kind::none) return {};
    if (a.kind == Kind::unknown || b.kind == Kind::unknown) return {Kind::unknown};
    const bool both = a.kind != Kind::none && b.kind != Kind::none;
    if (both && (a.kind != b.kind || !same_place(a, b))) return {Kind::unknown};
    const Change& like = a.kind == Kind::none ? b : a;
    const bool minus = expr.op == Op::sub || expr.op == Op::div;
    const double by = (a.kind == Kind::none ? 0 : a.by) + (b.kind == Kind::none ? 0 : minus ? -b.by : b.by);
    switch (expr.op) {
      case Op::add:
      case Op::sub:
        if (like.kind == Kind::gains) return combined(Kind::gains, by, like);
        return both && a.by == b.by ? a : Change{Kind::unknown};
      case Op::mul:
      case Op::div:
        return like.kind == Kind::scales ? combined(Kind::scales, by, like) : Change{Kind::unknown};
      default:
        return {Kind::unknown};
    }
  }

  Change call(const Expr& expr) {
    const Change one = change(expr.args[0]);
    if (expr.op == Op::max || expr.op == Op::min) return either(expr.args[0], expr.args[1]);
    for (ExprId arg : expr.args)
      if (expr.args.size() > 1 && change(arg).kind != Kind::none) return {Kind::unknown};
    if (one.kind == Kind::none) return one;
    if (expr.op == Op::exp && one.kind == Kind::gains) return {Kind::scales, one.by, one.at};
    if (expr.op == Op::log && one.kind == Kind::scales) return {Kind::gains, one.by, one.at};
    return {Kind::unknown};
  }

  Change reduction(const Expr& expr) {
    for (const Range& range : expr.bounds)
      if (change(range.lower).kind != Kind::none || change(range.upper).kind != Kind::none)
        return {Kind::unknown};
    if (expr.condition && change(*expr.condition).kind != Kind::none) return {Kind::unknown};
    const Change body = change(expr.args[0]);
    if (body.kind == Kind::none || body.kind == Kind::unknown) return body;
    for (ExprId at : body.at)
      for (const Range& range : expr.bounds)
        if (algebra_.mentions(at, range.index)) return {Kind::unknown};
    switch (expr.reduce) {
      case ReduceOp::sum:
        return body.kind == Kind::scales ? body : Change{Kind::unknown};
      case ReduceOp::max:
      case ReduceOp::min:
        return body;
      case ReduceOp::argmax:
      case ReduceOp::argmin:
        return {};
      default:
        return {Kind::unknown};
    }
  }

  Problem problem_;
  Algebra algebra_;
  TensorId which_;
  std::map<TensorId, Change> changes_;
  std::map<TensorId, std::vector<ExprId>> indices_;
};

}  // namespace

bool outputs_ignore(const Problem& problem, TensorId which) {
  return problem.tensor(which).number == NumberClass::real &&
         problem.tensor(which).role == TensorRole::temporary && Invariance(problem, which).holds();
}

}  // namespace ako
