// SPDX-License-Identifier: Apache-2.0
// Products of reals and sums of integers taken apart and put together again.
#include <algorithm>
#include <cmath>

#include "problem/algebra.h"
#include "problem/evaluate.h"

namespace ako {

Product Algebra::product_of(ExprId which) const {
  Product result;
  const auto collect = [&](auto& self, ExprId id, bool under) -> void {
    const Expr& value = expr(id);
    const bool real = value.type == NumberClass::real;
    if (value.kind == ExprKind::real_literal && value.real != 0 && value.real <= 1e300) {
      result.literal = under ? result.literal / value.real : result.literal * value.real;
    } else if (value.kind == ExprKind::int_literal && value.integer != 0) {
      const auto number = static_cast<double>(value.integer);
      result.literal = under ? result.literal / number : result.literal * number;
    } else if (value.kind == ExprKind::unary && value.op == Op::negate) {
      result.literal = -result.literal;
      self(self, value.args[0], under);
    } else if (real && value.kind == ExprKind::binary && (value.op == Op::mul || value.op == Op::div)) {
      self(self, value.args[0], under);
      self(self, value.args[1], value.op == Op::div ? !under : under);
    } else if (value.kind == ExprKind::real_literal && value.real == 0 && !under) {
      result.literal = 0;
    } else {
      (under ? result.under : result.over).push_back(id);
    }
  };
  collect(collect, which, false);
  return result;
}

/// Equal factors above and below the line go.
void Algebra::cancel(Product& product) const {
  for (auto over = product.over.begin(); over != product.over.end();) {
    auto under = std::find_if(product.under.begin(), product.under.end(),
                              [&](ExprId factor) { return same(factor, *over); });
    if (under == product.under.end()) {
      ++over;
      continue;
    }
    product.under.erase(under);
    over = product.over.erase(over);
  }
}

ExprId Algebra::from(Product product) {
  if (product.literal == 0) return real(0);
  cancel(product);
  const double size = std::abs(product.literal);
  const bool inverse = size < 1 && 1 / size == std::round(1 / size) && 1 / size > 2 && product.under.empty();
  ExprId result = -1;
  if ((size != 1 && !inverse) || product.over.empty()) result = real(inverse ? 1 : size);
  for (ExprId factor : product.over)
    result = result < 0 ? factor : binary(Op::mul, result, factor, NumberClass::real);
  ExprId divisor = inverse ? real(std::round(1 / size)) : -1;
  for (ExprId factor : product.under) {
    const bool integers = divisor >= 0 && expr(divisor).type == NumberClass::integer &&
                          expr(factor).type == NumberClass::integer;
    divisor = divisor < 0
                  ? factor
                  : binary(Op::mul, divisor, factor, integers ? NumberClass::integer : NumberClass::real);
  }
  if (divisor >= 0) result = binary(Op::div, result, divisor, NumberClass::real);
  if (product.literal > 0) return result;
  Expr minus;
  minus.kind = ExprKind::unary;
  minus.op = Op::negate;
  minus.type = expr(result).type;
  minus.args = {result};
  return make(std::move(minus));
}

void Algebra::collect_terms(ExprId which, double sign, std::vector<Product>& terms) const {
  const Expr& value = expr(which);
  const bool sum = value.kind == ExprKind::binary && value.type == NumberClass::real &&
                   (value.op == Op::add || value.op == Op::sub);
  if (sum) {
    collect_terms(value.args[0], sign, terms);
    collect_terms(value.args[1], value.op == Op::sub ? -sign : sign, terms);
    return;
  }
  if (value.kind == ExprKind::unary && value.op == Op::negate)
    return collect_terms(value.args[0], -sign, terms);
  Product product = product_of(which);
  product.literal *= sign;
  terms.push_back(std::move(product));
}

std::string Algebra::key_of(const Product& product) const {
  std::string result;
  for (const auto* factors : {&product.over, &product.under}) {
    std::vector<std::string> keys;
    for (ExprId factor : *factors) keys.push_back(key(factor));
    std::sort(keys.begin(), keys.end());
    for (const std::string& one : keys) result += one + "*";
    result += "/";
  }
  return result;
}

void Algebra::collect_linear(ExprId which, std::int64_t factor, LinearTerms& result) const {
  const Expr& value = expr(which);
  const auto literal = [&](ExprId id) { return expr(id).kind == ExprKind::int_literal; };
  if (value.kind == ExprKind::int_literal) {
    result.constant += factor * value.integer;
    return;
  }
  if (value.kind == ExprKind::unary && value.op == Op::negate)
    return collect_linear(value.args[0], -factor, result);
  if (value.kind == ExprKind::binary && (value.op == Op::add || value.op == Op::sub)) {
    collect_linear(value.args[0], factor, result);
    return collect_linear(value.args[1], value.op == Op::sub ? -factor : factor, result);
  }
  if (value.kind == ExprKind::binary && value.op == Op::mul) {
    if (literal(value.args[0]))
      return collect_linear(value.args[1], factor * expr(value.args[0]).integer, result);
    if (literal(value.args[1]))
      return collect_linear(value.args[0], factor * expr(value.args[1]).integer, result);
  }
  for (auto& [coefficient, atom] : result.terms)
    if (same(atom, which)) {
      coefficient += factor;
      return;
    }
  result.terms.emplace_back(factor, which);
}

LinearTerms Algebra::linear(ExprId which) const {
  LinearTerms result;
  collect_linear(which, 1, result);
  std::erase_if(result.terms, [](const auto& term) { return term.first == 0; });
  return result;
}

ExprId Algebra::from(const LinearTerms& form) {
  auto terms = form.terms;
  auto positive = std::find_if(terms.begin(), terms.end(), [](const auto& term) { return term.first > 0; });
  if (positive != terms.end()) std::rotate(terms.begin(), positive, positive + 1);
  ExprId result = -1;
  for (const auto& [coefficient, atom] : terms) {
    const std::int64_t size = std::abs(coefficient);
    ExprId term = size == 1 ? atom : binary(Op::mul, integer(size), atom, NumberClass::integer);
    if (result >= 0) {
      result = binary(coefficient < 0 ? Op::sub : Op::add, result, term, NumberClass::integer);
    } else if (coefficient > 0) {
      result = term;
    } else {  // all are negative: the constant first
      result = binary(Op::sub, integer(form.constant), term, NumberClass::integer);
    }
  }
  if (result < 0) return integer(form.constant);
  if (positive == terms.end() && !terms.empty()) return result;
  if (form.constant == 0) return result;
  return binary(form.constant < 0 ? Op::sub : Op::add, result, integer(std::abs(form.constant)),
                NumberClass::integer);
}

ExprId Algebra::integer_add(ExprId a, ExprId b) {
  return from(linear(binary(Op::add, a, b, NumberClass::integer)));
}

ExprId Algebra::integer_sub(ExprId a, ExprId b) {
  return from(linear(binary(Op::sub, a, b, NumberClass::integer)));
}

}  // namespace ako
