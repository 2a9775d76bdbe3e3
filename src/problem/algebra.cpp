// SPDX-License-Identifier: Apache-2.0
#include "problem/algebra.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "problem/dependence.h"

namespace ako {

ExprId Algebra::make(Expr value) {
  problem_.exprs.push_back(std::move(value));
  return static_cast<ExprId>(problem_.exprs.size() - 1);
}

ExprId Algebra::real(double value) {
  Expr literal;
  literal.kind = ExprKind::real_literal;
  literal.real = std::abs(value);
  ExprId result = make(std::move(literal));
  if (value >= 0) return result;
  Expr minus;
  minus.kind = ExprKind::unary;
  minus.op = Op::negate;
  minus.args = {result};
  return make(std::move(minus));
}

ExprId Algebra::integer(std::int64_t value) {
  Expr literal;
  literal.kind = ExprKind::int_literal;
  literal.type = NumberClass::integer;
  literal.integer = std::abs(value);
  ExprId result = make(std::move(literal));
  if (value >= 0) return result;
  Expr minus;
  minus.kind = ExprKind::unary;
  minus.op = Op::negate;
  minus.type = NumberClass::integer;
  minus.args = {result};
  return make(std::move(minus));
}

ExprId Algebra::index(IndexId which) {
  Expr value;
  value.kind = ExprKind::index;
  value.type = NumberClass::integer;
  value.ref = which;
  return make(std::move(value));
}

ExprId Algebra::access(TensorId which, std::vector<ExprId> subscripts, std::optional<ExprId> fallback) {
  Expr value;
  value.kind = ExprKind::access;
  value.type = problem_.tensor(which).number;
  value.ref = which;
  value.args = std::move(subscripts);
  value.fallback = fallback;
  return make(std::move(value));
}

ExprId Algebra::call(Op op, std::vector<ExprId> args) {
  Expr value;
  value.kind = ExprKind::call;
  value.op = op;
  value.args = std::move(args);
  return make(std::move(value));
}

ExprId Algebra::binary(Op op, ExprId a, ExprId b, NumberClass type) {
  Expr value;
  value.kind = ExprKind::binary;
  value.op = op;
  value.type = type;
  value.args = {a, b};
  return make(std::move(value));
}

ExprId Algebra::power(ExprId base, std::int64_t exponent) {
  if (exponent == 0) return real(1);
  return exponent == 1 ? base : binary(Op::pow, base, integer(exponent), NumberClass::real);
}

ExprId Algebra::pow(ExprId base, ExprId exponent) {
  return binary(Op::pow, base, exponent, NumberClass::real);
}

ExprId Algebra::both(ExprId a, ExprId b) {
  return same(a, b) ? a : binary(Op::logical_and, a, b, NumberClass::boolean);
}

ExprId Algebra::all(const std::vector<ExprId>& conditions) {
  ExprId result = conditions.front();
  std::vector<std::string> seen{key(result)};
  for (ExprId condition : conditions) {
    if (std::find(seen.begin(), seen.end(), key(condition)) != seen.end()) continue;
    seen.push_back(key(condition));
    result = both(result, condition);
  }
  return result;
}

ExprId Algebra::opposite(ExprId condition) {
  const Expr inner = expr(condition);
  auto turned = [&](Op op) { return compare(op, inner.args[0], inner.args[1]); };
  switch (inner.op) {
    case Op::logical_not:
      return inner.args[0];
    case Op::less:  // of integers only: a comparison with a value that is no number is false both ways
      if (expr(inner.args[0]).type == NumberClass::integer) return turned(Op::greater_equal);
      break;
    case Op::less_equal:
      if (expr(inner.args[0]).type == NumberClass::integer) return turned(Op::greater);
      break;
    case Op::greater:
      if (expr(inner.args[0]).type == NumberClass::integer) return turned(Op::less_equal);
      break;
    case Op::greater_equal:
      if (expr(inner.args[0]).type == NumberClass::integer) return turned(Op::less);
      break;
    case Op::equal:
      return turned(Op::not_equal);
    case Op::not_equal:
      return turned(Op::equal);
    default:
      break;
  }
  Expr value;
  value.kind = ExprKind::unary;
  value.op = Op::logical_not;
  value.type = NumberClass::boolean;
  value.args = {condition};
  return make(std::move(value));
}

ExprId Algebra::add(ExprId a, ExprId b) {
  std::vector<Product> terms, merged;
  collect_terms(a, 1, terms);
  collect_terms(b, 1, terms);
  std::map<std::string, std::size_t> place;
  for (Product& term : terms) {
    auto [at, fresh] = place.emplace(key_of(term), merged.size());
    if (fresh)
      merged.push_back(std::move(term));
    else
      merged[at->second].literal += term.literal;
  }
  std::erase_if(merged, [](const Product& term) { return term.literal == 0; });
  merge_choices(merged);
  if (merged.empty()) return real(0);
  // A sum that begins without a sign reads best.
  auto positive =
      std::find_if(merged.begin(), merged.end(), [](const Product& term) { return term.literal > 0; });
  if (positive != merged.end()) std::rotate(merged.begin(), positive, positive + 1);
  ExprId result = from(merged[0]);
  for (std::size_t i = 1; i < merged.size(); ++i) {
    Product term = merged[i];
    const Op op = term.literal < 0 ? Op::sub : Op::add;
    term.literal = std::abs(term.literal);
    result = binary(op, result, from(std::move(term)), NumberClass::real);
  }
  return result;
}

/// where(c, a, 0) + where(c, b, 0) is where(c, a + b, 0).
void Algebra::merge_choices(std::vector<Product>& terms) {
  const auto choice = [&](const Product& term) -> const Expr* {
    if (std::abs(term.literal) != 1 || term.over.size() != 1 || !term.under.empty()) return nullptr;
    const Expr& factor = expr(term.over[0]);
    return factor.kind == ExprKind::select && is_zero(factor.args[2]) ? &factor : nullptr;
  };
  for (std::size_t i = 0; i < terms.size(); ++i)
    for (std::size_t j = i + 1; j < terms.size();) {
      const Expr *a = choice(terms[i]), *b = choice(terms[j]);
      if (!a || !b || !same(a->args[0], b->args[0])) {
        ++j;
        continue;
      }
      const ExprId condition = a->args[0], first = a->args[1], second = b->args[1];
      const ExprId both_values =
          add(terms[i].literal < 0 ? negate(first) : first, terms[j].literal < 0 ? negate(second) : second);
      terms[i] = Product{1, {where(condition, both_values, real(0))}, {}};
      terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(j));
    }
}

ExprId Algebra::negate(ExprId value) {
  Product product = product_of(value);
  product.literal = -product.literal;
  return from(std::move(product));
}

ExprId Algebra::mul(ExprId a, ExprId b) {
  Product result = product_of(a), other = product_of(b);
  result.literal *= other.literal;
  result.over.insert(result.over.end(), other.over.begin(), other.over.end());
  result.under.insert(result.under.end(), other.under.begin(), other.under.end());
  return from(std::move(result));
}

ExprId Algebra::div(ExprId a, ExprId b) {
  Product divisor = product_of(b);
  if (divisor.literal == 0) return binary(Op::div, a, b, NumberClass::real);
  std::swap(divisor.over, divisor.under);
  divisor.literal = 1 / divisor.literal;
  return mul(a, from(std::move(divisor)));
}

ExprId Algebra::where(ExprId condition, ExprId then, ExprId otherwise) {
  if (is_zero(then) && is_zero(otherwise)) return real(0);
  if (is_zero(then)) return where(opposite(condition), otherwise, then);
  Expr value;
  value.kind = ExprKind::select;
  value.args = {condition, then, otherwise};
  return make(std::move(value));
}

/// Whether a factor may be evaluated where the conditions around it do not hold.
bool Algebra::movable(ExprId factor) const {
  bool fine = true;
  visit(problem_, factor, [&](ExprId id) {
    const Expr& part = expr(id);
    if (part.kind == ExprKind::access && !part.fallback)
      for (ExprId subscript : part.args) fine = fine && expr(subscript).kind == ExprKind::index;
    if (part.kind == ExprKind::reduce) fine = fine && !part.condition;
    return fine;
  });
  return fine;
}

ExprId Algebra::sum(std::vector<Range> ranges, std::optional<ExprId> condition, ExprId body) {
  if (is_zero(body)) return real(0);
  if (ranges.empty()) return condition ? where(*condition, body, real(0)) : body;
  IndexSet bound;
  for (const Range& range : ranges) bound.insert(range.index);
  Product outside, inside = product_of(body);
  std::swap(outside.literal, inside.literal);
  const auto take_out = [&](std::vector<ExprId>& from, std::vector<ExprId>& to) {
    std::vector<ExprId> kept;
    for (ExprId factor : from) {
      const bool leaves = !intersects(free_indices(problem_, factor), bound) && movable(factor);
      (leaves ? to : kept).push_back(factor);
    }
    from = std::move(kept);
  };
  take_out(inside.over, outside.over);
  take_out(inside.under, outside.under);
  Product result = outside;
  result.over.push_back(reduce(ReduceOp::sum, std::move(ranges), condition, from(std::move(inside))));
  return from(std::move(result));
}

ExprId Algebra::reduce(ReduceOp op, std::vector<Range> ranges, std::optional<ExprId> condition, ExprId body,
                       bool scan) {
  Expr value;
  value.kind = ExprKind::reduce;
  value.reduce = op;
  const bool place = op == ReduceOp::argmax || op == ReduceOp::argmin;
  value.type = place ? NumberClass::integer : expr(body).type;
  value.bounds = std::move(ranges);
  value.condition = condition;
  value.args = {body};
  value.scan = scan;
  return make(std::move(value));
}

bool Algebra::is_zero(ExprId which) const {
  const Expr& value = expr(which);
  return (value.kind == ExprKind::real_literal && value.real == 0) ||
         (value.kind == ExprKind::int_literal && value.integer == 0);
}

bool Algebra::same(ExprId a, ExprId b) const { return a == b || key(a) == key(b); }

std::string Algebra::key(ExprId which) const {
  std::map<IndexId, std::size_t>
      bound;  // indices bound inside, by order: equal sums may name them differently
  const auto text = [&](auto& self, ExprId id) -> std::string {
    const Expr& value = expr(id);
    std::int64_t ref = value.ref;
    if (value.kind == ExprKind::index)
      if (auto at = bound.find(value.ref); at != bound.end())
        ref = -2 - static_cast<std::int64_t>(at->second);
    std::string result =
        fmt::format("{}.{}.{}.{}.{}.{}.{}(", static_cast<int>(value.kind), static_cast<int>(value.op),
                    static_cast<int>(value.cast), static_cast<int>(value.reduce) * 2 + value.scan, ref,
                    value.integer, value.real);
    for (const Range& range : value.bounds) {
      result += self(self, range.lower) + "~" + self(self, range.upper) + ";";
      bound.emplace(range.index, bound.size());
    }
    if (value.condition) result += "if" + self(self, *value.condition);
    for (ExprId part : value.args) result += self(self, part) + ",";
    if (value.fallback) result += "or" + self(self, *value.fallback);
    return result + ")";
  };
  return text(text, which);
}

bool Algebra::mentions(ExprId which, IndexId index) const {
  return free_indices(problem_, which).contains(index);
}

/// Of integers that differ by a constant.
std::optional<bool> Algebra::known_comparison(ExprId condition) {
  const Expr value = expr(condition);
  const bool compares = value.kind == ExprKind::binary && value.op >= Op::less && value.op <= Op::not_equal;
  if (!compares || expr(value.args[0]).type != NumberClass::integer ||
      expr(value.args[1]).type != NumberClass::integer)
    return std::nullopt;
  const LinearTerms gap = linear(integer_sub(value.args[0], value.args[1]));
  if (!gap.terms.empty()) return std::nullopt;
  switch (value.op) {
    case Op::less:
      return gap.constant < 0;
    case Op::less_equal:
      return gap.constant <= 0;
    case Op::greater:
      return gap.constant > 0;
    case Op::greater_equal:
      return gap.constant >= 0;
    case Op::equal:
      return gap.constant == 0;
    default:
      return gap.constant != 0;
  }
}

IndexId Algebra::new_index(const std::string& name) {
  problem_.indices.push_back({name});
  return static_cast<IndexId>(problem_.indices.size() - 1);
}

ExprId Algebra::substitute(ExprId which, Replacement replacement) {
  const auto copy = [&](auto& self, ExprId id) -> ExprId {
    Expr value = expr(id);
    if (value.kind == ExprKind::index) {
      auto at = replacement.find(value.ref);
      return at == replacement.end() ? id : at->second;
    }
    for (Range& range : value.bounds) {
      range.lower = self(self, range.lower);
      range.upper = self(self, range.upper);
      const IndexId fresh = new_index(problem_.indices[static_cast<std::size_t>(range.index)].name);
      replacement[range.index] = index(fresh);
      range.index = fresh;
    }
    if (value.condition) value.condition = self(self, *value.condition);
    for (ExprId& part : value.args) part = self(self, part);
    if (value.fallback) value.fallback = self(self, *value.fallback);
    if (value.kind == ExprKind::select)
      if (auto known = known_comparison(value.args[0])) return value.args[*known ? 1 : 2];
    const bool sum = value.type == NumberClass::integer && value.kind == ExprKind::binary &&
                     (value.op == Op::add || value.op == Op::sub);
    ExprId made = make(std::move(value));
    return sum ? from(linear(made)) : made;
  };
  return copy(copy, which);
}

}  // namespace ako
