// SPDX-License-Identifier: Apache-2.0
#include "problem/counting.h"

#include <algorithm>
#include <cmath>

#include "problem/evaluate.h"
#include "problem/words.h"

namespace ako {
namespace {

constexpr double most_points = 1 << 14;

std::optional<std::int64_t> combine(Op op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case Op::add:
      return a + b;
    case Op::sub:
      return a - b;
    case Op::mul:
      return a * b;
    case Op::div:
      return floored_div(a, b);
    case Op::mod:
      return floored_mod(a, b);
    case Op::min:
      return std::min(a, b);
    case Op::max:
      return std::max(a, b);
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
      return std::nullopt;
  }
}

/// Whether an integer expression is affine in an index as written.
bool affine_in(const Problem& problem, ExprId which, IndexId index) {
  const Expr& expr = problem.expr(which);
  bool linear = expr.kind == ExprKind::unary ||
                (expr.kind == ExprKind::binary && (expr.op == Op::add || expr.op == Op::sub));
  if (expr.kind == ExprKind::index || expr.kind == ExprKind::dim || expr.kind == ExprKind::int_literal)
    return true;
  if (expr.kind == ExprKind::binary && expr.op == Op::mul) {
    auto constant = [&](ExprId arg) { return !free_indices(problem, arg).contains(index); };
    linear = constant(expr.args[0]) || constant(expr.args[1]);
  }
  if (!linear) return !free_indices(problem, which).contains(index);
  return std::all_of(expr.args.begin(), expr.args.end(),
                     [&](ExprId arg) { return affine_in(problem, arg, index); });
}

class Counter {
 public:
  Counter(const Problem& problem, const Shape& shape, const IterationDomain& domain)
      : problem_(problem), shape_(shape), domain_(domain) {
    std::size_t levels = domain.ranges.size();
    matters_.assign(levels, false);
    for (std::size_t level = 0; level < levels; ++level) {
      IndexId index = domain.ranges[level].index;
      for (std::size_t later = level + 1; later < levels; ++later)
        if (free_indices(problem, domain.ranges[later]).contains(index)) matters_[level] = true;
      for (const Guard& guard : domain.guards)
        if (free_indices(problem, guard.condition).contains(index)) matters_[level] = true;
    }
    auto enumerated = std::count(matters_.begin(), matters_.end(), true);
    budget_ = static_cast<std::int64_t>(
        std::pow(most_points, 1.0 / static_cast<double>(std::max<std::ptrdiff_t>(enumerated, 1))));
    budget_ = std::max<std::int64_t>(budget_ / 2 * 2, 2);
  }

  double run() { return from(0); }

 private:
  struct Span {
    std::int64_t low, high;
    std::int64_t size() const { return std::max<std::int64_t>(high - low, 0); }
  };

  double from(std::size_t level) {
    if (level == domain_.ranges.size()) return share_of_guards();
    const Range& range = domain_.ranges[level];
    auto low = value_at(problem_, shape_, range.lower, point_),
         high = value_at(problem_, shape_, range.upper, point_);
    if (!low || !high) return mean_length(range) * from(level + 1);
    Span span{*low, *high};
    if (span.size() == 0) return 0;
    if (!matters_[level]) return static_cast<double>(span.size()) * from(level + 1);
    if (auto clipped = clip(level, span))
      return clipped->size() == 0 ? 0 : static_cast<double>(clipped->size()) * rest_after(level);
    return enumerate(level, range.index, span);
  }

  /// Nothing further in depends on this level any more, and the guards have been accounted for.
  double rest_after(std::size_t level) {
    double product = 1;
    for (std::size_t later = level + 1; later < domain_.ranges.size(); ++later) {
      const Range& range = domain_.ranges[later];
      auto low = value_at(problem_, shape_, range.lower, point_),
           high = value_at(problem_, shape_, range.upper, point_);
      product *= low && high ? static_cast<double>(Span{*low, *high}.size()) : mean_length(range);
    }
    return product;
  }

  double enumerate(std::size_t level, IndexId index, const Span& span) {
    std::int64_t size = span.size();
    double sum = 0;
    auto visit_at = [&](std::int64_t offset) {
      point_[index] = span.low + offset;
      sum += from(level + 1);
    };
    double weight = 1;
    if (size <=
        std::max<std::int64_t>(budget_, matters_after(level) ? 0 : static_cast<std::int64_t>(most_points))) {
      for (std::int64_t i = 0; i < size; ++i) visit_at(i);
    } else {  // pairs mirrored about the middle: exact for what is linear
      for (std::int64_t j = 0; j < budget_ / 2; ++j) {
        auto offset = static_cast<std::int64_t>((static_cast<double>(j) + 0.5) * static_cast<double>(size) /
                                                static_cast<double>(budget_));
        visit_at(offset);
        visit_at(size - 1 - offset);
      }
      weight = static_cast<double>(size) / static_cast<double>(budget_);
    }
    point_.erase(index);
    return sum * weight;
  }

  bool matters_after(std::size_t level) const {
    return std::any_of(matters_.begin() + static_cast<std::ptrdiff_t>(level) + 1, matters_.end(),
                       [](bool one) { return one; });
  }

  /// The values at this level for which all guards hold, in closed form; nullopt when it has none.
  std::optional<Span> clip(std::size_t level, Span span) {
    if (matters_after(level)) return std::nullopt;
    for (std::size_t later = level + 1; later < domain_.ranges.size(); ++later)
      if (free_indices(problem_, domain_.ranges[later]).contains(domain_.ranges[level].index))
        return std::nullopt;
    for (const Guard& guard : domain_.guards)
      if (!clip_by(guard.condition, guard.negated, domain_.ranges[level].index, span)) return std::nullopt;
    return span;
  }

  bool clip_by(ExprId condition, bool negated, IndexId index, Span& span) {
    const Expr& expr = problem_.expr(condition);
    if (expr.kind == ExprKind::unary) return clip_by(expr.args[0], !negated, index, span);
    bool joins = expr.kind == ExprKind::binary && expr.op == (negated ? Op::logical_or : Op::logical_and);
    if (joins)
      return clip_by(expr.args[0], negated, index, span) && clip_by(expr.args[1], negated, index, span);
    if (expr.kind != ExprKind::binary || !is_comparison(expr.op)) return false;
    if (!affine_in(problem_, expr.args[0], index) || !affine_in(problem_, expr.args[1], index)) return false;
    auto at_zero = difference(expr, index, 0), at_one = difference(expr, index, 1);
    if (!at_zero || !at_one) return false;
    return clip_line(negated ? opposite(expr.op) : expr.op, *at_zero, *at_one - *at_zero, span);
  }

  std::optional<std::int64_t> difference(const Expr& expr, IndexId index, std::int64_t value) {
    point_[index] = value;
    auto left = value_at(problem_, shape_, expr.args[0], point_),
         right = value_at(problem_, shape_, expr.args[1], point_);
    point_.erase(index);
    return left && right ? std::optional(*left - *right) : std::nullopt;
  }

  static Op opposite(Op op) {
    switch (op) {
      case Op::less:
        return Op::greater_equal;
      case Op::less_equal:
        return Op::greater;
      case Op::greater:
        return Op::less_equal;
      case Op::greater_equal:
        return Op::less;
      case Op::equal:
        return Op::not_equal;
      default:
        return Op::equal;
    }
  }

  /// Clips to where `offset + slope * i OP 0`.
  static bool clip_line(Op op, std::int64_t offset, std::int64_t slope, Span& span) {
    if (op == Op::greater || op == Op::greater_equal) {
      offset = -offset;
      slope = -slope;
      op = op == Op::greater ? Op::less : Op::less_equal;
    }
    if (op == Op::not_equal) return false;
    if (op == Op::equal)
      return clip_line(Op::less_equal, offset, slope, span) &&
             clip_line(Op::less_equal, -offset, -slope, span);
    std::int64_t room = (op == Op::less ? -1 : 0) - offset;  // slope * i <= room
    if (slope == 0 && room < 0) span.high = span.low;
    if (slope > 0) span.high = std::min(span.high, *floored_div(room, slope) + 1);
    if (slope < 0) span.low = std::max(span.low, -*floored_div(room, -slope));
    return true;
  }

  double share_of_guards() {
    double share = 1;
    for (const Guard& guard : domain_.guards) {
      auto holds = value_at(problem_, shape_, guard.condition, point_);
      share *= !holds ? 0.5 : (*holds != 0) != guard.negated ? 1 : 0;
    }
    return share;
  }

  /// Of a range whose ends are data: the mean group of a ragged tensor, else as if the data were spread
  /// evenly.
  double mean_length(const Range& range) {
    const Expr& upper = problem_.expr(range.upper);
    if (upper.kind == ExprKind::access) {
      const Tensor& tensor = problem_.tensor(upper.ref);
      if (tensor.values && tensor.values->distribution == Distribution::ragged && !tensor.shape.empty()) {
        double groups = static_cast<double>(evaluate_integer(problem_, tensor.shape.back(), shape_) - 1);
        return evaluate_constant(problem_, tensor.values->args[0], shape_) / std::max(groups, 1.0);
      }
      if (tensor.values && tensor.values->distribution == Distribution::integers)
        return std::max(0.0, (evaluate_constant(problem_, tensor.values->args[0], shape_) +
                              evaluate_constant(problem_, tensor.values->args[1], shape_) - 1) /
                                 2);
    }
    return 1;
  }

  const Problem& problem_;
  const Shape& shape_;
  const IterationDomain& domain_;
  std::vector<bool> matters_;  // by level: something further in depends on it
  std::int64_t budget_ = 0;    // values tried at one level
  Point point_;
};

}  // namespace

std::optional<std::int64_t> value_at(const Problem& problem, const Shape& shape, ExprId which,
                                     const Point& point) {
  const Expr& expr = problem.expr(which);
  auto value = [&](std::size_t arg) { return value_at(problem, shape, expr.args[arg], point); };
  switch (expr.kind) {
    case ExprKind::int_literal:
    case ExprKind::bool_literal:
      return expr.integer;
    case ExprKind::dim:
      return shape.dims[static_cast<std::size_t>(expr.ref)];
    case ExprKind::index: {
      auto found = point.find(expr.ref);
      return found == point.end() ? std::nullopt : std::optional(found->second);
    }
    case ExprKind::unary: {
      auto operand = value(0);
      if (!operand || expr.type == NumberClass::real) return std::nullopt;
      return expr.op == Op::negate ? -*operand : !*operand;
    }
    case ExprKind::binary:
    case ExprKind::call: {
      if (expr.args.size() != 2 || expr.type == NumberClass::real) return std::nullopt;
      auto left = value(0), right = value(1);
      if (is_logical(expr.op)) {
        bool decisive = expr.op == Op::logical_or;
        if ((left && (*left != 0) == decisive) || (right && (*right != 0) == decisive)) return decisive;
        return left && right ? std::optional<std::int64_t>(!decisive) : std::nullopt;
      }
      return left && right ? combine(expr.op, *left, *right) : std::nullopt;
    }
    case ExprKind::select: {
      auto condition = value(0);
      return !condition ? std::nullopt : *condition ? value(1) : value(2);
    }
    default:
      return std::nullopt;
  }
}

IterationDomain restricted(const Problem& problem, const IterationDomain& domain, const IndexSet& indices) {
  IndexSet needed = indices;
  std::vector<bool> kept(domain.ranges.size(), false);
  for (std::size_t level = domain.ranges.size(); level-- > 0;) {
    if (!needed.contains(domain.ranges[level].index)) continue;
    kept[level] = true;
    needed.merge(free_indices(problem, domain.ranges[level]));
  }
  IterationDomain result;
  for (std::size_t level = 0; level < kept.size(); ++level)
    if (kept[level]) result.ranges.push_back(domain.ranges[level]);
  for (const Guard& guard : domain.guards) {
    IndexSet used = free_indices(problem, guard.condition);
    if (std::includes(needed.begin(), needed.end(), used.begin(), used.end())) result.guards.push_back(guard);
  }
  return result;
}

double count_points(const Problem& problem, const Shape& shape, const IterationDomain& domain) {
  return Counter(problem, shape, domain).run();
}

}  // namespace ako
