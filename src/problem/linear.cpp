// SPDX-License-Identifier: Apache-2.0
#include "problem/linear.h"

#include <algorithm>
#include <numeric>

namespace ako {
namespace {

constexpr int most_steps = 4000;
constexpr int deepest = 24;

void add_to(Linear& sum, const Linear& term, std::int64_t factor) {
  std::int64_t product = 0;
  sum.exact = sum.exact && term.exact && !__builtin_mul_overflow(term.constant, factor, &product) &&
              !__builtin_add_overflow(sum.constant, product, &sum.constant);
  for (auto [variable, coefficient] : term.coefficients) {
    std::int64_t& target = sum.coefficients[variable];
    sum.exact = sum.exact && !__builtin_mul_overflow(coefficient, factor, &product) &&
                !__builtin_add_overflow(target, product, &target);
    if (target == 0) sum.coefficients.erase(variable);
  }
}

std::int64_t ceiling_div(std::int64_t a, std::int64_t b) { return a / b + (a % b > 0); }

}  // namespace

std::string Linear::key() const {
  std::string text = std::to_string(constant);
  for (auto [variable, coefficient] : coefficients)
    text += "+" + std::to_string(coefficient) + "v" + std::to_string(variable);
  return text;
}

Linear scaled(const Linear& form, std::int64_t factor) {
  Linear result;
  add_to(result, form, factor);
  return result;
}

Linear operator+(const Linear& a, const Linear& b) {
  Linear result = a;
  add_to(result, b, 1);
  return result;
}

Linear operator-(const Linear& a, const Linear& b) {
  Linear result = a;
  add_to(result, b, -1);
  return result;
}

Linear operator+(const Linear& a, std::int64_t b) { return a + Linear::number(b); }

struct Inequalities::Search {
  const std::vector<Linear>& forms;
  int steps = most_steps;
  std::vector<bool> used;

  /// form >= result, if a result is found.
  std::optional<std::int64_t> lower(const Linear& form, std::optional<std::int64_t> wanted, int depth) {
    if (!form.exact || depth > deepest) return std::nullopt;
    if (form.coefficients.empty()) return form.constant;
    auto [variable, coefficient] = *form.coefficients.rbegin();
    std::optional<std::int64_t> best;
    for (std::size_t i = forms.size(); i-- > 0;) {
      auto found = forms[i].coefficients.find(variable);
      if (used[i] || found == forms[i].coefficients.end() || (found->second > 0) != (coefficient > 0))
        continue;
      if (--steps < 0) return best;
      std::int64_t common = std::gcd(found->second, coefficient);
      std::int64_t share = std::abs(found->second / common);
      // share * form = factor * forms[i] + rest, and forms[i] >= 0
      Linear rest = scaled(form, share) - scaled(forms[i], std::abs(coefficient / common));
      used[i] = true;
      std::optional<std::int64_t> goal;
      if (wanted && __builtin_mul_overflow(*wanted, share, &goal.emplace())) goal.reset();
      std::optional<std::int64_t> bound = lower(rest, goal, depth + 1);
      used[i] = false;
      if (bound && (!best || ceiling_div(*bound, share) > *best)) best = ceiling_div(*bound, share);
      if (wanted && best && *best >= *wanted) return best;
    }
    return best;
  }
};

void Inequalities::add(Linear at_least_zero) {
  if (at_least_zero.exact && !at_least_zero.coefficients.empty()) forms_.push_back(std::move(at_least_zero));
}

std::optional<std::int64_t> Inequalities::lower(const Linear& form) const {
  return Search{forms_, most_steps, std::vector<bool>(forms_.size())}.lower(form, std::nullopt, 0);
}

std::optional<std::int64_t> Inequalities::upper(const Linear& form) const {
  std::optional<std::int64_t> bound = lower(scaled(form, -1));
  return bound ? std::optional(-*bound) : std::nullopt;
}

bool Inequalities::proves_at_least(const Linear& form, std::int64_t bound) const {
  auto found = Search{forms_, most_steps, std::vector<bool>(forms_.size())}.lower(form, bound, 0);
  return found && *found >= bound;
}

bool Inequalities::proves_at_most(const Linear& form, std::int64_t bound) const {
  return proves_at_least(scaled(form, -1), -bound);
}

bool Inequalities::contradict() const {
  return std::any_of(forms_.begin(), forms_.end(),
                     [&](const Linear& form) { return proves_at_most(form, -1); });
}

}  // namespace ako
