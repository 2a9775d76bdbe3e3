// SPDX-License-Identifier: Apache-2.0
// The words of the problem language: functions, operators, reductions, distributions, and words not free as
// names.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "problem/problem.h"

namespace ako {

/// What a function takes and gives.
enum class Signature : std::uint8_t {
  real_to_real,    // exp, sqrt …: an integer argument is promoted
  number_to_same,  // abs, sign, min, max, clamp: integers stay integers when all arguments are
  real_to_bool,    // is_nan, is_inf
  any_to_integer,  // int
  any_to_real,     // real
};

struct Function {
  std::string_view name;
  Op op = Op::none;
  int arity = 1;
  Signature signature = Signature::real_to_real;
};

const Function* find_function(std::string_view name);
const Function* find_function(Op);
std::vector<std::string> function_names();  // with the type names that round

std::optional<ReduceOp> reduce_op_from(std::string_view name);
std::string_view name_of(ReduceOp);
/// "+", "<=", "and" …; empty for what is no operator.
std::string_view symbol_of(Op);
/// The same in C++, where it differs: `&&`, `||`, `!`; empty for what is none there, such as `^`.
std::string_view c_symbol_of(Op);
/// How tightly an operator binds; higher is tighter.
int precedence_of(Op);
constexpr int tightest_precedence = 100;
constexpr int unary_precedence = 60;
constexpr int not_precedence = 25;

struct DistributionForm {
  std::string_view name;
  Distribution distribution;
  int least, most;                 // number of arguments
  std::string_view usage;          // "normal(mean, sd)"
  std::array<double, 2> defaults;  // of arguments left out
};
std::span<const DistributionForm> distribution_forms();
std::string_view name_of(Distribution);

/// "real", "an integer", "a truth value".
std::string_view class_word(NumberClass);
bool is_comparison(Op);
bool is_logical(Op);
/// Why a name cannot be used for a dim, tensor, scalar or index; empty when it can.
std::string why_not_a_name(std::string_view name);
/// The same for a problem, which may be called `argmax` or `sum`.
std::string why_not_a_problem_name(std::string_view name);

}  // namespace ako
