// SPDX-License-Identifier: Apache-2.0
// The passes behind differentiate(): rules for expressions, and how contributions become statements.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "problem/algebra.h"
#include "problem/gradient.h"

namespace ako {

/// Under which loops and conditions an expression is evaluated.
struct EvaluationPath {
  std::vector<Range> ranges;
  std::vector<ExprId> conditions;
};

/// One read's part in the cotangent of the tensor that it reads.
struct Contribution {
  std::vector<ExprId> subscripts;
  bool may_leave = false;  // read with `or`
  EvaluationPath path;
  ExprId value = -1;
  Spot spot;
};

/// What the solver of subscripts knows while it turns a contribution into a sum.
struct Solution {
  std::vector<Range> left;           // indices still summed over
  std::vector<ExprId> conditions;    // as given, of the path
  std::vector<ExprId> not_negative;  // integer expressions
  std::vector<ExprId> subscripts;    // of the read, by axis
  std::vector<bool> solved;          // by axis
  ExprId value = -1;
};

class IndexSolver {
 public:
  IndexSolver(Algebra& algebra, const Tensor& target, std::vector<IndexId> at)
      : algebra_(algebra), target_(target), at_(std::move(at)) {}
  /// The sum that a contribution makes at target[at]; nullopt when its subscripts cannot be solved.
  std::optional<ExprId> gather(const Contribution&);

 private:
  bool solve_axis(std::size_t axis, ExprId subscript, bool plain_only);
  bool solve_mixed_radix(std::size_t axis, const LinearTerms&);
  bool solve_quotient(std::size_t axis, const LinearTerms&);
  bool solve_unit(std::size_t axis, const LinearTerms&, bool plain_only);
  void replace(IndexId, ExprId by);
  bool reads_zero_outside(IndexId, const Range&, ExprId by);
  void constrain(const Range&, ExprId value, std::size_t axis);
  void narrow();
  bool narrow_by(ExprId not_negative);
  void take_comparisons();
  bool bounds_itself(IndexId v, ExprId rest) const;
  bool order_ranges();
  bool stays_below(ExprId plain, ExprId upper) const;
  const Range* range_of(IndexId) const;
  bool is_left(IndexId which) const { return range_of(which) != nullptr; }
  bool mentions_left(ExprId) const;
  bool extent_is(std::size_t axis, ExprId) const;
  ExprId condition_of(ExprId not_negative);

  Algebra& algebra_;
  const Tensor target_;
  std::vector<IndexId> at_;
  Solution now_;
};

class Differentiator {
 public:
  Differentiator(const Problem& forward, std::vector<TensorId> wanted, Diagnostics& diagnostics);
  std::optional<GradientMath> run();

 private:
  struct Reversed {  // a recurrence run backwards
    TensorId tensor = -1;
    int axis = 0;
    ExprId length = -1;
    ExprId step = -1;  // derivative of h[t] by h[t-1], at the statement's own indices
    std::vector<Range> indices;
  };

  // gradient_expression.cpp
  void push(ExprId, const EvaluationPath&, ExprId seed, ExprId value = -1);
  void push_binary(ExprId, const EvaluationPath&, ExprId seed, ExprId value);
  void push_call(ExprId, const EvaluationPath&, ExprId seed, ExprId value);
  ExprId slope(Op, ExprId argument, ExprId value);
  void push_choice(ExprId condition, ExprId then, ExprId otherwise, const EvaluationPath&, ExprId seed);
  void push_reduction(ExprId, const EvaluationPath&, ExprId seed);
  void push_extreme(ExprId, const EvaluationPath&, ExprId seed);
  void push_product(ExprId, const EvaluationPath&, ExprId seed);
  void push_scan(ExprId, const EvaluationPath&, ExprId seed);
  void contribute(ExprId access, const EvaluationPath&, ExprId seed);
  bool depends(ExprId) const;

  // gradient.cpp
  void find_active();
  bool check_statements();
  void statement(const Statement&);
  void recurrence(const Statement&);
  void initial(const Statement&);
  bool finish_cotangent(TensorId);
  void define_cotangent(TensorId, TensorId result);
  void scatter(const Contribution&, TensorId of, TensorId result);
  bool ranges_follow(const Statement& update) const;
  ExprId with_first(ExprId);
  ExprId cotangent(TensorId, std::vector<ExprId> subscripts);
  ExprId gathered(TensorId, const std::vector<IndexId>& at, std::vector<const Contribution*>& scattered);
  std::vector<IndexId> axes_of(TensorId);
  TensorId new_tensor(const std::string& wanted, const Tensor& like, bool exact);
  TensorId helper(const std::string& wanted, const std::vector<Range>&, NumberClass);
  void emit(StatementKind, TensorId, const std::vector<IndexId>&, ExprId value, int axis = -1);
  std::string free_name(const std::string& wanted) const;
  void refuse(const Spot&, std::string what, std::string advice);
  Spot spot_of(ExprId) const;

  // gradient_finish.cpp: leaves out what nothing reads; gives indices names that differ where they meet.
  void trim();
  void name_indices(Statement&);

  GradientMath math_;
  Problem& problem_;
  Algebra algebra_;
  Diagnostics& diagnostics_;
  std::vector<TensorId> wanted_;
  std::size_t forward_tensors_ = 0;
  std::set<TensorId> active_;
  std::map<TensorId, std::vector<Contribution>> contributions_;
  std::map<TensorId, TensorId> finished_;  // tensors whose cotangent is a tensor now
  std::map<TensorId, Reversed> reversed_;
  std::vector<Statement> backward_;
  bool refused_ = false;

  // of a recurrence: first what it reads of itself, then the rest
  TensorId recurring_ = -1;
  bool own_reads_ = false;
  std::vector<Contribution> own_;
};

}  // namespace ako
