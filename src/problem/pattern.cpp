// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "problem/cost.h"
#include "problem/dependence.h"
#include "problem/patterns.h"

namespace ako {
namespace {

IndexSet bound_by(const Expr& reduce) {
  IndexSet result;
  for (const Range& range : reduce.bounds) result.insert(range.index);
  return result;
}

bool has(const Problem& problem, ExprId root, auto matches) {
  bool found = false;
  visit(problem, root, [&](ExprId which) {
    found = found || matches(problem.expr(which));
    return !found;
  });
  return found;
}

bool is_prefix(const Problem& problem, const Statement& statement) {
  return statement.kind == StatementKind::recurrence || has(problem, statement.value, [](const Expr& expr) {
           return expr.kind == ExprKind::reduce && expr.scan;
         });
}

/// Whether data chooses what a contraction multiplies, or how far it sums.
bool is_grouped(const Problem& problem, const Statement& statement, const Expr& reduce) {
  auto is_access = [](const Expr& expr) { return expr.kind == ExprKind::access; };
  auto from_data = [&](ExprId which) { return has(problem, which, is_access); };
  auto ragged = [&](const Range& range) { return from_data(range.lower) || from_data(range.upper); };
  if (std::any_of(reduce.bounds.begin(), reduce.bounds.end(), ragged)) return true;
  if (reduce.condition && from_data(*reduce.condition)) return true;
  if (statement.kind == StatementKind::accumulate &&
      std::any_of(statement.subscripts.begin(), statement.subscripts.end(), from_data))
    return true;
  for (ExprId factor : factors(problem, reduce.args[0]))
    for (ExprId subscript : problem.expr(factor).args)
      if (from_data(subscript)) return true;
  return false;
}

/// Every access that a reduction's indices appear in has them alone in its last axes.
bool is_over_trailing_axes(const Problem& problem, const Expr& reduce) {
  IndexSet own = bound_by(reduce);
  bool trailing = true;
  visit(problem, reduce.args[0], [&](ExprId which) {
    const Expr& access = problem.expr(which);
    if (access.kind != ExprKind::access || !intersects(free_indices(problem, which), own)) return true;
    bool inside = false;
    for (ExprId subscript : access.args) {
      bool summed = intersects(free_indices(problem, subscript), own);
      if (summed && problem.expr(subscript).kind != ExprKind::index) trailing = false;
      if (inside && !summed) trailing = false;
      inside = inside || summed;
    }
    return true;
  });
  return trailing;
}

/// What the statements say together.
struct Findings {
  int contractions = 0, grouped = 0, others = 0;
  bool trailing = true, prefix = false, updates = false, attends = false;
};

class Survey {
 public:
  explicit Survey(const Problem& problem)
      : problem_(problem), contracted_(problem.tensors.size()), weighted_(contracted_) {}

  Findings run() {
    for (const Statement& statement : problem_.statements) survey(statement);
    return found_;
  }

 private:
  void survey(const Statement& statement) {
    found_.prefix = found_.prefix || is_prefix(problem_, statement);
    found_.updates = found_.updates || statement.kind == StatementKind::accumulate;
    bool contracts = false;
    for (ExprId which : reductions(problem_, statement.value)) {
      const Expr& reduce = problem_.expr(which);
      if (!is_contraction(problem_, which)) {
        ++found_.others;
        found_.trailing = found_.trailing && is_over_trailing_axes(problem_, reduce);
        continue;
      }
      contracts = true;
      ++found_.contractions;
      found_.grouped += is_grouped(problem_, statement, reduce);
      for (ExprId factor : factors(problem_, reduce.args[0]))
        found_.attends = found_.attends || weighted_[static_cast<std::size_t>(problem_.expr(factor).ref)];
    }
    trace(statement, contracts);
  }

  /// Follows a contraction's result through temporaries, and notes where it goes through an exponential.
  void trace(const Statement& statement, bool contracts) {
    bool exponential = false, weighted = false;
    visit(problem_, statement.value, [&](ExprId which) {
      const Expr& expr = problem_.expr(which);
      exponential =
          exponential || (expr.kind == ExprKind::call && (expr.op == Op::exp || expr.op == Op::exp2));
      if (expr.kind == ExprKind::access) {
        contracts = contracts || contracted_[static_cast<std::size_t>(expr.ref)];
        weighted = weighted || weighted_[static_cast<std::size_t>(expr.ref)];
      }
      return true;
    });
    auto target = static_cast<std::size_t>(statement.target);
    contracted_[target] = contracted_[target] || contracts;
    weighted_[target] = weighted_[target] || weighted || (contracts && exponential);
  }

  const Problem& problem_;
  Findings found_;
  std::vector<bool> contracted_, weighted_;  // by TensorId
};

void collect_factors(const Problem& problem, ExprId which, std::vector<ExprId>& result) {
  const Expr& expr = problem.expr(which);
  if (expr.kind == ExprKind::access) result.push_back(which);
  bool product = expr.kind == ExprKind::binary && (expr.op == Op::mul || expr.op == Op::div);
  bool through = (expr.kind == ExprKind::unary && expr.op == Op::negate) ||
                 (expr.kind == ExprKind::call && (expr.op == Op::cast || expr.op == Op::to_real));
  if (expr.kind == ExprKind::binary && expr.op == Op::div)
    return collect_factors(problem, expr.args[0], result);
  if (product || through)
    for (ExprId arg : expr.args) collect_factors(problem, arg, result);
}

/// The indices of an access's own subscripts; those inside a gather, w[group[t], k], choose an operand and do
/// not run over it.
IndexSet direct_indices(const Problem& problem, ExprId access) {
  IndexSet result;
  for (ExprId subscript : problem.expr(access).args)
    visit(problem, subscript, [&](ExprId which) {
      if (problem.expr(which).kind == ExprKind::index) result.insert(problem.expr(which).ref);
      return problem.expr(which).kind != ExprKind::access;
    });
  return result;
}

bool has_own(const IndexSet& mine, const IndexSet& other, const IndexSet& summed) {
  return std::any_of(mine.begin(), mine.end(),
                     [&](IndexId index) { return !other.contains(index) && !summed.contains(index); });
}

}  // namespace

std::vector<ExprId> factors(const Problem& problem, ExprId which) {
  std::vector<ExprId> result;
  collect_factors(problem, which, result);
  return result;
}

std::vector<ExprId> reductions(const Problem& problem, ExprId root) {
  std::vector<ExprId> result;
  visit(problem, root, [&](ExprId which) {
    if (problem.expr(which).kind == ExprKind::reduce) result.push_back(which);
    return true;
  });
  return result;
}

bool is_contraction(const Problem& problem, ExprId which) {
  const Expr& reduce = problem.expr(which);
  if (reduce.kind != ExprKind::reduce || reduce.reduce != ReduceOp::sum || reduce.scan) return false;
  IndexSet summed = bound_by(reduce);
  std::vector<IndexSet> used;
  for (ExprId factor : factors(problem, reduce.args[0])) used.push_back(direct_indices(problem, factor));
  for (std::size_t i = 0; i < used.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      bool share = std::any_of(summed.begin(), summed.end(), [&](IndexId index) {
        return used[i].contains(index) && used[j].contains(index);
      });
      if (share && has_own(used[i], used[j], summed) && has_own(used[j], used[i], summed)) return true;
    }
  return false;
}

Pattern pattern_of(const Problem& problem) {
  Findings found = Survey(problem).run();
  if (found.prefix) return Pattern::scan;
  if (found.attends) return Pattern::attention;
  if (found.contractions == 1 && found.others == 0)
    return found.grouped ? Pattern::grouped_contraction : Pattern::contraction;
  if (found.grouped > 0) return Pattern::grouped_contraction;
  if (found.contractions > 0 || found.updates) return Pattern::other;
  if (found.others == 0) return Pattern::elementwise;
  return found.trailing ? Pattern::row_reduction : Pattern::other;
}

std::string_view name_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::elementwise:
      return "elementwise";
    case Pattern::row_reduction:
      return "row_reduction";
    case Pattern::contraction:
      return "contraction";
    case Pattern::attention:
      return "attention";
    case Pattern::grouped_contraction:
      return "grouped_contraction";
    case Pattern::scan:
      return "scan";
    case Pattern::other:
      return "other";
  }
  return "other";
}

}  // namespace ako
