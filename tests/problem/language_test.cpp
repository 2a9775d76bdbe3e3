// SPDX-License-Identifier: Apache-2.0
#include "problem/language_fixture.h"

namespace ako {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Problem parsed(const std::string& math, const std::string& extra = {}) {
  ProblemText text{math};
  text.extra = extra;
  Parsed<Problem> problem = text.parse();
  EXPECT_TRUE(problem) << math << "\n" << errors_of(problem);
  return problem ? *problem : Problem{};
}

const Expr& value_of(const Problem& problem, std::size_t statement = 0) {
  return problem.expr(problem.statements[statement].value);
}

TEST(Language, ReadsStatementsInOrder) {
  Problem problem = parsed("m[t] = max(d < D: x[t, d])\ny[t, d] = x[t, d] - m[t]");
  EXPECT_THAT(statements_of(problem), ElementsAre("m[t] = max(d < D: x[t, d])", "y[t, d] = x[t, d] - m[t]"));
}

TEST(Language, KeepsDeclaredTensorsBeforeTemporaries) {
  Problem problem = parsed("m[t] = max(d < D: x[t, d])\ny[t, d] = x[t, d] - m[t]");
  ASSERT_EQ(problem.tensors.size(), 3u);
  EXPECT_EQ(problem.tensors[0].role, TensorRole::input);
  EXPECT_EQ(problem.tensors[1].role, TensorRole::output);
  EXPECT_EQ(problem.tensors[2].name, "m");
  EXPECT_EQ(problem.tensors[2].role, TensorRole::temporary);
  EXPECT_TRUE(problem.tensors[2].exact);
  EXPECT_THAT(kernel_tensors(problem), ElementsAre(0, 1));
}

TEST(Language, BindsMultiplicationTighterThanAddition) {
  EXPECT_EQ(value_of(parsed("y[t, d] = 1 + 2 * x[t, d]")).op, Op::add);
  EXPECT_EQ(value_of(parsed("y[t, d] = (1 + 2) * x[t, d]")).op, Op::mul);
}

TEST(Language, NegatesAfterRaisingToAPower) {
  Problem problem = parsed("y[t, d] = -x[t, d]^2");
  EXPECT_EQ(value_of(problem).op, Op::negate);
  EXPECT_EQ(problem.expr(value_of(problem).args[0]).op, Op::pow);
}

TEST(Language, RaisesToPowersFromTheRight) {
  Problem problem = parsed("y[t, d] = x[t, d]^w[d]^2");
  EXPECT_EQ(problem.expr(value_of(problem).args[1]).op, Op::pow);
}

TEST(Language, TellsTheFunctionMaxFromTheReduction) {
  EXPECT_EQ(value_of(parsed("y[t, d] = max(x[t, d], 0)")).kind, ExprKind::call);
  EXPECT_EQ(value_of(parsed("y[t, d] = max(k <= d: x[t, k])")).kind, ExprKind::reduce);
}

TEST(Language, TellsAFallbackFromLogic) {
  Problem fallback = parsed("y[t, d] = x[t, d + 1] or 0");
  EXPECT_EQ(value_of(fallback).kind, ExprKind::access);
  ASSERT_TRUE(value_of(fallback).fallback);
  Problem logic = parsed("r[t] = where(flag[t] or idx[t] > 3, 1.0, 2.0)");
  EXPECT_EQ(logic.expr(value_of(logic).args[0]).op, Op::logical_or);
}

TEST(Language, AcceptsNegativeAndInfiniteFallbacks) {
  Problem problem = parsed("y[t, d] = (x[t, d + 1] or -inf) + (x[t, d - 1] or -1.5)");
  EXPECT_EQ(statements_of(problem)[0], "y[t, d] = (x[t, d + 1] or -inf) + (x[t, d - 1] or -1.5)");
}

TEST(Language, ContinuesLinesInsideBracketsAndAfterOperators) {
  Problem problem = parsed("y[t, d] = sum(k < D:\n    x[t, k]) +\n  x[t,\n d] # a comment\n");
  EXPECT_EQ(statements_of(problem)[0], "y[t, d] = sum(k < D: x[t, k]) + x[t, d]");
}

TEST(Language, WritesInclusiveBoundsAsExclusiveOnes) {
  Problem problem = parsed("y[t, d] = sum(k <= d: x[t, k]) + sum(0 < k < D: x[t, k])");
  const Expr& first = problem.expr(value_of(problem).args[0]);
  EXPECT_EQ(to_text(problem, first.bounds[0].upper), "d + 1");
  const Expr& second = problem.expr(value_of(problem).args[1]);
  EXPECT_EQ(to_text(problem, second.bounds[0].lower), "0 + 1");
}

TEST(Language, ReducesOverSeveralIndicesWithACondition) {
  Problem problem = parsed("r[t] = sum(i < D, j < D if i != j: x[t, i] * x[t, j])");
  EXPECT_EQ(value_of(problem).bounds.size(), 2u);
  EXPECT_TRUE(value_of(problem).condition);
}

TEST(Language, ReadsRaggedBoundsFromATensor) {
  Problem problem = parsed("r[t] = sum(off[t] <= k < off[t + 1]: w[k])");
  EXPECT_EQ(statements_of(problem)[0], "r[t] = sum(off[t] <= k < off[t + 1]: w[k])");
}

TEST(Language, GivesEveryBindingAnIndexOfItsOwn) {
  Problem problem = parsed("y[t, d] = sum(k < D: x[t, k]) + max(k < D: x[t, k])");
  const Expr& sum = problem.expr(value_of(problem).args[0]);
  const Expr& max = problem.expr(value_of(problem).args[1]);
  EXPECT_NE(sum.bounds[0].index, max.bounds[0].index);
}

TEST(Language, FindsRecurrences) {
  Problem problem = parsed("h[-1, d] = h0[d]\nh[t, d] = 0.5 * h[t-1, d] + x[t, d]\ny[t, d] = h[t, d]");
  EXPECT_EQ(problem.statements[0].kind, StatementKind::initial);
  EXPECT_EQ(problem.statements[0].axis, 0);
  EXPECT_EQ(problem.statements[1].kind, StatementKind::recurrence);
  EXPECT_EQ(problem.statements[1].axis, 0);
}

TEST(Language, FindsRecurrencesThatBeginByAFallback) {
  Problem problem = parsed("y[t, d] = 0.5 * (y[t, d-1] or 0) + x[t, d]");
  EXPECT_EQ(problem.statements[0].kind, StatementKind::recurrence);
  EXPECT_EQ(problem.statements[0].axis, 1);
}

TEST(Language, TakesARecurringTemporaryForReal) {
  Problem problem = parsed("h[-1, d] = 0\nh[t, d] = h[t-1, d] + x[t, d]\ny[t, d] = h[t, d]");
  EXPECT_EQ(problem.tensor(problem.statements[0].target).number, NumberClass::real);
}

TEST(Language, ScattersOverIndicesFoundOnBothSides) {
  Problem problem = parsed("y[idx[t] % T, d] += x[t, d]");
  EXPECT_EQ(problem.statements[0].kind, StatementKind::accumulate);
  EXPECT_EQ(problem.statements[0].indices.size(), 2u);
}

TEST(Language, UpdatesByMaximum) {
  Problem problem = parsed("r[idx[t] % T] max= x[t, 0]");
  EXPECT_EQ(problem.statements[0].accumulate, ReduceOp::max);
}

TEST(Language, ReadsScans) {
  Problem problem = parsed("y[t, d] = scan sum(k < d: x[t, k]) + scan max(k <= d: x[t, k])");
  EXPECT_TRUE(problem.expr(value_of(problem).args[0]).scan);
}

TEST(Language, InfersATemporarysExtentsFromUse) {
  Problem problem = parsed("s[i, j] = x[i, j] * w[j]\ny[t, d] = s[t, d]");
  const Tensor& s = problem.tensor(problem.statements[0].target);
  EXPECT_EQ(to_text(problem, s.shape[0]), "T");
  EXPECT_EQ(to_text(problem, s.shape[1]), "D");
}

TEST(Language, TakesATemporarysExtentsFromBounds) {
  Problem problem = parsed("s[t, b < D/2 + 1] = x[t, 2*b] or 0\nr[t] = sum(b <= D/2: s[t, b])");
  EXPECT_EQ(to_text(problem, problem.statements[0]), "s[t, b <= D / 2] = x[t, 2 * b] or 0.0");
}

TEST(Language, HoldsTemporariesOfIntegersAndTruthValues) {
  Problem problem =
      parsed("a[t] = argmax(d < D: x[t, d])\nb[t] = a[t] > 2\nr[t] = where(b[t], x[t, a[t]], 0)");
  EXPECT_EQ(problem.tensor(problem.statements[0].target).type, ScalarType::i64);
  EXPECT_EQ(problem.tensor(problem.statements[1].target).type, ScalarType::boolean);
}

TEST(Language, ReadsSingleValues) {
  Problem problem = parsed("total = sum(t < T, d < D: x[t, d])\ny[t, d] = x[t, d] / total");
  EXPECT_TRUE(problem.tensor(problem.statements[0].target).shape.empty());
}

TEST(Language, TurnsIntegerLiteralsToRealOnesWhereRealsAreMeant) {
  Problem problem = parsed("y[t, d] = max(x[t, d], 0) + where(d > 0, x[t, d], -1)");
  EXPECT_EQ(statements_of(problem)[0], "y[t, d] = max(x[t, d], 0.0) + where(d > 0, x[t, d], -1.0)");
}

TEST(Language, FloorsQuotientsOfIntegersInIntegerPlaces) {
  Problem problem = parsed("n[t] = t / 2\nr[t] = x[t / 2, 0] + n[t]");
  EXPECT_EQ(value_of(problem).type, NumberClass::integer);
  EXPECT_EQ(value_of(problem).op, Op::div);
}

TEST(Language, ReadsAndWritesAnInoutTensor) {
  Problem problem =
      parsed("p[t] = p[t] * 0.5 + x[t, 0]", "  p: {type: f32, shape: [T], values: \"normal(0, 1)\"}\n");
  EXPECT_EQ(problem.tensor(problem.statements[0].target).role, TensorRole::inout);
  EXPECT_EQ(problem.statements[0].kind, StatementKind::define);
}

TEST(Language, RoundsByTypeNames) {
  Problem problem = parsed("y[t, d] = bf16(x[t, d]) + f8e4m3(x[t, d])");
  EXPECT_EQ(problem.expr(value_of(problem).args[0]).cast, ScalarType::bf16);
  EXPECT_EQ(statements_of(problem)[0], "y[t, d] = bf16(x[t, d]) + f8e4m3(x[t, d])");
}

TEST(Language, ReadsChainsOfComparisons) {
  Problem problem = parsed("y[t, d] = where(0 < d <= 5, x[t, d - 1], 0)");
  EXPECT_EQ(statements_of(problem)[0], "y[t, d] = where(0 < d and d <= 5, x[t, d - 1], 0.0)");
}

TEST(Language, FillsInTheArgumentsOfDistributions) {
  Problem problem = parsed("y[t, d] = x[t, d]");
  const ValueSpec& values = *problem.tensors[0].values;
  EXPECT_EQ(values.distribution, Distribution::normal);
  EXPECT_EQ(evaluate_constant(problem, values.args[0], problem.shapes[0]), 0);
  EXPECT_EQ(evaluate_constant(problem, values.args[1], problem.shapes[0]), 1);
}

TEST(Language, ReadsNestedDistributions) {
  Problem problem =
      parsed("r[t] = x[t, keys[t]]", "  keys: {type: i32, shape: [T], values: \"sorted(integers(0, D))\"}\n");
  const ValueSpec& values = *problem.tensor(*problem.find_tensor("keys")).values;
  EXPECT_EQ(values.distribution, Distribution::sorted);
  EXPECT_EQ(values.inner[0].distribution, Distribution::integers);
}

TEST(Language, LabelsShapesAndPicksRepresentativeOnes) {
  Problem problem = parsed("y[t, d] = x[t, d]");
  EXPECT_EQ(problem.shapes[0].label, "T=6,D=8");
  EXPECT_TRUE(problem.shapes[0].representative);
  EXPECT_TRUE(problem.shapes[0].core);
  EXPECT_FALSE(problem.shapes[1].core);
}

TEST(Language, EvaluatesExtents) {
  Problem problem = parsed("s[t, b < (D + 3) / 4] = x[t, 4*b]\ny[t, d] = s[t, d / 4]");
  const Tensor& s = problem.tensor(problem.statements[0].target);
  EXPECT_THAT(extents(problem, s, problem.shapes[0]), ElementsAre(6, 2));
  EXPECT_EQ(element_count(problem, s, problem.shapes[2]), 100000 * 1024);
}

TEST(Language, IdentifiesAProblemByItsSource) {
  ProblemText text{"y[t, d] = x[t, d]"};
  EXPECT_EQ(text.parse()->id, text.parse()->id);
  EXPECT_EQ(text.parse()->source, text.text());
  EXPECT_NE(text.parse()->id, ProblemText{"y[t, d] = x[t,d]"}.parse()->id);
}

TEST(WithShapes, ReplacesThem) {
  Parsed<Problem> changed = with_shapes(parsed("y[t, d] = x[t, d]"), "T=2,D=3; D=5,T=4");
  ASSERT_TRUE(changed) << errors_of(changed);
  ASSERT_EQ(changed->shapes.size(), 2u);
  EXPECT_THAT(changed->shapes[1].dims, ElementsAre(4, 5));
  EXPECT_TRUE(changed->shapes[1].core);
}

TEST(WithShapes, ReportsWhatIsWrong) {
  Problem problem = parsed("y[t, d] = x[t, d]");
  EXPECT_THAT(errors_of(with_shapes(problem, "T=2")), HasSubstr("no value for the dim D"));
  EXPECT_THAT(errors_of(with_shapes(problem, "T=2,D=0")), HasSubstr("D = 0 is not a size"));
  EXPECT_THAT(errors_of(with_shapes(problem, "T=2,N=0")), HasSubstr("`N` is no dim"));
  EXPECT_THAT(errors_of(with_shapes(problem, "")), HasSubstr("no value for the dim T"));
  EXPECT_THAT(errors_of(with_shapes(problem, "T")), HasSubstr("`T` binds no dim"));
}

TEST(WithShapes, ChecksBoundsAgain) {
  Parsed<Problem> narrow = ProblemText{"r[t] = x[t, 3]", "  - {T: 5, D: 4}\n"}.parse();
  ASSERT_TRUE(narrow) << errors_of(narrow);
  EXPECT_THAT(errors_of(with_shapes(*narrow, "T=5,D=3")), HasSubstr("the subscript 3 of x is 3"));
}

}  // namespace
}  // namespace ako
