// SPDX-License-Identifier: Apache-2.0
// Recognizing attention in a group of statements that share the loops over queries.
#include "synth/attention.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace ako::synth {

namespace {

void factors_of(const Program& program, ExprId id, std::vector<ExprId>& factors) {
  const Expr& expr = program.expr(id);
  if (expr.kind == ExprKind::binary && expr.op == Op::mul && expr.type == NumberClass::real) {
    factors_of(program, expr.args[0], factors);
    factors_of(program, expr.args[1], factors);
  } else {
    factors.push_back(id);
  }
}

int reductions_in(const Program& program, ExprId id) {
  int count = 0;
  visit(program, id, [&](ExprId e) { count += program.expr(e).kind == ExprKind::reduce; });
  return count;
}

ExprId find_reduction(const Program& program, ExprId id) {
  ExprId found = -1;
  visit(program, id, [&](ExprId e) {
    if (program.expr(e).kind == ExprKind::reduce) found = e;
  });
  return found;
}

bool is_minus_infinity(const Program& program, ExprId id) {
  const Expr& expr = program.expr(id);
  if (expr.kind == ExprKind::unary && expr.op == Op::negate) {
    const Expr& inner = program.expr(expr.args[0]);
    return inner.kind == ExprKind::real_literal && inner.real > 0 && inner.real - inner.real != 0;
  }
  return expr.kind == ExprKind::real_literal && expr.real < 0 && expr.real - expr.real != 0;
}

bool is_zero(const Program& program, ExprId id) {
  const Expr& expr = program.expr(id);
  return is_literal(program, id, 0) || (expr.kind == ExprKind::real_literal && expr.real == 0);
}

/// Reals that are stored without rounding: what a later statement may take from a register.
class Matcher {
 public:
  Matcher(Program& program, const Layout& layout, const Group& group)
      : program_(program), layout_(layout), group_(group) {}

  std::optional<Attention> match() {
    for (const std::size_t at : group_.statements) {
      found_ = {};
      taken_ = {at};
      if (match_sum(at) && match_scores() && match_rows() && match_rest()) return found_;
    }
    return std::nullopt;
  }

 private:
  const Statement& statement(std::size_t at) const { return program_.statements[at]; }
  std::size_t shared() const { return static_cast<std::size_t>(group_.depth); }
  bool stored(TensorId id) const {
    const Home home = layout_.storage[static_cast<std::size_t>(id)].home;
    return home == Home::argument || home == Home::workspace;
  }

  /// A statement's value (or part of it) with its shared indices replaced by the weighted sum's, the index
  /// after them by the key where it has one.
  ExprId in_own_terms(std::size_t at, ExprId id) {
    std::map<IndexId, ExprId> renamed;
    const Statement own = statement(found_.statement), other = statement(at);
    for (std::size_t i = 0; i < other.indices.size(); ++i) {
      renamed[other.indices[i].index] =
          index_expression(program_, i < shared() ? own.indices[i].index : found_.key.index);
    }
    return substitute(program_, id, renamed);
  }
  /// Of a reduction over the keys, with its index replaced too.
  ExprId over_keys(const Expr& reduce, ExprId id) {
    return substitute(program_, id, {{reduce.bounds[0].index, index_expression(program_, found_.key.index)}});
  }

  /// The statement of the group that defines a tensor in the sum's terms: with `rank` indices, bare
  /// subscripts.
  std::optional<std::size_t> definition(ExprId access, std::size_t rank) {
    const Expr expr = program_.expr(access);
    if (expr.kind != ExprKind::access || expr.fallback || expr.args.size() != rank) return std::nullopt;
    const Statement own = statement(found_.statement);
    for (std::size_t i = 0; i < rank; ++i) {
      const IndexId wanted = i < shared() ? own.indices[i].index : found_.key.index;
      if (!is_index(program_, expr.args[i], wanted)) return std::nullopt;
    }
    for (const std::size_t at : group_.statements) {
      const Statement& other = statement(at);
      if (other.target != expr.ref || other.kind != StatementKind::define) continue;
      if (other.indices.size() != rank || other.subscripts.size() != rank) return std::nullopt;
      for (std::size_t i = 0; i < rank; ++i) {
        if (!is_index(program_, other.subscripts[i], other.indices[i].index)) return std::nullopt;
      }
      return at;
    }
    return std::nullopt;
  }

  bool is_sum(const Expr& expr, ReduceOp op) const {
    return expr.kind == ExprKind::reduce && expr.reduce == op && !expr.scan && expr.bounds.size() == 1 &&
           expr.type == NumberClass::real;
  }

  bool see(VisibleKeys& keys, const Expr& reduce) {
    const ExprId key = index_expression(program_, found_.key.index);
    const std::map<IndexId, ExprId> renamed{{reduce.bounds[0].index, key}};
    if (!is_literal(program_, reduce.bounds[0].lower, 0))
      add_bound(program_, keys.lower, reduce.bounds[0].lower);
    add_bound(program_, keys.upper, reduce.bounds[0].upper);
    return !reduce.condition ||
           add_condition(program_, keys, substitute(program_, *reduce.condition, renamed), found_.key.index);
  }

  /// `exp(s - m)` inside `where(visible, …, 0)`, inside temporaries, divided by the row's total or not.
  bool match_weight(ExprId id, VisibleKeys& keys, ExprId& exponential, ExprId& divisor) {
    const Expr expr = program_.expr(id);
    if (expr.kind == ExprKind::access) {
      const auto at = definition(id, shared() + 1);
      if (!at || stored(expr.ref) || !unrounded(program_.tensor(expr.ref))) return false;
      taken_.insert(*at);
      return match_weight(in_own_terms(*at, statement(*at).value), keys, exponential, divisor);
    }
    if (expr.kind == ExprKind::select && is_zero(program_, expr.args[2])) {
      return add_condition(program_, keys, expr.args[0], found_.key.index) &&
             match_weight(expr.args[1], keys, exponential, divisor);
    }
    if (expr.kind == ExprKind::binary && expr.op == Op::div && divisor < 0 &&
        !mentions(program_, expr.args[1], found_.key.index)) {
      divisor = expr.args[1];
      return match_weight(expr.args[0], keys, exponential, divisor);
    }
    if (expr.kind != ExprKind::call || (expr.op != Op::exp && expr.op != Op::exp2)) return false;
    exponential = id;
    return true;
  }

  /// The sum of weights times values.
  bool match_sum(std::size_t at) {
    found_.statement = at;
    const Statement own = statement(at);
    const Expr value = program_.expr(own.value);
    if (own.kind != StatementKind::define || !is_sum(value, ReduceOp::sum)) return false;
    if (shared() == 0 || own.indices.size() != shared() + 1 || reductions_in(program_, value.args[0]) > 0)
      return false;
    if (!std::ranges::all_of(own.indices, [&](const Range& r) { return rectangular(program_, r); }))
      return false;
    found_.key = value.bounds[0];
    found_.column = own.indices.back();
    std::vector<ExprId> factors;
    factors_of(program_, value.args[0], factors);
    const auto has_column = [&](ExprId e) { return mentions(program_, e, found_.column.index); };
    std::ranges::copy_if(factors, std::back_inserter(found_.value_factors), has_column);
    std::erase_if(factors, has_column);
    if (factors.size() != 1 || found_.value_factors.empty()) return false;
    if (!see(found_.visible, value)) return false;
    ExprId divisor = -1;
    if (!match_weight(factors[0], found_.visible, found_.weight, divisor)) return false;
    if (divisor >= 0) {
      const auto total = definition(divisor, shared());
      if (!total) return false;
      found_.divided = true;
      found_.total = statement(*total).target;
    }
    // Which of the shared indices is the query: the one that values know nothing of.
    int queries = 0;
    for (std::size_t i = 0; i < shared(); ++i) {
      const Range& range = own.indices[i];
      if (any_mentions(program_, found_.value_factors, range.index)) {
        found_.batch.push_back(range);
      } else {
        found_.query = range;
        ++queries;
      }
    }
    return queries == 1;
  }

  /// What the exponential is of: scores less their maximum; and what the scores are made of.
  bool match_scores() {
    const Expr difference = program_.expr(program_.expr(found_.weight).args[0]);
    if (difference.kind != ExprKind::binary || difference.op != Op::sub) return false;
    const auto scores = definition(difference.args[0], shared() + 1);
    const auto largest = definition(difference.args[1], shared());
    if (!scores || !largest) return false;
    taken_.insert(*scores), taken_.insert(*largest);
    found_.scores = statement(*scores).target;
    found_.largest = statement(*largest).target;
    largest_ = *largest;
    if (stored(found_.scores) || !unrounded(program_.tensor(found_.scores))) return false;
    found_.most_keys = program_.tensor(found_.scores).shape.back();
    ExprId value = in_own_terms(*scores, statement(*scores).value);
    while (program_.expr(value).kind == ExprKind::select &&
           is_minus_infinity(program_, program_.expr(value).args[2])) {
      const Expr choice = program_.expr(value);
      if (!add_condition(program_, hidden_, choice.args[0], found_.key.index)) return false;
      value = choice.args[1];
    }
    value = with_hoisted_sum(value);
    if (reductions_in(program_, value) != 1) return false;
    const ExprId sum = find_reduction(program_, value);
    found_.score = replace(program_, value, sum, {}, difference.args[0]);
    return match_product(program_.expr(sum));
  }

  /// normalize() may have made the sum a statement of its own.
  ExprId with_hoisted_sum(ExprId value) {
    ExprId where = -1, by = -1;
    std::vector<ExprId> accesses;
    visit(program_, value, [&](ExprId e) {
      if (program_.expr(e).kind == ExprKind::access) accesses.push_back(e);
    });
    for (const ExprId e : accesses) {
      const auto at = definition(e, shared() + 1);
      if (!at || stored(program_.expr(e).ref) || !unrounded(program_.tensor(program_.expr(e).ref))) continue;
      taken_.insert(*at);
      where = e;
      by = in_own_terms(*at, statement(*at).value);
    }
    return where < 0 ? value : replace(program_, value, where, {}, by);
  }

  bool match_product(const Expr& sum) {
    if (!is_sum(sum, ReduceOp::sum) || sum.condition || !rectangular(program_, sum.bounds[0])) return false;
    found_.depth = sum.bounds[0];
    std::vector<ExprId> factors;
    factors_of(program_, sum.args[0], factors);
    for (const ExprId factor : factors) {
      const bool of_key = mentions(program_, factor, found_.key.index);
      if (of_key && mentions(program_, factor, found_.query.index)) return false;
      (of_key ? found_.key_factors : found_.query_factors).push_back(factor);
    }
    return any_mentions(program_, found_.query_factors, found_.depth.index) &&
           any_mentions(program_, found_.key_factors, found_.depth.index);
  }

  /// The maximum and the total are over the same keys and scores as the weighted sum.
  bool match_rows() {
    for (const ExprId e : hidden_.lower) add_bound(program_, found_.visible.lower, e);
    for (const ExprId e : hidden_.upper) add_bound(program_, found_.visible.upper, e);
    if (!same_keys(largest_, ReduceOp::max)) return false;
    for (const std::size_t at : group_.statements) {
      if (taken_.contains(at) || statement(at).indices.size() != shared()) continue;
      if (!same_keys(at, ReduceOp::sum)) continue;
      if (found_.total >= 0 && found_.total != statement(at).target) return false;
      found_.total = statement(at).target;
      taken_.insert(at);
    }
    return unrounded(program_.tensor(found_.largest)) &&
           (found_.total < 0 || unrounded(program_.tensor(found_.total)));
  }

  bool same_keys(std::size_t at, ReduceOp op) {
    const Expr value = program_.expr(in_own_terms(at, statement(at).value));
    if (!is_sum(value, op)) return false;
    VisibleKeys keys = hidden_;
    if (!see(keys, value)) return false;
    const ExprId body = over_keys(value, value.args[0]);
    const Expr difference = program_.expr(program_.expr(found_.weight).args[0]);
    if (op == ReduceOp::max) {
      if (!same(program_, body, difference.args[0])) return false;
    } else {
      ExprId exponential = -1, divisor = -1;
      if (!match_weight(body, keys, exponential, divisor) || divisor >= 0) return false;
      if (!same(program_, exponential, found_.weight)) return false;
    }
    return same_bounds(program_, keys, found_.visible);
  }

  /// Every other statement finishes a row or an element, or is not for us.
  bool match_rest() {
    for (const std::size_t at : group_.statements) {
      if (taken_.contains(at)) continue;
      const Statement& later = statement(at);
      if (at < found_.statement && later.indices.size() != shared()) return false;
      if (reductions_in(program_, later.value) > 0 || later.kind != StatementKind::define) return false;
      if (later.subscripts.size() != later.indices.size()) return false;
      if (later.indices.size() == shared())
        found_.finish_row.push_back(at);
      else if (later.indices.size() == shared() + 1 && reads_own_column(later))
        found_.finish.push_back(at);
      else
        return false;
      for (const std::size_t inner : taken_) {
        const TensorId target = statement(inner).target;
        const bool known = target == found_.largest || target == found_.total ||
                           target == statement(found_.statement).target;
        if (!reads(program_, later.value, target)) continue;
        if (!known || !unrounded(program_.tensor(target))) return false;
        if (target == statement(found_.statement).target && later.indices.size() == shared()) return false;
      }
    }
    return true;
  }

  /// Elements are finished one column at a time: each may read the sum at its own column only.
  bool reads_own_column(const Statement& later) const {
    const Range& column = later.indices.back();
    if (!rectangular(program_, column) || !same(program_, column.upper, found_.column.upper)) return false;
    bool own = true;
    visit(program_, later.value, [&](ExprId e) {
      const Expr& expr = program_.expr(e);
      if (expr.kind != ExprKind::access || expr.args.size() != shared() + 1) return;
      const bool ours = std::ranges::any_of(group_.statements,
                                            [&](std::size_t at) { return statement(at).target == expr.ref; });
      own = own && (!ours || is_index(program_, expr.args.back(), column.index));
    });
    return own;
  }

  Program& program_;
  const Layout& layout_;
  const Group& group_;
  Attention found_;
  std::set<std::size_t> taken_;
  std::size_t largest_ = 0;
  VisibleKeys hidden_;  // by the scores themselves, which are -inf elsewhere
};

bool has_doubles(const Program& program) {
  return std::ranges::any_of(program.tensors,
                             [](const Tensor& t) { return t.type == ScalarType::f64 && !t.exact; });
}

}  // namespace

std::optional<Attention> match_attention(Program& program, const Layout& layout, const Group& group) {
  if (group.statements.size() < 4 || has_doubles(program)) return std::nullopt;
  return Matcher(program, layout, group).match();
}

}  // namespace ako::synth
