// SPDX-License-Identifier: Apache-2.0
// Operations are counted once for each combination of the indices that they depend on: a row's maximum
// written inside an expression over the row's elements is not counted for each element again.
#include "problem/cost.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "problem/counting.h"
#include "problem/evaluate.h"
#include "problem/patterns.h"
#include "problem/words.h"

namespace ako {
namespace {

/// Multiplications of x^n by repeated squaring.
double multiplications(std::int64_t exponent) {
  double count = exponent < 0 ? 1 : 0;  // one division
  for (std::int64_t n = std::abs(exponent); n > 1; n /= 2) count += 1 + n % 2;
  return count;
}

struct Operations {
  double flops = 0;
  bool transcendental = false;
};

Operations operations_of(const Problem& problem, const Expr& expr) {
  auto is_real = [&](ExprId arg) { return problem.expr(arg).type == NumberClass::real; };
  bool real = expr.type == NumberClass::real || std::any_of(expr.args.begin(), expr.args.end(), is_real);
  if (!real) return {};
  if (expr.kind == ExprKind::binary) {
    if (is_logical(expr.op)) return {};
    const Expr& exponent = problem.expr(expr.args[1]);
    if (expr.op != Op::pow) return {1};
    return exponent.kind == ExprKind::int_literal ? Operations{multiplications(exponent.integer)}
                                                  : Operations{1, true};
  }
  if (expr.kind != ExprKind::call) return {};
  switch (expr.op) {
    case Op::to_int:
    case Op::to_real:
    case Op::cast:
    case Op::abs:
      return {};
    case Op::min:
    case Op::max:
    case Op::relu:
    case Op::sign:
    case Op::floor:
    case Op::ceil:
    case Op::round:
    case Op::trunc:
    case Op::is_nan:
    case Op::is_inf:
      return {1};
    case Op::clamp:
      return {2};
    default:
      return {1, true};
  }
}

class Counter {
 public:
  Counter(const Problem& problem, const Shape& shape) : problem_(problem), shape_(shape) {}

  Cost run() {
    if (problem_.statements.empty()) return declared();
    for (const Statement& statement : problem_.statements) count(statement);
    cost_.compulsory = bytes();
    return cost_;
  }

 private:
  /// Without math: what `cost:` says; zero is unknown.
  Cost declared() const {
    auto value = [&](std::optional<ExprId> expression) {
      return expression ? std::max(0.0, try_evaluate_constant(problem_, *expression, shape_).value_or(0)) : 0.0;
    };
    Cost cost;
    cost.flops = value(problem_.declared_flops);
    cost.compulsory = {static_cast<std::int64_t>(value(problem_.declared_bytes))};
    return cost;
  }

  void count(const Statement& statement) {
    domain_ = {statement.indices, {}};
    visit_expr(statement.value);
    for (ExprId subscript : statement.subscripts) visit_expr(subscript);
    if (statement.kind == StatementKind::accumulate) {
      if (problem_.tensor(statement.target).number == NumberClass::real) cost_.flops += points(domain_);
      note_access(statement.target, statement.subscripts);
    }
  }

  double points(const IterationDomain& domain) {
    std::string key;
    for (const Range& range : domain.ranges) key += std::to_string(range.index) + ",";
    for (const Guard& guard : domain.guards)
      key += (guard.negated ? "!" : "?") + std::to_string(guard.condition);
    auto [at, fresh] = counted_.emplace(key, 0);
    if (fresh) at->second = count_points(problem_, shape_, domain);
    return at->second;
  }

  double times(ExprId which) { return points(restricted(problem_, domain_, free_indices(problem_, which))); }

  void visit_expr(ExprId which) {
    const Expr& expr = problem_.expr(which);
    if (expr.kind == ExprKind::reduce) return visit_reduce(which, expr);
    if (expr.kind == ExprKind::select) return visit_select(expr);
    if (Operations operations = operations_of(problem_, expr); operations.flops > 0) {
      double count = times(which);
      cost_.flops += operations.flops * count;
      if (operations.transcendental) cost_.transcendental += count;
    }
    if (expr.kind == ExprKind::access) note_access(expr.ref, expr.args);
    for (ExprId arg : expr.args) visit_expr(arg);
  }

  void visit_select(const Expr& expr) {
    visit_expr(expr.args[0]);
    for (bool negated : {false, true}) {
      domain_.guards.push_back({expr.args[0], negated});
      visit_expr(expr.args[negated ? 2 : 1]);
      domain_.guards.pop_back();
    }
  }

  void visit_reduce(ExprId which, const Expr& expr) {
    IterationDomain outer = domain_;
    IndexSet own = free_indices(problem_, which);
    for (const Range& range : expr.bounds) {
      visit_expr(range.lower);
      visit_expr(range.upper);
      own.insert(range.index);
      domain_.ranges.push_back(expr.scan ? whole(range) : range);
    }
    if (expr.condition) {
      visit_expr(*expr.condition);
      domain_.guards.push_back({*expr.condition, false});
    }
    visit_expr(expr.args[0]);
    double combined = 0;
    if (problem_.expr(expr.args[0]).type == NumberClass::real) {
      if (expr.scan) {  // one step for each element of the result
        own.erase(expr.bounds[0].index);
        combined = points(restricted(problem_, outer, own));
      } else {
        combined = points(restricted(problem_, domain_, own));
      }
    }
    cost_.flops += combined;
    domain_ = std::move(outer);
    if (is_contraction(problem_, which)) cost_.contraction_flops += 2 * combined;
  }

  /// A scan's index over all it ever takes: what is scanned is computed once.
  Range whole(Range range) const {
    for (const Range& loop : domain_.ranges)
      if (free_indices(problem_, range.upper).contains(loop.index)) range.upper = loop.upper;
    return range;
  }

  // Bytes. Accesses with the same subscripts over the same ranges read the same elements; others add up, at
  // most to the whole tensor.
  void note_access(TensorId tensor, const std::vector<ExprId>& subscripts) {
    double count = 1;
    std::string key;
    for (std::size_t axis = 0; axis < subscripts.size(); ++axis) {
      auto extent =
          static_cast<double>(evaluate_integer(problem_, problem_.tensor(tensor).shape[axis], shape_));
      IndexSet used = free_indices(problem_, subscripts[axis]);
      IterationDomain domain = restricted(problem_, {domain_.ranges, {}}, used);
      count *= std::min(extent, distinct(subscripts[axis], domain));
      key += to_text(problem_, subscripts[axis]) + ";";
    }
    touched_[tensor].emplace(key, count);
  }

  /// At most as many values as there are points; a plain index takes those of its whole range.
  double distinct(ExprId subscript, const IterationDomain& domain) {
    const Expr& expr = problem_.expr(subscript);
    if (expr.kind != ExprKind::index) return points({domain.ranges, domain.guards});
    double most = 0;
    for (const Range& range : domain.ranges)
      if (range.index == expr.ref) most = longest(range, domain);
    return most;
  }

  /// The length of a range where the indices it depends on are at their ends.
  double longest(const Range& range, const IterationDomain& domain) {
    Point low, high;
    for (const Range& outer : domain.ranges) {
      auto from = value_at(problem_, shape_, outer.lower, low),
           to = value_at(problem_, shape_, outer.upper, high);
      if (from) low[outer.index] = *from;
      if (to) high[outer.index] = *to - 1;
      if (outer.index == range.index && from && to)
        return static_cast<double>(std::max<std::int64_t>(*to - *from, 0));
    }
    return points({domain.ranges, {}});
  }

  Bytes bytes() {
    Bytes total;
    for (TensorId id : kernel_tensors(problem_)) {
      const Tensor& tensor = problem_.tensor(id);
      std::int64_t all = element_count(problem_, tensor, shape_);
      double used = 0;
      for (const auto& [key, count] : touched_[id]) used += count;
      auto read = static_cast<std::int64_t>(std::min(static_cast<double>(all), used));
      if (tensor.role == TensorRole::input) total += storage_bytes(tensor.type, read);
      if (tensor.role == TensorRole::output) total += storage_bytes(tensor.type, all);
      if (tensor.role == TensorRole::inout) {
        total += storage_bytes(tensor.type, read);
        total += storage_bytes(tensor.type, defined_whole(id) ? all : read);
      }
    }
    return total;
  }

  bool defined_whole(TensorId id) const {
    return std::any_of(problem_.statements.begin(), problem_.statements.end(),
                       [&](const Statement& statement) {
                         return statement.target == id && statement.kind != StatementKind::accumulate;
                       });
  }

  const Problem& problem_;
  const Shape& shape_;
  Cost cost_;
  IterationDomain domain_;
  std::map<std::string, double> counted_;
  std::map<TensorId, std::map<std::string, double>> touched_;  // elements by subscripts
};

}  // namespace

Cost cost_of(const Problem& problem, const Shape& shape) { return Counter(problem, shape).run(); }

}  // namespace ako
