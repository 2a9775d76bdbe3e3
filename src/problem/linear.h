// SPDX-License-Identifier: Apache-2.0
// Integer linear forms and what inequalities between them prove.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ako {

using Variable = int;

/// constant + sum of coefficient * variable; no coefficient is 0. `exact` is lost on overflow: nothing is
/// proven then.
struct Linear {
  std::map<Variable, std::int64_t> coefficients;
  std::int64_t constant = 0;
  bool exact = true;

  static Linear number(std::int64_t value) { return {{}, value, true}; }
  static Linear variable(Variable which) { return {{{which, 1}}, 0, true}; }
  bool is_number() const { return exact && coefficients.empty(); }
  std::string key() const;
  friend bool operator==(const Linear&, const Linear&) = default;
};
Linear scaled(const Linear&, std::int64_t factor);
Linear operator+(const Linear&, const Linear&);
Linear operator-(const Linear&, const Linear&);
Linear operator+(const Linear&, std::int64_t);

/// Inequalities `form >= 0` that hold. Bounds of other forms follow by adding multiples of them so that the
/// variables cancel, youngest first (the certificate that Farkas' lemma says exists, searched to a bounded
/// depth): what is returned always holds, but may be weaker than the truth.
class Inequalities {
 public:
  void add(Linear at_least_zero);
  std::size_t size() const { return forms_.size(); }
  void shrink(std::size_t size) { forms_.resize(size); }

  /// The best bound found; nullopt when none is.
  std::optional<std::int64_t> lower(const Linear&) const;
  std::optional<std::int64_t> upper(const Linear&) const;
  bool proves_at_least(const Linear&, std::int64_t) const;
  bool proves_at_most(const Linear&, std::int64_t) const;
  /// Whether they are found to exclude each other: then no such point exists.
  bool contradict() const;

 private:
  struct Search;
  std::vector<Linear> forms_;
};

}  // namespace ako
