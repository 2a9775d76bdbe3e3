// SPDX-License-Identifier: Apache-2.0
#include "judge/library_product.h"

#include <algorithm>
#include <map>

namespace ako {
namespace {

/// The index of each bare subscript, each at most once; none when a subscript is anything else.
std::optional<std::vector<IndexId>> bare_indices(const Problem& problem,
                                                 const std::vector<ExprId>& subscripts) {
  std::vector<IndexId> indices;
  for (ExprId which : subscripts) {
    const Expr& subscript = problem.expr(which);
    if (subscript.kind != ExprKind::index) return std::nullopt;
    if (std::find(indices.begin(), indices.end(), subscript.ref) != indices.end()) return std::nullopt;
    indices.push_back(subscript.ref);
  }
  return indices;
}

class Matcher {
 public:
  explicit Matcher(const Problem& problem) : problem_(problem) {}

  std::optional<MatrixProduct> run() {
    if (problem_.statements.size() != 1 || problem_.python_reference) return std::nullopt;
    const Statement& statement = problem_.statements.front();
    const Expr& sum = problem_.expr(statement.value);
    if (statement.kind != StatementKind::define || !is_plain_sum(sum)) return std::nullopt;
    const Expr& product = problem_.expr(sum.args[0]);
    if (product.kind != ExprKind::binary || product.op != Op::mul) return std::nullopt;
    note_ranges(statement.indices);
    note_ranges(sum.bounds);
    bool fine = take(problem_.expr(product.args[0]), found_.a) &&
                take(problem_.expr(product.args[1]), found_.b) &&
                take_axes(statement.target, statement.subscripts, found_.c);
    if (!fine) return std::nullopt;
    while (fuse_a_pair()) {
    }
    if (!sort_indices() || !is_described_by_strides()) return std::nullopt;
    return std::move(found_);
  }

 private:
  using Operand = MatrixProduct::Operand;

  static bool is_plain_sum(const Expr& expr) {
    return expr.kind == ExprKind::reduce && expr.reduce == ReduceOp::sum && !expr.scan && !expr.condition;
  }

  void note_ranges(const std::vector<Range>& ranges) {
    for (const Range& range : ranges) {
      numbers_.emplace(range.index, static_cast<int>(found_.extents.size()));
      ranges_.push_back(range);
      found_.extents.push_back({range.upper});
    }
  }

  bool take(const Expr& factor, Operand& to) {
    return factor.kind == ExprKind::access && !factor.fallback && take_axes(factor.ref, factor.args, to);
  }

  bool take_axes(TensorId tensor, const std::vector<ExprId>& subscripts, Operand& to) {
    auto indices = bare_indices(problem_, subscripts);
    if (!indices) return false;
    to.tensor = tensor;
    for (std::size_t axis = 0; axis < indices->size(); ++axis) {
      auto number = numbers_.find((*indices)[axis]);
      if (number == numbers_.end() || !covers(number->second, tensor, axis)) return false;
      to.axes.push_back(number->second);
    }
    return true;
  }

  /// From 0 to the extent, as written: what needs more thought than that is no plain product.
  bool covers(int index, TensorId tensor, std::size_t axis) const {
    const Range& range = ranges_[static_cast<std::size_t>(index)];
    const Expr& lower = problem_.expr(range.lower);
    return lower.kind == ExprKind::int_literal && lower.integer == 0 &&
           to_text(problem_, range.upper) == to_text(problem_, problem_.tensor(tensor).shape[axis]);
  }

  /// Whether `inner` follows `outer` directly wherever either occurs.
  bool side_by_side(int outer, int inner) const {
    bool occurs = false;
    for (const Operand* operand : found_.operands()) {
      auto at = std::find(operand->axes.begin(), operand->axes.end(), outer);
      if (at == operand->axes.end()) {
        if (operand->has(inner)) return false;
        continue;
      }
      if (at + 1 == operand->axes.end() || at[1] != inner) return false;
      occurs = true;
    }
    return occurs;
  }

  bool fuse_a_pair() {
    auto count = static_cast<int>(found_.extents.size());
    for (int outer = 0; outer < count; ++outer)
      for (int inner = 0; inner < count; ++inner) {
        if (outer == inner || !side_by_side(outer, inner)) continue;
        auto& to = found_.extents[static_cast<std::size_t>(outer)];
        auto& from = found_.extents[static_cast<std::size_t>(inner)];
        to.insert(to.end(), from.begin(), from.end());
        from.clear();
        for (Operand* operand : {&found_.a, &found_.b, &found_.c}) std::erase(operand->axes, inner);
        return true;
      }
    return false;
  }

  bool sort_indices() {
    std::optional<int> depth;
    for (int index = 0; index < static_cast<int>(found_.extents.size()); ++index) {
      bool a = found_.a.has(index), b = found_.b.has(index), c = found_.c.has(index);
      if (!a && !b && !c) {
        if (!found_.extents[static_cast<std::size_t>(index)].empty()) return false;  // a sum of equal terms
      } else if (a && b && c) {
        found_.batch.push_back(index);
      } else if (a && c && !found_.rows) {
        found_.rows = index;
      } else if (b && c && !found_.columns) {
        found_.columns = index;
      } else if (a && b && !depth) {
        depth = index;
      } else {
        return false;
      }
    }
    found_.depth = depth.value_or(-1);
    return depth && (found_.rows || found_.columns);
  }

  /// Matrices need an axis of their own with a stride of one element; vectors may have any stride.
  bool is_described_by_strides() const {
    for (const Operand* operand : found_.operands()) {
      int matrix_axes = 0;
      for (int axis : operand->axes) matrix_axes += !is_batch(axis);
      if (matrix_axes == 2 && is_batch(operand->axes.back())) return false;
    }
    return true;
  }
  bool is_batch(int index) const {
    return std::find(found_.batch.begin(), found_.batch.end(), index) != found_.batch.end();
  }

  const Problem& problem_;
  MatrixProduct found_;
  std::map<IndexId, int> numbers_;
  std::vector<Range> ranges_;
};

}  // namespace

bool MatrixProduct::Operand::has(int index) const {
  return std::find(axes.begin(), axes.end(), index) != axes.end();
}

std::optional<MatrixProduct> match_matrix_product(const Problem& problem) { return Matcher(problem).run(); }

}  // namespace ako
