// SPDX-License-Identifier: Apache-2.0
// Constant expressions over dims: extents and the arguments of `values`.
#pragma once

#include <optional>

#include "problem/problem.h"

namespace ako {

/// Floors, as the language's `/` on integers; nullopt for a divisor of 0 and on overflow. `floored_mod` has
/// the sign of the divisor.
std::optional<std::int64_t> floored_div(std::int64_t, std::int64_t);
std::optional<std::int64_t> floored_mod(std::int64_t, std::int64_t);
std::optional<std::int64_t> integer_power(std::int64_t base, std::int64_t exponent);

/// nullopt where the expression has no value: division by zero, overflow, or it is not constant.
std::optional<std::int64_t> try_evaluate_integer(const Problem&, ExprId, const Shape&);
std::optional<double> try_evaluate_constant(const Problem&, ExprId, const Shape&);

}  // namespace ako
