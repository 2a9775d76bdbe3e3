// SPDX-License-Identifier: Apache-2.0
// The rules of differentiation, expression by expression: `seed` is the cotangent of the expression at a
// point of its path, and is carried down to the reads.
#include <cmath>
#include <numbers>

#include "problem/dependence.h"
#include "problem/gradient_pass.h"

namespace ako {
namespace {

EvaluationPath under(EvaluationPath path, ExprId condition) {
  path.conditions.push_back(condition);
  return path;
}

}  // namespace

bool Differentiator::depends(ExprId which) const {
  bool found = false;
  visit(problem_, which, [&](ExprId id) {
    const Expr& part = problem_.expr(id);
    if (part.type != NumberClass::real) return false;  // nothing passes through integers and truth values
    found = found || (part.kind == ExprKind::access && active_.contains(part.ref));
    return !found;
  });
  return found;
}

/// `value`: another expression for the same value, where there is one that costs less.
void Differentiator::push(ExprId which, const EvaluationPath& path, ExprId seed, ExprId value) {
  if (refused_ || algebra_.is_zero(seed) || !depends(which)) return;
  const Expr expr = problem_.expr(which);
  switch (expr.kind) {
    case ExprKind::access:
      return contribute(which, path, seed);
    case ExprKind::unary:
      return push(expr.args[0], path, algebra_.negate(seed));
    case ExprKind::binary:
      return push_binary(which, path, seed, value);
    case ExprKind::call:
      return push_call(which, path, seed, value);
    case ExprKind::select:
      push(expr.args[1], under(path, expr.args[0]), seed, value);
      return push(expr.args[2], under(path, algebra_.opposite(expr.args[0])), seed, value);
    case ExprKind::reduce:
      return push_reduction(which, path, seed);
    default:
      return;
  }
}

void Differentiator::contribute(ExprId which, const EvaluationPath& path, ExprId seed) {
  const Expr access = problem_.expr(which);
  const bool own = access.ref == recurring_;
  if (recurring_ >= 0 && own != own_reads_) return;
  Contribution made{access.args, access.fallback.has_value(), path, seed, spot_of(which)};
  if (recurring_ >= 0) made.value = with_first(made.value);
  if (own) return own_.push_back(std::move(made));
  if (finished_.contains(access.ref) || reversed_.contains(access.ref))
    return refuse(made.spot, problem_.tensor(access.ref).name + " is read between its updates",
                  "give the value read here a name of its own");
  contributions_[access.ref].push_back(std::move(made));
}

void Differentiator::push_binary(ExprId which, const EvaluationPath& path, ExprId seed, ExprId value) {
  const Expr expr = problem_.expr(which);
  const ExprId a = expr.args[0], b = expr.args[1];
  switch (expr.op) {
    case Op::add:
      push(a, path, seed);
      return push(b, path, seed);
    case Op::sub:
      push(a, path, seed);
      return push(b, path, algebra_.negate(seed));
    case Op::mul:
      push(a, path, algebra_.mul(seed, b));
      return push(b, path, algebra_.mul(seed, a));
    case Op::div:
      push(a, path, algebra_.div(seed, b));
      return push(b, path, algebra_.negate(algebra_.div(algebra_.mul(seed, value >= 0 ? value : which), b)));
    case Op::mod:
      push(a, path, seed);
      return push(b, path,
                  algebra_.negate(algebra_.mul(seed, algebra_.call(Op::floor, {algebra_.div(a, b)}))));
    case Op::pow: {
      const Expr& exponent = problem_.expr(b);
      if (exponent.kind == ExprKind::int_literal) {
        const std::int64_t n = exponent.integer;
        const ExprId slope = algebra_.mul(algebra_.real(static_cast<double>(n)), algebra_.power(a, n - 1));
        return push(a, path, algebra_.mul(seed, slope));
      }
      const ExprId less = algebra_.binary(Op::sub, b, algebra_.real(1), NumberClass::real);
      push(a, path, algebra_.mul(seed, algebra_.mul(b, algebra_.pow(a, less))));
      return push(b, path,
                  algebra_.mul(seed, algebra_.mul(value >= 0 ? value : which, algebra_.call(Op::log, {a}))));
    }
    default:
      return;
  }
}

/// f'(u), where f(u) is known to be `value`.
ExprId Differentiator::slope(Op op, ExprId u, ExprId value) {
  Algebra& a = algebra_;
  const ExprId one = a.real(1);
  const auto square = [&](ExprId x) { return a.power(x, 2); };
  switch (op) {
    case Op::exp:
      return value;
    case Op::exp2:
      return a.mul(a.real(std::numbers::ln2), value);
    case Op::expm1:
      return a.call(Op::exp, {u});
    case Op::log:
      return a.div(one, u);
    case Op::log2:
      return a.div(a.real(std::numbers::log2e), u);
    case Op::log1p:
      return a.div(one, a.add(one, u));
    case Op::sqrt:
      return a.div(a.real(0.5), value);
    case Op::rsqrt:
      return a.mul(a.real(-0.5), a.power(value, 3));
    case Op::sin:
      return a.call(Op::cos, {u});
    case Op::cos:
      return a.negate(a.call(Op::sin, {u}));
    case Op::tan:
      return a.add(one, square(value));
    case Op::tanh:
      return a.sub(one, square(value));
    case Op::sinh:
      return a.call(Op::cosh, {u});
    case Op::cosh:
      return a.call(Op::sinh, {u});
    case Op::asin:
      return a.call(Op::rsqrt, {a.sub(one, square(u))});
    case Op::acos:
      return a.negate(a.call(Op::rsqrt, {a.sub(one, square(u))}));
    case Op::atan:
      return a.div(one, a.add(one, square(u)));
    case Op::erf:
      return a.mul(a.real(2 * std::numbers::inv_sqrtpi), a.call(Op::exp, {a.negate(square(u))}));
    case Op::sigmoid:
      return a.mul(value, a.sub(one, value));
    case Op::abs:
      return a.call(Op::sign, {u});
    case Op::cast:
    case Op::to_real:
      return one;
    default:  // floor, ceil, round, trunc, sign
      return a.real(0);
  }
}

void Differentiator::push_choice(ExprId condition, ExprId then, ExprId otherwise, const EvaluationPath& path,
                                 ExprId seed) {
  push(then, under(path, condition), seed);
  push(otherwise, under(path, algebra_.opposite(condition)), seed);
}

void Differentiator::push_call(ExprId which, const EvaluationPath& path, ExprId seed, ExprId value) {
  const Expr expr = problem_.expr(which);
  const ExprId u = expr.args[0];
  const ExprId zero = algebra_.real(0);
  switch (expr.op) {
    case Op::max:
      return push_choice(algebra_.compare(Op::greater_equal, u, expr.args[1]), u, expr.args[1], path, seed);
    case Op::min:
      return push_choice(algebra_.compare(Op::less_equal, u, expr.args[1]), u, expr.args[1], path, seed);
    case Op::relu:
      return push(u, under(path, algebra_.compare(Op::greater, u, zero)), seed);
    case Op::clamp: {
      const ExprId low = algebra_.compare(Op::less, u, expr.args[1]);
      const ExprId high = algebra_.compare(Op::greater, u, expr.args[2]);
      push(expr.args[1], under(path, low), seed);
      push(expr.args[2], under(path, high), seed);
      return push(u, under(under(path, algebra_.opposite(low)), algebra_.opposite(high)), seed);
    }
    case Op::atan2: {  // of y / x
      const ExprId y = u, x = expr.args[1];
      const ExprId size = algebra_.add(algebra_.power(x, 2), algebra_.power(y, 2));
      push(y, path, algebra_.div(algebra_.mul(seed, x), size));
      return push(x, path, algebra_.negate(algebra_.div(algebra_.mul(seed, y), size)));
    }
    default:
      return push(u, path, algebra_.mul(seed, slope(expr.op, u, value >= 0 ? value : which)));
  }
}

void Differentiator::push_reduction(ExprId which, const EvaluationPath& path, ExprId seed) {
  const Expr expr = problem_.expr(which);
  if (expr.scan) return push_scan(which, path, seed);
  EvaluationPath inside = path;
  inside.ranges.insert(inside.ranges.end(), expr.bounds.begin(), expr.bounds.end());
  if (expr.condition) inside.conditions.push_back(*expr.condition);
  switch (expr.reduce) {
    case ReduceOp::sum:
      return push(expr.args[0], inside, seed);
    case ReduceOp::prod:
      return push_product(which, inside, seed);
    case ReduceOp::max:
    case ReduceOp::min:
      return push_extreme(which, inside, seed);
    default:
      return;
  }
}

/// By one factor: the product of the others, right also where factors are zero.
void Differentiator::push_product(ExprId which, const EvaluationPath& inside, ExprId seed) {
  const ExprId copy = algebra_.substitute(which, {});
  Expr others = problem_.expr(copy);
  const std::vector<Range>& own = problem_.expr(which).bounds;
  ExprId different = -1;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const ExprId one =
        algebra_.compare(Op::not_equal, algebra_.index(others.bounds[i].index), algebra_.index(own[i].index));
    different = different < 0 ? one : algebra_.binary(Op::logical_or, different, one, NumberClass::boolean);
  }
  const ExprId condition = others.condition ? algebra_.both(*others.condition, different) : different;
  const ExprId rest = algebra_.reduce(ReduceOp::prod, others.bounds, condition, others.args[0]);
  push(problem_.expr(which).args[0], inside, algebra_.mul(seed, rest));
}

/// Everything goes to the first of the largest. Over one index that is where argmax is; over several, where
/// the value is reached at the least place counted in the order of the loops.
void Differentiator::push_extreme(ExprId which, const EvaluationPath& inside, ExprId seed) {
  const Expr copy = problem_.expr(algebra_.substitute(which, {}));
  const std::vector<Range> own = problem_.expr(which).bounds;
  const ExprId body = problem_.expr(which).args[0];
  EvaluationPath chosen = inside;
  if (own.size() == 1) {
    const ReduceOp op = copy.reduce == ReduceOp::max ? ReduceOp::argmax : ReduceOp::argmin;
    const ExprId place = algebra_.reduce(op, copy.bounds, copy.condition, copy.args[0]);
    chosen.conditions.push_back(algebra_.compare(Op::equal, algebra_.index(own[0].index), place));
    return push(body, chosen, seed);
  }
  // A copy within a copy: the condition of the search compares with the extreme value itself.
  const Expr inner = problem_.expr(algebra_.substitute(which, {}));
  const ExprId extreme = algebra_.reduce(inner.reduce, inner.bounds, inner.condition, inner.args[0]);
  const auto flat = [&](const std::vector<Range>& ranges) {
    ExprId place = algebra_.index(ranges[0].index);
    for (std::size_t i = 1; i < ranges.size(); ++i) {
      place = algebra_.binary(Op::mul, place, ranges[i].upper, NumberClass::integer);
      place = algebra_.binary(Op::add, place, algebra_.index(ranges[i].index), NumberClass::integer);
    }
    return place;
  };
  for (std::size_t i = 1; i < own.size(); ++i)
    if (!free_indices(problem_, own[i].upper).empty())
      return refuse(spot_of(which), "the first of the largest values has no place: bounds depend on indices",
                    "take the extreme over one index at a time");
  ExprId reached = algebra_.compare(Op::equal, copy.args[0], extreme);
  if (copy.condition) reached = algebra_.both(*copy.condition, reached);
  const ExprId first = algebra_.reduce(ReduceOp::min, copy.bounds, reached, flat(copy.bounds));
  chosen.conditions.push_back(algebra_.compare(Op::equal, flat(own), first));
  push(body, chosen, seed);
}

/// What stands at k is in the results at all t >= k: a scan from the other end.
void Differentiator::push_scan(ExprId which, const EvaluationPath& path, ExprId seed) {
  const Expr expr = problem_.expr(which);
  if (expr.reduce != ReduceOp::sum)
    return refuse(spot_of(which), "a scan of prod, max or min is not differentiated",
                  "of scans only `scan sum` is; write the gradient by hand");
  const Range own = expr.bounds[0];
  const bool inclusive = problem_.expr(own.upper).kind != ExprKind::index;
  const IndexId end = problem_.expr(inclusive ? problem_.expr(own.upper).args[0] : own.upper).ref;
  // sums[…, u] = scan sum(v <= u: seed at length - 1 - v), over the statement's loops
  std::vector<Range> loops = path.ranges;
  Algebra::Replacement fresh;
  ExprId length = -1;
  Range last;
  for (Range& loop : loops) {
    const IndexId old = loop.index;
    loop.index = algebra_.new_index(problem_.indices[static_cast<std::size_t>(old)].name);
    if (old == end) {
      length = loop.upper;
      last = loop;
    } else {
      fresh[old] = algebra_.index(loop.index);
    }
  }
  const ExprId one = algebra_.integer(1);
  Range v{algebra_.new_index("v"), algebra_.integer(0),
          algebra_.integer_add(algebra_.index(last.index), one)};
  const auto mirrored = [&](ExprId at) {
    return algebra_.integer_sub(algebra_.integer_sub(length, one), at);
  };
  fresh[end] = mirrored(algebra_.index(v.index));
  ExprId weight = seed;
  if (!path.conditions.empty())
    weight = algebra_.where(algebra_.all(path.conditions), seed, algebra_.real(0));
  const ExprId scan =
      algebra_.reduce(ReduceOp::sum, {v}, std::nullopt, algebra_.substitute(weight, fresh), true);
  const TensorId sums = helper("after", loops, NumberClass::real);
  std::vector<IndexId> at;
  for (const Range& loop : loops) at.push_back(loop.index);
  emit(StatementKind::define, sums, at, scan);
  // The read at k: over all loops but the scanned one, which k takes the place of.
  EvaluationPath inside;
  std::vector<ExprId> subscripts;
  for (const Range& loop : path.ranges) {
    if (loop.index == end) {
      subscripts.push_back(mirrored(inclusive ? algebra_.index(own.index)
                                              : algebra_.integer_add(algebra_.index(own.index), one)));
      inside.ranges.push_back({own.index, own.lower, length});
    } else {
      subscripts.push_back(algebra_.index(loop.index));
      inside.ranges.push_back(loop);
    }
  }
  if (!inclusive) {
    for (Range& range : inside.ranges)
      if (range.index == own.index) range.upper = algebra_.integer_sub(length, one);
  }
  if (expr.condition) inside.conditions.push_back(*expr.condition);
  push(expr.args[0], inside, algebra_.access(sums, subscripts));
}

}  // namespace ako
