// SPDX-License-Identifier: Apache-2.0
// Which points of a path read one element: the subscripts are solved for the indices, and what cannot be
// solved away is left to sum over, under conditions.
#include <algorithm>

#include "problem/dependence.h"
#include "problem/gradient_pass.h"

namespace ako {

const Range* IndexSolver::range_of(IndexId which) const {
  auto at = std::find_if(now_.left.begin(), now_.left.end(),
                         [&](const Range& range) { return range.index == which; });
  return at == now_.left.end() ? nullptr : &*at;
}

bool IndexSolver::mentions_left(ExprId which) const {
  const IndexSet free = free_indices(algebra_.problem(), which);
  return std::any_of(free.begin(), free.end(), [&](IndexId index) { return is_left(index); });
}

bool IndexSolver::extent_is(std::size_t axis, ExprId extent) const {
  return algebra_.same(target_.shape[axis], extent);
}

void IndexSolver::replace(IndexId index, ExprId by) {
  std::erase_if(now_.left, [&](const Range& range) { return range.index == index; });
  const Algebra::Replacement map{{index, by}};
  const auto in = [&](ExprId& which) {
    if (algebra_.mentions(which, index)) which = algebra_.substitute(which, map);
  };
  for (Range& range : now_.left) in(range.lower), in(range.upper);
  for (ExprId& condition : now_.conditions) in(condition);
  for (ExprId& form : now_.not_negative) in(form);
  for (ExprId& subscript : now_.subscripts) in(subscript);
  in(now_.value);
}

/// lower <= value < upper, unless that is so for every element of the axis.
void IndexSolver::constrain(const Range& range, ExprId value, std::size_t axis) {
  const bool plain = algebra_.expr(value).kind == ExprKind::index;
  const bool from_zero = algebra_.is_zero(range.lower);
  if (!(plain && from_zero)) now_.not_negative.push_back(algebra_.integer_sub(value, range.lower));
  if (!(plain && extent_is(axis, range.upper)))
    now_.not_negative.push_back(
        algebra_.integer_sub(algebra_.integer_sub(range.upper, algebra_.integer(1)), value));
}

/// `x[t, v]` as a factor, v of all that is read there: outside its range it may as well be `or 0`.
bool IndexSolver::reads_zero_outside(IndexId index, const Range& range, ExprId by) {
  Problem& problem = algebra_.problem();
  if (algebra_.expr(by).kind == ExprKind::index || !algebra_.is_zero(range.lower)) return false;
  for (ExprId condition : now_.conditions)
    if (algebra_.mentions(condition, index)) return false;
  int subscripts = 0;
  for (ExprId subscript : now_.subscripts) subscripts += algebra_.mentions(subscript, index);
  if (subscripts != 1) return false;
  for (const Range& other : now_.left)
    if (algebra_.mentions(other.lower, index) || algebra_.mentions(other.upper, index)) return false;
  Product product = algebra_.product_of(now_.value);
  ExprId* reader = nullptr;
  for (auto* factors : {&product.over, &product.under})
    for (ExprId& factor : *factors) {
      if (!algebra_.mentions(factor, index)) continue;
      if (reader || factors == &product.under || algebra_.expr(factor).kind != ExprKind::access) return false;
      reader = &factor;
    }
  if (!reader) return false;
  Expr access = algebra_.expr(*reader);
  const Tensor& read = problem.tensor(access.ref);
  for (std::size_t axis = 0; axis < access.args.size(); ++axis) {
    if (!algebra_.mentions(access.args[axis], index)) continue;
    if (algebra_.expr(access.args[axis]).kind != ExprKind::index) return false;
    if (!algebra_.same(read.shape[axis], range.upper)) return false;
  }
  *reader = algebra_.access(access.ref, access.args, algebra_.real(0));
  now_.value = algebra_.from(std::move(product));
  return true;
}

/// Whether a range that follows v would follow its own index once v is replaced by `rest`.
bool IndexSolver::bounds_itself(IndexId v, ExprId rest) const {
  return std::any_of(now_.left.begin(), now_.left.end(), [&](const Range& range) {
    const bool follows = algebra_.mentions(range.lower, v) || algebra_.mentions(range.upper, v);
    return follows && algebra_.mentions(rest, range.index);
  });
}

/// Ranges such that each follows earlier ones only; false when they go round in a circle.
bool IndexSolver::order_ranges() {
  std::vector<Range> ordered;
  while (!now_.left.empty()) {
    const auto ready = std::find_if(now_.left.begin(), now_.left.end(), [&](const Range& range) {
      return !mentions_left(range.lower) && !mentions_left(range.upper);
    });
    if (ready == now_.left.end()) return false;
    ordered.push_back(*ready);
    now_.left.erase(ready);
  }
  now_.left = std::move(ordered);
  return true;
}

/// v alone, or ±v + what does not depend on v.
bool IndexSolver::solve_unit(std::size_t axis, const LinearTerms& form, bool plain_only) {
  for (const Range& candidate : now_.left) {
    const auto term = std::find_if(form.terms.begin(), form.terms.end(), [&](const auto& one) {
      const Expr& atom = algebra_.expr(one.second);
      return atom.kind == ExprKind::index && atom.ref == candidate.index;
    });
    if (term == form.terms.end() || std::abs(term->first) != 1) continue;
    if (plain_only && (form.terms.size() != 1 || form.constant != 0 || term->first != 1)) continue;
    LinearTerms rest = form;
    rest.terms.erase(rest.terms.begin() + (term - form.terms.begin()));
    const ExprId other = algebra_.from(rest);
    if (algebra_.mentions(other, candidate.index) || bounds_itself(candidate.index, other)) continue;
    const ExprId here = algebra_.index(at_[axis]);
    const ExprId by = term->first > 0 ? algebra_.integer_sub(here, other) : algebra_.integer_sub(other, here);
    const Range range = candidate;
    if (!reads_zero_outside(range.index, range, by)) constrain(range, by, axis);
    replace(range.index, by);
    return true;
  }
  return false;
}

/// 32*b + j with 0 <= j < 32: b is the quotient, j the remainder.
bool IndexSolver::solve_mixed_radix(std::size_t axis, const LinearTerms& form) {
  if (form.terms.size() != 2 || form.constant != 0) return false;
  for (std::size_t low = 0; low < 2; ++low) {
    const auto [one, minor] = form.terms[low];
    const auto [radix, major] = form.terms[1 - low];
    if (one != 1 || radix < 2) continue;
    const Expr minor_index = algebra_.expr(minor), major_index = algebra_.expr(major);
    if (minor_index.kind != ExprKind::index || major_index.kind != ExprKind::index) continue;
    const Range* remainder = range_of(minor_index.ref);
    const Range* quotient = range_of(major_index.ref);
    if (!remainder || !quotient || !algebra_.is_zero(remainder->lower) || !algebra_.is_zero(quotient->lower))
      continue;
    const Expr size = algebra_.expr(remainder->upper);
    if (size.kind != ExprKind::int_literal || size.integer != radix) continue;
    const ExprId here = algebra_.index(at_[axis]);
    const ExprId base = algebra_.integer(radix);
    const ExprId whole = algebra_.binary(Op::div, here, base, NumberClass::integer);
    const Range outer = *quotient;
    const ExprId covered = algebra_.binary(Op::div, target_.shape[axis], base, NumberClass::integer);
    if (!algebra_.same(outer.upper, covered))
      now_.not_negative.push_back(
          algebra_.integer_sub(algebra_.integer_sub(outer.upper, algebra_.integer(1)), whole));
    replace(minor_index.ref, algebra_.binary(Op::mod, here, base, NumberClass::integer));
    replace(outer.index, whole);
    return true;
  }
  return false;
}

/// v / c alone: v runs over the c places of one quotient.
bool IndexSolver::solve_quotient(std::size_t axis, const LinearTerms& form) {
  if (form.terms.size() != 1 || form.constant != 0 || form.terms[0].first != 1) return false;
  const Expr quotient = algebra_.expr(form.terms[0].second);
  if (quotient.kind != ExprKind::binary || quotient.op != Op::div) return false;
  const Expr dividend = algebra_.expr(quotient.args[0]);
  if (dividend.kind != ExprKind::index || !is_left(dividend.ref)) return false;
  if (!free_indices(algebra_.problem(), quotient.args[1]).empty()) return false;
  auto range = std::find_if(now_.left.begin(), now_.left.end(),
                            [&](const Range& one) { return one.index == dividend.ref; });
  if (!algebra_.is_zero(range->lower) || !free_indices(algebra_.problem(), range->upper).empty())
    return false;
  const ExprId c = quotient.args[1], extent = target_.shape[axis];
  const auto times = [&](ExprId a, ExprId b) { return algebra_.binary(Op::mul, a, b, NumberClass::integer); };
  const ExprId whole = algebra_.binary(Op::div, range->upper, c, NumberClass::integer);
  const bool even = algebra_.same(range->upper, times(extent, c)) ||
                    algebra_.same(range->upper, times(c, extent)) || algebra_.same(extent, whole);
  range->lower = times(c, algebra_.index(at_[axis]));
  const ExprId end = algebra_.binary(Op::add, range->lower, c, NumberClass::integer);
  if (even) {
    range->upper = end;
  } else {
    Expr least;
    const ExprId call = algebra_.call(Op::min, {end, range->upper});
    algebra_.problem().exprs[static_cast<std::size_t>(call)].type = NumberClass::integer;
    range->upper = call;
  }
  return true;
}

bool IndexSolver::solve_axis(std::size_t axis, ExprId subscript, bool plain_only) {
  const LinearTerms form = algebra_.linear(subscript);
  if (plain_only) return solve_unit(axis, form, true);
  if (!mentions_left(subscript)) {  // a fixed place, or a diagonal
    now_.conditions.push_back(algebra_.compare(Op::equal, subscript, algebra_.index(at_[axis])));
    return true;
  }
  return solve_mixed_radix(axis, form) || solve_unit(axis, form, false) || solve_quotient(axis, form);
}

/// A bound on one index that is summed over becomes a bound of its range.
bool IndexSolver::narrow_by(ExprId form_id) {
  const LinearTerms form = algebra_.linear(form_id);
  for (Range& range : now_.left) {
    const auto term = std::find_if(form.terms.begin(), form.terms.end(), [&](const auto& one) {
      const Expr& atom = algebra_.expr(one.second);
      return atom.kind == ExprKind::index && atom.ref == range.index;
    });
    if (term == form.terms.end()) continue;
    LinearTerms rest = form;
    rest.terms.erase(rest.terms.begin() + (term - form.terms.begin()));
    if (mentions_left(algebra_.from(rest))) continue;
    const std::int64_t c = std::abs(term->first);
    const auto over = [&](LinearTerms terms) {
      const ExprId whole = algebra_.from(terms);
      return c == 1 ? whole : algebra_.binary(Op::div, whole, algebra_.integer(c), NumberClass::integer);
    };
    const auto either = [&](Op op, ExprId a, ExprId b) {
      if (algebra_.same(a, b)) return a;
      const ExprId call = algebra_.call(op, {a, b});
      algebra_.problem().exprs[static_cast<std::size_t>(call)].type = NumberClass::integer;
      return call;
    };
    if (term->first > 0) {  // c*v + rest >= 0: v >= ceil(-rest / c)
      for (auto& [coefficient, atom] : rest.terms) coefficient = -coefficient;
      rest.constant = -rest.constant + c - 1;
      const ExprId bound = over(rest);
      const bool plain = algebra_.is_zero(range.lower) && algebra_.expr(bound).kind == ExprKind::index;
      range.lower = plain ? bound : either(Op::max, bound, range.lower);
    } else {  // rest - c*v >= 0: v < floor(rest / c) + 1
      const ExprId bound = algebra_.integer_add(over(rest), algebra_.integer(1));
      range.upper = stays_below(algebra_.from(rest), range.upper) && c == 1
                        ? bound
                        : either(Op::min, bound, range.upper);
    }
    return true;
  }
  return false;
}

/// Whether an expression is an index that itself runs below `upper`.
bool IndexSolver::stays_below(ExprId plain, ExprId upper) const {
  const Expr& expr = algebra_.expr(plain);
  if (expr.kind != ExprKind::index) return false;
  if (const Range* range = range_of(expr.ref)) return algebra_.same(range->upper, upper);
  for (std::size_t axis = 0; axis < at_.size(); ++axis)
    if (at_[axis] == expr.ref) return algebra_.same(target_.shape[axis], upper);
  return false;
}

/// Conditions like `k <= q` may narrow a range as well.
void IndexSolver::take_comparisons() {
  std::vector<ExprId> kept, todo = now_.conditions;
  for (std::size_t i = 0; i < todo.size(); ++i) {
    const Expr expr = algebra_.expr(todo[i]);
    if (expr.kind == ExprKind::binary && expr.op == Op::logical_and) {
      todo.insert(todo.end(), expr.args.begin(), expr.args.end());
      continue;
    }
    const bool ordered = expr.kind == ExprKind::binary && expr.op >= Op::less && expr.op <= Op::greater_equal;
    const auto plain = [&](ExprId side) {  // of indices and dims alone: a gathered bound stays a condition
      return algebra_.expr(side).type == NumberClass::integer && algebra_.expr(side).kind != ExprKind::access;
    };
    if (!ordered || !plain(expr.args[0]) || !plain(expr.args[1]) || !mentions_left(todo[i])) {
      kept.push_back(todo[i]);
      continue;
    }
    const bool rising = expr.op == Op::less || expr.op == Op::less_equal;
    const bool strict = expr.op == Op::less || expr.op == Op::greater;
    ExprId gap = rising ? algebra_.integer_sub(expr.args[1], expr.args[0])
                        : algebra_.integer_sub(expr.args[0], expr.args[1]);
    if (strict) gap = algebra_.integer_sub(gap, algebra_.integer(1));
    now_.not_negative.push_back(gap);
  }
  now_.conditions = std::move(kept);
}

void IndexSolver::narrow() {
  take_comparisons();
  std::vector<ExprId> kept;
  for (ExprId form : now_.not_negative)
    if (!narrow_by(form)) kept.push_back(form);
  now_.not_negative = std::move(kept);
}

/// The form as a comparison that reads well: what is subtracted stands on the right.
ExprId IndexSolver::condition_of(ExprId not_negative) {
  const LinearTerms form = algebra_.linear(not_negative);
  LinearTerms left, right;
  for (const auto& [coefficient, atom] : form.terms)
    if (coefficient > 0)
      left.terms.emplace_back(coefficient, atom);
    else
      right.terms.emplace_back(-coefficient, atom);
  left.constant = std::max<std::int64_t>(form.constant, 0);
  right.constant = std::max<std::int64_t>(-form.constant, 0);
  return algebra_.compare(Op::less_equal, algebra_.from(right), algebra_.from(left));
}

std::optional<ExprId> IndexSolver::gather(const Contribution& contribution) {
  now_ = {contribution.path.ranges,
          contribution.path.conditions,
          {},
          contribution.subscripts,
          std::vector<bool>(contribution.subscripts.size(), false),
          contribution.value};
  for (const bool plain_only : {true, false})
    for (std::size_t axis = 0; axis < now_.subscripts.size(); ++axis) {
      if (now_.solved[axis]) continue;
      now_.solved[axis] = solve_axis(axis, now_.subscripts[axis], plain_only);
      if (!now_.solved[axis] && !plain_only) return std::nullopt;
    }
  narrow();
  std::vector<ExprId> inner, outer;
  const auto file = [&](ExprId condition) {
    (mentions_left(condition) ? inner : outer).push_back(condition);
  };
  for (ExprId condition : now_.conditions) file(condition);
  for (ExprId form : now_.not_negative) file(condition_of(form));
  std::optional<ExprId> condition;
  if (!inner.empty()) condition = algebra_.all(inner);
  if (!order_ranges()) return std::nullopt;
  const ExprId sum = algebra_.sum(now_.left, condition, now_.value);
  return outer.empty() ? sum : algebra_.where(algebra_.all(outer), sum, algebra_.real(0));
}

}  // namespace ako
