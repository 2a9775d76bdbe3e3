// SPDX-License-Identifier: Apache-2.0
// New expressions in a problem's arena, simplified as they are made: zeros vanish, literals fold, like terms
// and factors merge, and what a sum does not range over leaves it. As in the language itself, arithmetic is
// exact in intent: real expressions are rewritten by the rules of real numbers.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "problem/problem.h"

namespace ako {

/// literal * over[0] * over[1] * … / (under[0] * under[1] * …)
struct Product {
  double literal = 1;
  std::vector<ExprId> over, under;
};

/// constant + sum of coefficient * atom, integers; atoms are not themselves sums or multiples.
struct LinearTerms {
  std::int64_t constant = 0;
  std::vector<std::pair<std::int64_t, ExprId>> terms;
};

class Algebra {
 public:
  explicit Algebra(Problem& problem) : problem_(problem) {}
  Problem& problem() { return problem_; }
  const Expr& expr(ExprId which) const { return problem_.expr(which); }

  ExprId real(double);
  ExprId integer(std::int64_t);
  ExprId index(IndexId);
  ExprId access(TensorId, std::vector<ExprId> subscripts, std::optional<ExprId> fallback = std::nullopt);
  ExprId call(Op, std::vector<ExprId> args);
  ExprId power(ExprId base, std::int64_t exponent);
  ExprId pow(ExprId base, ExprId exponent);
  ExprId binary(Op, ExprId, ExprId, NumberClass);
  ExprId compare(Op op, ExprId a, ExprId b) { return binary(op, a, b, NumberClass::boolean); }
  ExprId both(ExprId, ExprId);
  ExprId all(const std::vector<ExprId>& conditions);  // at least one
  ExprId opposite(ExprId condition);

  ExprId add(ExprId, ExprId);
  ExprId sub(ExprId a, ExprId b) { return add(a, negate(b)); }
  ExprId negate(ExprId);
  ExprId mul(ExprId, ExprId);
  ExprId div(ExprId, ExprId);
  ExprId where(ExprId condition, ExprId then, ExprId otherwise);
  /// sum(ranges if condition: body), real.
  ExprId sum(std::vector<Range>, std::optional<ExprId> condition, ExprId body);
  ExprId reduce(ReduceOp, std::vector<Range>, std::optional<ExprId> condition, ExprId body,
                bool scan = false);

  /// Integer sums in normal form.
  LinearTerms linear(ExprId) const;
  ExprId from(const LinearTerms&);
  ExprId integer_add(ExprId, ExprId);
  ExprId integer_sub(ExprId, ExprId);

  Product product_of(ExprId) const;
  ExprId from(Product);

  bool is_zero(ExprId) const;
  bool same(ExprId, ExprId) const;
  /// Equal for expressions that mean the same because they are written the same.
  std::string key(ExprId) const;
  bool mentions(ExprId, IndexId) const;

  std::optional<bool> known_comparison(ExprId condition);

  IndexId new_index(const std::string& name);
  using Replacement = std::map<IndexId, ExprId>;
  /// A copy with indices replaced; indices bound inside get new identities.
  ExprId substitute(ExprId, Replacement);

 private:
  ExprId make(Expr);
  bool movable(ExprId factor) const;
  void collect_terms(ExprId, double sign, std::vector<Product>&) const;
  void collect_linear(ExprId, std::int64_t factor, LinearTerms&) const;
  void merge_choices(std::vector<Product>&);
  void cancel(Product&) const;
  std::string key_of(const Product&) const;

  Problem& problem_;
};

}  // namespace ako
