// SPDX-License-Identifier: Apache-2.0
// No subscript may leave its tensor on any shape. Nothing is enumerated: linear forms are bounded from the
// ranges of indices, the values of integer tensors, and the conditions under which an expression is
// evaluated.
#include <fmt/format.h>

#include <algorithm>

#include "problem/index_ranges.h"
#include "problem/shapes.h"
#include "problem/words.h"

namespace ako {
namespace {

class BoundsCheck {
 public:
  BoundsCheck(const Problem& problem, const Shape& shape, Diagnostics& diagnostics)
      : problem_(problem), shape_(shape), ranges_(problem, shape), diagnostics_(diagnostics) {}

  void run() {
    for (const Statement& statement : problem_.statements) {
      IndexRanges::Mark before = ranges_.mark();
      statement_ = &statement;
      for (const Range& range : statement.indices) ranges_.enter(range);
      if (statement.kind == StatementKind::accumulate) check_target(statement);
      walk(statement.value);
      ValueRange values;
      bool known = statement.kind == StatementKind::define &&
                   problem_.expr(statement.value).type == NumberClass::integer;
      if (known) values = ranges_.interval(statement.value);
      ranges_.leave(before);
      if (problem_.tensor(statement.target).number == NumberClass::integer)
        ranges_.set_values(statement.target, values);
    }
  }

 private:
  void walk(ExprId which) {
    const Expr& expr = problem_.expr(which);
    switch (expr.kind) {
      case ExprKind::access:
        return access(expr);
      case ExprKind::select:
        walk(expr.args[0]);
        walk_given(expr.args[0], true, expr.args[1]);
        return walk_given(expr.args[0], false, expr.args[2]);
      case ExprKind::binary:
        walk(expr.args[0]);
        if (is_logical(expr.op)) return walk_given(expr.args[0], expr.op == Op::logical_and, expr.args[1]);
        walk(expr.args[1]);
        if (expr.type == NumberClass::integer && (expr.op == Op::div || expr.op == Op::mod)) divisor(expr);
        return;
      case ExprKind::reduce:
        return reduction(expr);
      default:
        for (ExprId arg : expr.args) walk(arg);
    }
  }

  void walk_given(ExprId condition, bool truth, ExprId which) {
    IndexRanges::Mark before = ranges_.mark();
    ranges_.assume(condition, truth);
    walk(which);
    ranges_.leave(before);
  }

  void reduction(const Expr& expr) {
    IndexRanges::Mark before = ranges_.mark();
    bool runs = true;
    for (const Range& range : expr.bounds) {
      walk(range.lower);
      walk(range.upper);
      runs = ranges_.enter(range) && runs;
    }
    if (runs && expr.condition) {
      walk(*expr.condition);
      ranges_.assume(*expr.condition, true);
    }
    if (runs) walk(expr.args[0]);
    ranges_.leave(before);
  }

  void access(const Expr& expr) {
    for (std::size_t axis = 0; axis < expr.args.size(); ++axis) {
      walk(expr.args[axis]);
      if (!expr.fallback) subscript(expr.ref, axis, expr.args[axis], first_of(expr.ref, axis), &expr);
    }
  }

  /// A recurrence may read the value before its first.
  std::int64_t first_of(TensorId tensor, std::size_t axis) const {
    bool recurs = statement_->kind == StatementKind::recurrence && statement_->target == tensor &&
                  statement_->axis == static_cast<int>(axis);
    return recurs ? -1 : 0;
  }

  void check_target(const Statement& statement) {
    for (std::size_t axis = 0; axis < statement.subscripts.size(); ++axis) {
      walk(statement.subscripts[axis]);
      subscript(statement.target, axis, statement.subscripts[axis], 0, nullptr);
    }
  }

  void subscript(TensorId tensor, std::size_t axis, ExprId which, std::int64_t first, const Expr* access) {
    Linear value = ranges_.form(which);
    std::int64_t last = ranges_.extent(tensor, axis) - 1;
    if (ranges_.known().proves_at_least(value, first) && ranges_.known().proves_at_most(value, last)) return;
    if (ranges_.known().contradict()) return;  // as under `where(d > 0, …)` on a shape with D = 1
    report(tensor, axis, which, access);
  }

  std::string range_text(const ValueRange& range) const {
    if (!range.low && !range.high) return "can be any integer";
    if (!range.low) return fmt::format("has no lower bound and reaches up to {}", *range.high);
    if (!range.high) return fmt::format("runs from {} without an upper bound", *range.low);
    if (*range.low == *range.high) return fmt::format("is {}", *range.low);
    return fmt::format("runs from {} to {}", *range.low, *range.high);
  }

  void report(TensorId tensor, std::size_t axis, ExprId which, const Expr* access) {
    const Expr& expr = problem_.expr(which);
    const Tensor& target = problem_.tensor(tensor);
    ValueRange range = ranges_.interval(which);
    std::string extent = to_text(problem_, target.shape[axis]);
    std::int64_t size = ranges_.extent(tensor, axis);
    std::string size_text = extent == std::to_string(size) ? extent : fmt::format("{} = {}", extent, size);
    std::string text = to_text(problem_, which);
    std::string advice =
        fmt::format("bound it with `clamp({}, 0, {} - 1)`, or say its range in `values`", text, extent);
    if (access && (range.low || range.high))
      advice = fmt::format("read `{}[…] or 0` to get 0 outside, or guard it: `where(0 <= {} < {}, …, 0)`",
                           target.name, text, extent);
    diagnostics_.add(
        {expr.line, expr.column, 1},
        fmt::format("the subscript {} of {} {}, but axis {} has {} elements, 0 to {} (shape {})", text,
                    target.name, range_text(range), axis + 1, size_text, size - 1, shape_.label),
        std::move(advice));
  }

  void divisor(const Expr& expr) {
    Linear value = ranges_.form(expr.args[1]);
    if (ranges_.known().proves_at_least(value, 1) || ranges_.known().proves_at_most(value, -1)) return;
    if (ranges_.known().contradict()) return;
    diagnostics_.add({expr.line, expr.column, 1},
                     fmt::format("the integer divisor {} may be 0 (shape {})",
                                 to_text(problem_, expr.args[1]), shape_.label),
                     "integer division needs a divisor that is certainly not 0: `max(…, 1)`");
  }

  const Problem& problem_;
  const Shape& shape_;
  IndexRanges ranges_;
  Diagnostics& diagnostics_;
  const Statement* statement_ = nullptr;
};

}  // namespace

void check_bounds(const Problem& problem, Diagnostics& diagnostics) {
  for (const Shape& shape : problem.shapes) {
    BoundsCheck(problem, shape, diagnostics).run();
    if (!diagnostics.empty()) return;  // further shapes would repeat what this one shows
  }
}

}  // namespace ako
