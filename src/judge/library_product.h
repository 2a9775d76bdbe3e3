// SPDX-License-Identifier: Apache-2.0
// Problems that are one plain product of two matrices, perhaps many of them: what the BLAS has calls for.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "problem/problem.h"

namespace ako {

/// `c[…] = sum(…: a[…] * b[…])` with bare subscripts over whole axes. Indices that stand side by side in the
/// same order wherever they occur count as one: tokens [B, T] of a linear layer are B*T rows.
struct MatrixProduct {
  struct Operand {
    TensorId tensor = -1;
    std::vector<int> axes;  // into `extents`, outermost first
    bool has(int index) const;
    /// Whether the index moves it by one element.
    bool is_innermost(int index) const { return !axes.empty() && axes.back() == index; }
  };
  std::vector<std::vector<ExprId>> extents;  // of each index: a product
  Operand a, b, c;
  std::optional<int> rows;     // in a and c
  std::optional<int> columns;  // in b and c
  int depth = 0;               // in a and b, summed
  std::vector<int> batch;      // in all three

  std::array<const Operand*, 3> operands() const { return {&a, &b, &c}; }
};

/// None: the problem is something else, has more than one index of a kind, or reads an operand in a way that
/// no leading dimension describes.
std::optional<MatrixProduct> match_matrix_product(const Problem&);

}  // namespace ako
