// SPDX-License-Identifier: Apache-2.0
// How a candidate's kernels are launched: declarative, so that the judge can launch them without running
// candidate code. YAML form: docs/launch-plans.md.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "problem/problem.h"

namespace ako {

/// An integer expression over a problem's dims and the plan's tunables: + - * / % (floor), ceil_div(a, b),
/// min, max, parentheses. Kept as text and evaluated with names bound.
struct IntegerExpression {
  std::string text;
  friend bool operator==(const IntegerExpression&, const IntegerExpression&) = default;
};
using Bindings = std::map<std::string, std::int64_t>;
/// Errors: unknown name (with a suggestion), syntax (with column), division by zero, overflow of int64.
Result<std::int64_t> evaluate(const IntegerExpression&, const Bindings&);
/// The names it uses; for checking a plan before any shape is bound.
Result<std::vector<std::string>> names_in(const IntegerExpression&);

struct WorkspaceBuffer {
  std::string name;
  ScalarType type = ScalarType::f32;
  std::vector<IntegerExpression> shape;
  friend bool operator==(const WorkspaceBuffer&, const WorkspaceBuffer&) = default;
};

struct Launch {
  std::string kernel;                                             // symbol; host: an extern "C" function
  std::array<IntegerExpression, 3> grid{{{"1"}, {"1"}, {"1"}}};   // host: ignored
  std::array<IntegerExpression, 3> block{{{"1"}, {"1"}, {"1"}}};  // host: ignored
  IntegerExpression shared{"0"};                                  // bytes of dynamic shared memory
  std::vector<std::string> args;  // tensor, scalar, workspace, dim or tunable names, or integer expressions
  friend bool operator==(const Launch&, const Launch&) = default;
};

struct LaunchPlan {
  std::map<std::string, std::vector<std::int64_t>> tunables;  // allowed values; the first is the default
  std::vector<WorkspaceBuffer> workspace;
  std::vector<Launch> launches;  // in order, each after the one before has ended
  friend bool operator==(const LaunchPlan&, const LaunchPlan&) = default;
};

/// Parses the YAML form. Unknown keys are errors with a suggestion.
Parsed<LaunchPlan> parse_launch_plan(std::string_view yaml, const std::string& file);
std::string to_yaml(const LaunchPlan&);
/// One launch of the symbol named like the problem with every kernel tensor in the file's order, then
/// scalars, then dims: what a single source file without a plan gets.
LaunchPlan default_plan(const Problem&);
/// The tunables in force: the plan's defaults (the first allowed value of each), replaced by those chosen.
Bindings tunables_in_force(const LaunchPlan&, const Bindings& chosen);
/// Names exist and do not clash, chosen tunables are allowed values, expressions evaluate on every shape,
/// argument lists are not empty, and some launch is given every output.
Parsed<void> check_plan(const LaunchPlan&, const Problem&, const Bindings& tunables);

/// What one launch argument is, once a shape and tunables are bound.
struct Argument {
  enum class Kind : std::uint8_t { tensor, workspace, scalar, integer } kind = Kind::integer;
  std::int32_t ref = -1;     // TensorId, index into workspace, or ScalarId
  std::int64_t integer = 0;  // Kind::integer: passed as int64_t
};
/// A letter or '_' and then letters, digits and '_'; no keyword of C++, at most 128 characters.
bool is_symbol(std::string_view);
/// The arguments of each launch, in order. Scalars are passed in their declared C type (f32 float, f64
/// double, i32 int32_t, i64 int64_t, bool and u8 uint8_t, 16-bit floats as their bits in uint16_t).
Result<std::vector<std::vector<Argument>>> bind_arguments(const LaunchPlan&, const Problem&, const Shape&,
                                                          const Bindings& tunables);
/// What is known before a shape is bound: bind_arguments with every integer left 0.
Result<std::vector<std::vector<Argument>>> argument_kinds(const LaunchPlan&, const Problem&);

}  // namespace ako
