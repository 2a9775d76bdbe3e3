// SPDX-License-Identifier: Apache-2.0
// A Problem: what to compute, parsed and type-checked. Value type; expressions live in an arena and are named by
// ExprId. Grammar and meaning: docs/problems.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/hash.h"
#include "problem/scalar_type.h"

namespace ako {

using ExprId = std::int32_t;    // index into Problem::exprs
using DimId = std::int32_t;     // index into Problem::dims
using ScalarId = std::int32_t;  // index into Problem::scalars
using TensorId = std::int32_t;  // index into Problem::tensors
using IndexId = std::int32_t;   // index into Problem::indices; every binding occurrence is an index of its own

enum class ExprKind : std::uint8_t {
  real_literal,  // real
  int_literal,   // integer
  bool_literal,  // integer: 0 or 1
  dim,           // ref: DimId; integer
  scalar,        // ref: ScalarId
  index,         // ref: IndexId; integer
  access,        // ref: TensorId; args: one subscript per axis; fallback: value of an out-of-range read, a literal
  unary,         // op: negate, logical_not
  binary,        // op: arithmetic, comparison, logic; args: left, right. Operands of arithmetic may be of two classes:
                 // `type` says whether it is done in integers (div floors) or reals; and, or evaluate left first
  call,          // op: a function; args
  select,        // where(condition, then, else): args; only the chosen side is evaluated
  reduce,        // reduce, bounds, condition, args[0] = body
};

enum class Op : std::uint8_t {
  none,
  // unary
  negate, logical_not,
  // binary; on two integers div floors and mod has the sign of the divisor (Python's // and %)
  add, sub, mul, div, mod, pow,
  less, less_equal, greater, greater_equal, equal, not_equal, logical_and, logical_or,
  // functions of one argument
  exp, exp2, expm1, log, log2, log1p, sqrt, rsqrt, abs, sign, floor, ceil, round, trunc,
  sin, cos, tan, tanh, sinh, cosh, asin, acos, atan, erf, sigmoid, relu, is_nan, is_inf,
  // conversions: to integer (truncates), to real, to a scalar type (rounds: Expr::cast)
  to_int, to_real, cast,
  // functions of two and three arguments
  min, max, atan2, clamp,
};

enum class ReduceOp : std::uint8_t { sum, prod, max, min, any, all, argmax, argmin };

/// One bound index of a reduction or of a statement: lower <= index < upper. Bounds are integer expressions over
/// dims, literals and indices bound further out.
struct Range {
  IndexId index = -1;
  ExprId lower = -1;
  ExprId upper = -1;
  bool stated = false;  // statements: the bound stands in the text, `s[q < S] = …`
};

struct Expr {
  ExprKind kind = ExprKind::int_literal;
  NumberClass type = NumberClass::real;
  Op op = Op::none;
  ReduceOp reduce = ReduceOp::sum;
  bool scan = false;  // reduce: `scan sum(k <= t: …)`, the one bound ends at an index of the statement
  ScalarType cast = ScalarType::f64;
  std::int32_t ref = -1;
  std::int64_t integer = 0;
  double real = 0;
  std::vector<ExprId> args;
  std::vector<Range> bounds;
  std::optional<ExprId> condition;  // reduce: `if …`
  std::optional<ExprId> fallback;   // access: `x[…] or 0`
  int line = 0, column = 0;         // in the problem file
};

struct Dim {
  std::string name, meaning;
};
struct Scalar {
  std::string name;
  ScalarType type = ScalarType::f32;
  double value = 0;
};
struct Index {
  std::string name;
};

enum class TensorRole : std::uint8_t {
  input,      // never assigned
  output,     // assigned, declared
  inout,      // declared with `values` and assigned: reads see the initial value until its defining statement ends
  temporary,  // not declared (kept in fp64, i64 or bool), or declared with `temporary: true` (rounded to its type)
};

enum class Distribution : std::uint8_t {
  normal,       // normal(mean, sd)
  uniform,      // uniform(low, high)
  integers,     // integers(low, high): low <= value < high
  categorical,  // categorical(n, skew): 0 <= value < n, P(k) ~ 1/(k+1)^skew after a secret permutation of k
  constant,     // constant(c)
  permutation,  // permutation(n): along the last axis, each row a permutation of 0 … n-1 (cut to the extent)
  sorted,       // sorted(DISTRIBUTION): ascending along the last axis
  ragged,       // ragged(total, skew): along the last axis n+1 ascending offsets from 0 to total, groups may be empty
  adversarial,  // adversarial(scale): normal mixed with zeros, denormals, large offsets, repeated rows
};

/// How an input tensor's values are made. Arguments are integer or real constant expressions over dims.
struct ValueSpec {
  Distribution distribution = Distribution::normal;
  std::vector<ExprId> args;
  std::vector<ValueSpec> inner;  // sorted: the one it sorts
  std::string text;              // as written
};

struct Tensor {
  std::string name;
  ScalarType type = ScalarType::f64;
  bool exact = false;          // a temporary that was never declared: not rounded
  NumberClass number = NumberClass::real;
  TensorRole role = TensorRole::input;
  std::vector<ExprId> shape;   // extents: integer expressions over dims and literals; empty: a single value
  std::optional<ValueSpec> values;  // inputs and inouts always have one (default normal(0,1), integers need it said)
  int line = 0, column = 0;
};

enum class StatementKind : std::uint8_t {
  define,      // y[t, d] = …       for every index in its range
  accumulate,  // y[idx[t], d] += … (also *=, max=, min=); subscripts are any integer expressions
  initial,     // h[-1, d] = …      the value before the first of a recurrence; subscripts[axis] is the literal -1
  recurrence,  // h[t, d] = … h[t-1, d] …: evaluated with `axis` ascending
};

struct Statement {
  StatementKind kind = StatementKind::define;
  TensorId target = -1;
  std::vector<Range> indices;      // the loop indices, outermost first (order on the left, then those only on the right)
  std::vector<ExprId> subscripts;  // one per axis of target
  ReduceOp accumulate = ReduceOp::sum;
  int axis = -1;                   // initial, recurrence
  ExprId value = -1;               // of the target's class, or an integer for a real target
  int line = 0, column = 0;
};

/// One binding of the problem's dims.
struct Shape {
  std::vector<std::int64_t> dims;  // by DimId
  bool core = false;
  bool representative = false;
  std::string label;               // "T=4096,D=4096" unless given
};

struct Tolerance {
  std::optional<double> snr_db;        // signal-to-noise ratio against fp64, at least
  std::optional<double> rtol, atol;    // |got - expected| <= atol + rtol*|expected| for every element
  std::optional<double> error_ratio;   // candidate's rms error / rms error of rounding fp64 to the output type, at most
  std::optional<double> mismatches;    // fraction of integer or bool elements that may differ (default 0)
};

struct Problem {
  std::string name, summary;
  std::vector<Dim> dims;
  std::vector<Scalar> scalars;
  std::vector<Tensor> tensors;       // declared ones first, in the file's order; then temporaries
  std::vector<Index> indices;
  std::vector<Expr> exprs;
  std::vector<Statement> statements;  // in the order of evaluation, which is the order written
  std::vector<Shape> shapes;
  Tolerance tolerance;
  std::optional<std::string> python_reference;  // path relative to the problem file
  std::string python_function;                  // in it
  std::optional<ExprId> declared_flops, declared_bytes;  // `cost:` of a problem without math; dims only
  std::string math;                   // the text of `math:`
  std::string source;                 // the whole file, byte for byte
  std::filesystem::path path;         // where it was read from, may be empty
  Hash id;                            // of `source`

  const Expr& expr(ExprId which) const { return exprs[static_cast<std::size_t>(which)]; }
  const Tensor& tensor(TensorId which) const { return tensors[static_cast<std::size_t>(which)]; }
  std::optional<TensorId> find_tensor(std::string_view tensor_name) const;
};

/// Parses and checks a problem: syntax, names, types, ranks, and that no index expression can leave its tensor on any
/// of the shapes. `path` is for messages and for relative files. All mistakes found are returned, in file order.
Parsed<Problem> parse_problem(std::string_view text, const std::filesystem::path& path);
Parsed<Problem> load_problem(const std::filesystem::path& path);

/// The problem with its shapes replaced ("T=128,D=64"; several separated by ';'): `--shape` of the command line.
Parsed<Problem> with_shapes(const Problem&, std::string_view shapes);

/// Evaluates an integer expression over dims and literals only.
std::int64_t evaluate_integer(const Problem&, ExprId, const Shape&);
/// As evaluate_integer, for constant arguments that may be real (ValueSpec::args).
double evaluate_constant(const Problem&, ExprId, const Shape&);
std::vector<std::int64_t> extents(const Problem&, const Tensor&, const Shape&);
std::int64_t element_count(const Problem&, const Tensor&, const Shape&);
/// Declared inputs, inouts and outputs, in the file's order: what a kernel is given.
std::vector<TensorId> kernel_tensors(const Problem&);

/// An expression or statement in the language's own notation, for people and for generated comments.
std::string to_text(const Problem&, ExprId);
std::string to_text(const Problem&, const Statement&);

}  // namespace ako
