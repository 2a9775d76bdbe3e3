// SPDX-License-Identifier: Apache-2.0
// How many points an iteration space has: nested ranges that may depend on each other (k <= q), under
// conditions.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "problem/dependence.h"
#include "problem/problem.h"

namespace ako {

/// A condition that must hold, or must not.
struct Guard {
  ExprId condition = -1;
  bool negated = false;
};

struct IterationDomain {
  std::vector<Range> ranges;  // outermost first
  std::vector<Guard> guards;
};

/// The part of a domain that decides how often a value is different that depends on `indices` only: their
/// ranges, the ranges those depend on, and the guards on nothing else.
IterationDomain restricted(const Problem&, const IterationDomain&, const IndexSet& indices);

/// Exact where ranges and conditions are affine and the indices that others depend on take at most a few
/// thousand values together; else a mean over evenly spread points, which is exact for triangles too. A
/// condition on data counts half; ranges between offsets of a ragged tensor have their mean length.
double count_points(const Problem&, const Shape&, const IterationDomain&);

/// Integer value at a point; nullopt when it depends on data or on an index that has no value there.
using Point = std::map<IndexId, std::int64_t>;
std::optional<std::int64_t> value_at(const Problem&, const Shape&, ExprId, const Point&);

}  // namespace ako
