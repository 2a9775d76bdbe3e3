// SPDX-License-Identifier: Apache-2.0
#include "problem/counting.h"

#include "base/random.h"
#include "problem/cost.h"
#include "problem/language_fixture.h"

namespace ako {
namespace {

Problem parsed(const std::string& math, const std::string& shapes = "  - {T: 6, D: 8}\n",
               const std::string& extra = {}) {
  Parsed<Problem> problem = ProblemText{math, shapes, extra}.parse();
  EXPECT_TRUE(problem) << errors_of(problem);
  return problem ? *problem : Problem{};
}

Cost cost_in(const std::string& math, const std::string& shapes = "  - {T: 6, D: 8}\n",
             const std::string& extra = {}) {
  Problem problem = parsed(math, shapes, extra);
  return cost_of(problem, problem.shapes[0]);
}

TEST(Cost, CountsElementwiseOperations) {
  Cost cost = cost_in("y[t, d] = x[t, d] * 2 + 1");
  EXPECT_EQ(cost.flops, 2 * 48);
  EXPECT_EQ(cost.compulsory.count, 2 * 48 * 4);
}

TEST(Cost, CountsTranscendentalsApartToo) {
  Cost cost = cost_in("y[t, d] = exp(x[t, d])");
  EXPECT_EQ(cost.flops, 48);
  EXPECT_EQ(cost.transcendental, 48);
}

TEST(Cost, CountsSmallPowersAsMultiplications) { EXPECT_EQ(cost_in("y[t, d] = x[t, d]^3").flops, 2 * 48); }

TEST(Cost, CountsAContractionAsTwoOperationsATerm) {
  Cost cost = cost_in("y[t, d] = sum(k < D: x[t, k] * v[k, d])", "  - {T: 6, D: 8}\n",
                      "  v: {type: f32, shape: [D, D]}\n");
  EXPECT_EQ(cost.flops, 2 * 6 * 8 * 8);
  EXPECT_EQ(cost.contraction_flops, cost.flops);
}

TEST(Cost, CountsATriangleByHalf) {
  EXPECT_EQ(cost_in("y[t, d] = sum(k <= d: x[t, k])").flops, 6 * (8 * 9 / 2));
  EXPECT_EQ(cost_in("y[t, d] = sum(k < D if k < d: x[t, k])").flops, 6 * (8 * 7 / 2));
  double n = 1 << 20;
  EXPECT_DOUBLE_EQ(cost_in("y[t, d] = sum(k <= d: x[t, k])", "  - {T: 1, D: 1048576}\n").flops,
                   n * (n + 1) / 2);
}

TEST(Cost, CountsOnlyTheChosenSideOfAWhere) {
  EXPECT_EQ(cost_in("y[t, d] = where(d < 2, exp(x[t, d]), x[t, d])").transcendental, 6 * 2);
}

TEST(Cost, CountsWhatDoesNotDependOnAnIndexOnce) {
  EXPECT_EQ(cost_in("y[t, d] = x[t, d] / sum(k < D: x[t, k])").flops, 48 + 48);
  EXPECT_EQ(cost_in("y[t, d] = x[t, d] * exp(w[d])").transcendental, 8);
}

TEST(Cost, CountsAScanAsOnePass) {
  EXPECT_EQ(cost_in("y[t, d] = scan sum(k <= d: x[t, k] * 2)").flops, 48 + 48);
}

TEST(Cost, CountsRowsThatAGatherTouches) {
  Cost cost = cost_in("r[t] = sum(d < D: table[pick[t], d])", "  - {T: 6, D: 8}\n",
                      "  pick: {type: i32, shape: [T], values: \"integers(0, 1000)\"}\n"
                      "  table: {type: bf16, shape: [1000, D]}\n");
  EXPECT_EQ(cost.compulsory.count, 6 * 8 * 2 + 6 * 4 + 6 * 4);
}

TEST(Cost, CountsATensorReadTwiceOnce) {
  EXPECT_EQ(cost_in("m[t] = max(d < D: x[t, d])\ny[t, d] = x[t, d] - m[t]").compulsory.count, 2 * 48 * 4);
}

TEST(Cost, CountsHalfATensorWhereHalfIsRead) {
  EXPECT_EQ(cost_in("r[t] = sum(k < D / 2: x[t, k])").compulsory.count, 6 * 4 * 4 + 6 * 4);
}

TEST(Cost, CountsRaggedGroupsByTheirMean) {
  EXPECT_DOUBLE_EQ(cost_in("r[t] = sum(off[t] <= k < off[t + 1]: w[k])").flops, 8);
}

TEST(Cost, CountsPackedTypesByTheirBits) {
  Cost cost = cost_in("y[t, d] = q[t, d]", "  - {T: 6, D: 8}\n", "  q: {type: f4e2m1, shape: [T, D]}\n");
  EXPECT_EQ(cost.compulsory.count, 24 + 48 * 4);
}

TEST(Cost, CountsAnInoutTensorReadAndWritten) {
  Cost cost = cost_in("p[t] = p[t] + x[t, 0]", "  - {T: 6, D: 8}\n",
                      "  p: {type: f32, shape: [T], values: \"normal(0, 1)\"}\n");
  EXPECT_EQ(cost.compulsory.count, 3 * 6 * 4);
}

double count_one_by_one(const Problem& problem, const Shape& shape, const IterationDomain& domain,
                        std::size_t level, Point& point) {
  if (level == domain.ranges.size()) {
    for (const Guard& guard : domain.guards)
      if ((*value_at(problem, shape, guard.condition, point) != 0) == guard.negated) return 0;
    return 1;
  }
  const Range& range = domain.ranges[level];
  std::int64_t low = *value_at(problem, shape, range.lower, point),
               high = *value_at(problem, shape, range.upper, point);
  double sum = 0;
  for (std::int64_t i = low; i < high; ++i) {
    point[range.index] = i;
    sum += count_one_by_one(problem, shape, domain, level + 1, point);
  }
  return sum;
}

TEST(Counting, AgreesWithCountingOneByOne) {
  Random random(11);
  const char* lowers[] = {"0", "d - 2", "t", "d / 2"};
  const char* uppers[] = {"D", "d + 1", "t + d", "2 * t - 1", "min(d, 4)"};
  const char* conditions[] = {"k <= d",          "k + t < D",      "k % 2 == 0",     "k != d",
                              "k > t and k < d", "k > t or k < d", "2 * k >= d - 1", "not (k == t)"};
  for (int round = 0; round < 200; ++round) {
    std::string math = std::string("y[t, d] = sum(") + lowers[random.below(4)] + " <= k < " +
                       uppers[random.below(5)] + ", j <= k if " + conditions[random.below(8)] +
                       ": x[t, d] + k + j)";
    Problem problem = parsed(math);
    const Expr& reduce = problem.expr(problem.statements[0].value);
    IterationDomain domain{problem.statements[0].indices, {{*reduce.condition, random.below(2) == 0}}};
    domain.ranges.insert(domain.ranges.end(), reduce.bounds.begin(), reduce.bounds.end());
    Point point;
    EXPECT_EQ(count_points(problem, problem.shapes[0], domain),
              count_one_by_one(problem, problem.shapes[0], domain, 0, point))
        << math;
  }
}

}  // namespace
}  // namespace ako
