// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"
#include "problem/counting.h"
#include "problem/language_fixture.h"
#include "problem/linear.h"

namespace ako {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class InBounds : public ::testing::TestWithParam<const char*> {};
TEST_P(InBounds, IsAccepted) { EXPECT_EQ(errors_in(GetParam()), ""); }
INSTANTIATE_TEST_SUITE_P(
    Bounds, InBounds,
    ::testing::Values("y[t, d] = x[t, D - 1 - d]", "y[t, d] = where(d > 0, x[t, d - 1], 0)",
                      "y[t, d] = where(d == 0, 0, x[t, d - 1])", "y[t, d] = where(d != 0, x[t, d - 1], 0)",
                      "y[t, d] = where(not (d + 1 < D), 0, x[t, d + 1])",
                      "y[t, d] = where(d < 1 or d >= D - 1, 0, x[t, d - 1] + x[t, d + 1])",
                      "y[t, d] = where(d > 0 and x[t, d - 1] > 0, 1, 0)",
                      "y[t, d] = sum(k < D if d - k >= 0: x[t, d - k])", "y[t, d] = sum(k <= d: x[t, d - k])",
                      "y[t, d] = sum(d <= k < D: x[t, k - d])", "y[t, d] = x[t, (d / 3) * 3 + d % 3]",
                      "y[t, d] = x[t, d / 7]", "y[t, d] = x[t, (2 * d + 1) / 4]", "y[t, d] = x[t, d % 1]",
                      "y[t, d] = x[t, min(d + 5, D - 1)] + x[t, max(d - 5, 0)]",
                      "y[t, d] = x[t, clamp(int(x[t, d]), 0, D - 1)]", "y[t, d] = x[t, abs(d - D + 1)]",
                      "r[t] = x[t, idx[t]]", "r[t] = where(idx[t] > 0, x[t, idx[t] - 1], 0)",
                      "r[t] = sum(off[t] <= k < off[t + 1]: w[k])", "r[t] = x[t, argmax(d < D: x[t, d])]",
                      "b[t] = argmin(d < D: x[t, d])\nr[t] = x[t, b[t]]", "r[t] = x[t, int(flag[t]) % D]",
                      "b[t] = idx[t] / 2\nr[t] = x[t, b[t]]", "y[t, d] = x[t, d + 9] or 0",
                      "y[t, d] = sum(i <= d, j <= i: x[t, d - i + j])",
                      "y[t, d] = x[t, where(d > 3, d - 4, d)]",
                      "y[t, d] = sum(k < max(D - 5, 0): x[t, k + 5])", "r[t] = sum(j < D - 1: x[t, j + 1])"));

struct Outside {
  const char* math;
  const char* range;
};
class OutOfBounds : public ::testing::TestWithParam<Outside> {};
TEST_P(OutOfBounds, IsReported) { EXPECT_THAT(errors_in(GetParam().math), HasSubstr(GetParam().range)); }
INSTANTIATE_TEST_SUITE_P(
    Bounds, OutOfBounds,
    ::testing::Values(Outside{"y[t, d] = x[t, d + 1]", "d + 1 of x runs from 1 to 8"},
                      Outside{"y[t, d] = x[t, d - 1]", "d - 1 of x runs from -1 to 6"},
                      Outside{"y[t, d] = x[d, t]", "subscript d of x runs from 0 to 7, but axis 1 has T = 6"},
                      Outside{"y[t, d] = x[t, 2 * d]", "runs from 0 to 14"},
                      Outside{"y[t, d] = where(d > 0, x[t, d - 2], 0)", "runs from -1 to 5"},
                      Outside{"y[t, d] = where(d > 0 or t > 0, x[t, d - 1], 0)", "runs from -1 to 6"},
                      Outside{"y[t, d] = sum(k <= d: x[t, k + 1])", "runs from 1 to 8"},
                      Outside{"r[t] = x[t, idx[t] + 1]", "idx[t] + 1 of x runs from 1 to 8"},
                      Outside{"y[t, d] = x[t, int(x[t, d])]", "can be any integer"},
                      Outside{"y[idx[t], d] += x[t, d]", "the subscript idx[t] of y runs from 0 to 7"},
                      Outside{"r[t] = sum(off[t] <= k <= off[t + 1]: w[k])", "runs from 0 to 8"},
                      Outside{"r[t] = x[off[t], 0]", "runs from 0 to 8"}));

TEST(Bounds, NameTheShapeOnWhichTheyFail) {
  ProblemText text{"y[t, d] = x[t, d] + x[t, 5]", "  - {T: 3, D: 6}\n  - {T: 3, D: 5}\n"};
  EXPECT_THAT(errors_of(text.parse()),
              AllOf(HasSubstr("(shape T=3,D=5)"), HasSubstr("D = 5 elements, 0 to 4")));
}

TEST(Bounds, AreProvenForAnyStepOfARecurrence) {
  EXPECT_EQ(errors_in("h[-1, d] = 0\nh[t, d] = h[t-1, d] + x[t, d]\ny[t, d] = h[t, d]"), "");
  EXPECT_THAT(errors_in("h[-1, d] = 0\nh[t, d] = h[t-1, d] + x[t, d]\ny[t, d] = h[t-1, d]"),
              HasSubstr("runs from -1 to 4"));
}

/// A random integer expression over t, d, literals and D.
std::string random_subscript(Random& random, int depth) {
  auto literal = [&] { return std::to_string(1 + random.below(5)); };
  if (depth == 0 || random.below(5) == 0) {
    const char* leaves[] = {"t", "d", "D", "T"};
    return random.below(5) == 0 ? literal() : leaves[random.below(4)];
  }
  std::string left = random_subscript(random, depth - 1);
  switch (random.below(7)) {
    case 0:
      return "(" + left + " + " + random_subscript(random, depth - 1) + ")";
    case 1:
      return "(" + left + " - " + random_subscript(random, depth - 1) + ")";
    case 2:
      return left + " * " + literal();
    case 3:
      return "(" + left + ") / " + literal();
    case 4:
      return "(" + left + ") % " + literal();
    case 5:
      return "min(" + left + ", " + random_subscript(random, depth - 1) + ")";
    default:
      return "max(" + left + ", " + random_subscript(random, depth - 1) + ")";
  }
}

std::string random_condition(Random& random) {
  const char* relations[] = {" < ", " <= ", " > ", " >= ", " == ", " != "};
  return random_subscript(random, 1) + relations[random.below(6)] + random_subscript(random, 1);
}

/// Whether the subscript stays in 0 … extent-1 at every point at which the guard holds; by trying all.
bool stays_inside(const Problem& problem, const Shape& shape, ExprId guard, ExprId subscript,
                  std::int64_t extent) {
  const std::vector<Range>& loops = problem.statements[0].indices;
  for (std::int64_t t = 0; t < shape.dims[0]; ++t)
    for (std::int64_t d = 0; d < shape.dims[1]; ++d) {
      Point point{{loops[0].index, t}, {loops[1].index, d}};
      if (!*value_at(problem, shape, guard, point)) continue;
      std::int64_t value = *value_at(problem, shape, subscript, point);
      if (value < 0 || value >= extent) return false;
    }
  return true;
}

TEST(Bounds, AgreeWithTryingEveryPoint) {
  Random random(7);
  int inside = 0, proven = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string guard = random_condition(random), subscript = random_subscript(random, 2);
    std::string shapes = "  - {T: 5, D: 7}\n";
    ProblemText safe{"y[t, d] = where(" + guard + ", x[t, " + subscript + "] or 0, 0)", shapes};
    Parsed<Problem> with_fallback = safe.parse();
    if (!with_fallback) continue;  // a divisor that may be 0
    const Problem& problem = *with_fallback;
    const Expr& select = problem.expr(problem.statements[0].value);
    ExprId index = problem.expr(select.args[1]).args[1];
    bool truth = stays_inside(problem, problem.shapes[0], select.args[0], index, 7);
    bool accepted =
        ProblemText{"y[t, d] = where(" + guard + ", x[t, " + subscript + "], 0)", shapes}.parse().has_value();
    EXPECT_TRUE(truth || !accepted) << "accepted, but leaves: x[t, " << subscript << "] where " << guard;
    inside += truth;
    proven += accepted;
  }
  ASSERT_GT(inside, 300);
  EXPECT_GT(proven, inside * 9 / 10) << proven << " of " << inside << " proven";
}

TEST(Linear, CancelsWhatItSubtracts) {
  Linear a = scaled(Linear::variable(0), 3) + Linear::variable(1) + 5;
  EXPECT_EQ(a - a, Linear{});
}

TEST(Inequalities, ChainThroughOtherVariables) {
  Inequalities known;
  Linear q = Linear::variable(0), k = Linear::variable(1);
  known.add(q);                      // 0 <= q
  known.add(Linear::number(9) - q);  // q <= 9
  known.add(k);                      // 0 <= k
  known.add(q - k);                  // k <= q
  EXPECT_EQ(known.lower(q - k), 0);
  EXPECT_EQ(known.upper(q - k), 9);
  EXPECT_EQ(known.upper(scaled(k, 2) + q), 27);
  EXPECT_FALSE(known.contradict());
  known.add(k + -20);
  EXPECT_TRUE(known.contradict());
}

TEST(Inequalities, SayNothingOfWhatOverflows) {
  Inequalities known;
  Linear q = Linear::variable(0);
  known.add(q);
  EXPECT_EQ(known.lower(scaled(scaled(q, std::int64_t{1} << 40), std::int64_t{1} << 40)), std::nullopt);
}

}  // namespace
}  // namespace ako
