// SPDX-License-Identifier: Apache-2.0
// What values integer expressions can take on one shape. Expressions become linear forms over indices and
// over "atoms" for what is not linear: quotients, reads of integer tensors, minima. A quotient q = e / c is
// tied to e by c*q <= e <= c*q + c-1, so that (i/32)*32 + i%32 is i again.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "problem/linear.h"
#include "problem/problem.h"

namespace ako {

struct ValueRange {
  std::optional<std::int64_t> low, high;  // none: no bound known
};

class IndexRanges {
 public:
  IndexRanges(const Problem&, const Shape&);

  /// What has been entered since a mark is forgotten by leave(): an index's range or a condition's truth
  /// holds only where it stands.
  struct Mark {
    std::size_t inequalities;
    Variable next;
  };
  Mark mark() const { return {known_.size(), next_}; }
  void leave(const Mark&);

  /// lower <= index < upper. False when the range is certainly empty.
  bool enter(const Range&);
  void assume(ExprId condition, bool truth);

  Linear form(ExprId);
  ValueRange interval(ExprId);
  const Inequalities& known() const { return known_; }
  std::int64_t extent(TensorId, std::size_t axis) const;

  /// The values an integer tensor holds once it is assigned.
  void set_values(TensorId, const ValueRange&);

 private:
  Linear atom(const std::string& key, const ValueRange&);
  ValueRange interval_of(const Linear&) const;
  Linear quotient(const Linear& dividend, std::int64_t divisor);
  Linear binary(ExprId, const Expr&);
  Linear product(ExprId, const Linear&, const Linear&);
  Linear uneven_division(ExprId, const Expr&, const Linear&, const Linear&);
  Linear minimum(ExprId, const std::vector<Linear>&, bool largest);
  Linear call(ExprId, const Expr&);
  Linear select(ExprId, const Expr&);
  Linear reduction(ExprId, const Expr&);
  ValueRange declared_values(const Tensor&, const ValueSpec&) const;
  std::string key_of(ExprId) const;

  const Problem& problem_;
  const Shape& shape_;
  Inequalities known_;
  Variable next_ = 0;
  std::map<std::string, Variable> variables_;
  std::vector<ValueRange> values_;  // by TensorId
};

}  // namespace ako
