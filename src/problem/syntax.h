// SPDX-License-Identifier: Apache-2.0
// What the math says before names and types are known: the grammar's output, the resolver's input.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "problem/diagnostics.h"
#include "problem/problem.h"

namespace ako {

struct Syntax;

/// lower <= index < upper as written; `inclusive` ends are made exclusive by the resolver.
struct SyntaxBound {
  std::string index;
  Spot spot;
  std::vector<Syntax> lower;  // none: 0
  bool lower_strict = false;  // `a < k`
  std::vector<Syntax> upper;  // one
  bool upper_inclusive = false;
};

struct Syntax {
  enum class Kind : std::uint8_t {
    integer,
    real,
    boolean,
    name,    // a dim, scalar, index, or single-valued tensor
    access,  // name[args], with `fallback`
    negate,
    logical_not,
    binary,   // op
    chain,    // a <= b < c: args and the comparison after each but the last
    call,     // name(args)
    reduce,   // reduce(bounds if condition: args[0]), with `scan`
    bounded,  // index < extent, on the left side of a statement only: bounds[0]
  };
  Kind kind = Kind::integer;
  Spot spot;
  std::string text;
  std::int64_t integer = 0;
  double real = 0;
  Op op = Op::none;
  std::vector<Op> comparisons;
  ReduceOp reduce = ReduceOp::sum;
  bool scan = false;
  std::vector<Syntax> args;
  std::vector<SyntaxBound> bounds;
  std::vector<Syntax> condition;  // none or one
  std::vector<Syntax> fallback;   // none or one
  int depth = 1;
};

enum class Assignment : std::uint8_t { define, sum, prod, max, min };

struct SyntaxStatement {
  Spot spot;
  std::string target;
  std::vector<Syntax> subscripts;
  Assignment assignment = Assignment::define;
  Syntax value;
  bool broken = false;  // could not be read: only the target is known
};

}  // namespace ako
