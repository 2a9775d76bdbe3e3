// SPDX-License-Identifier: Apache-2.0
#include "toolchain/host/wrapper.h"

#include <gtest/gtest.h>

namespace ako {
namespace {

Problem many_types() {
  auto problem = parse_problem(R"yaml(
problem: many
dims: {N: elements}
tensors:
  x: {type: bf16, shape: [N]}
  i: {type: i32, shape: [N], values: "integers(0, 4)"}
  y: {type: f64, shape: [N]}
scalars:
  a: {type: f64, value: 2}
  b: {type: bf16, value: 2}
math: |
  y[n] = a * b * x[n] + i[n]
shapes:
  - {N: 10}
tolerance: {snr_db: 100}
)yaml",
                               "many.yaml");
  if (!problem) ADD_FAILURE() << to_text(problem.error());
  return problem.value();
}

LaunchPlan plan_of(std::string_view yaml) { return parse_launch_plan(yaml, "plan").value(); }

TEST(Wrapper, PassesScalarsInTheirStorageType) {
  auto all = signatures(plan_of("launches: [{kernel: f, args: [x, y, a, b, N, N + 1]}]"), many_types());
  ASSERT_TRUE(all);
  EXPECT_EQ(all->at(0).types,
            (std::vector<std::string>{"void*", "void*", "double", "uint16_t", "int64_t", "int64_t"}));
}

TEST(Wrapper, SuggestsTheDeclarationOfAKernel) {
  auto all = signatures(plan_of("workspace: {w: {type: f32, shape: [N]}}\n"
                                "launches: [{kernel: f, args: [x, i, y, w, a, N + 1]}]"),
                        many_types());
  ASSERT_TRUE(all);
  EXPECT_EQ(
      declaration(all->at(0)),
      "extern \"C\" void f(const uint16_t* x, const int32_t* i, double* y, float* w, double a, int64_t n5)");
}

TEST(Wrapper, IsMadeOnceForAKernelLaunchedTwice) {
  auto all = signatures(plan_of("launches: [{kernel: f, args: [x, y, N]}, {kernel: f, args: [y, x, 3]}]"),
                        many_types());
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 1u);
}

TEST(Wrapper, RefusesAKernelLaunchedWithDifferentTypes) {
  auto all = signatures(plan_of("launches: [{kernel: f, args: [x, y, N]}, {kernel: f, args: [x, y, a]}]"),
                        many_types());
  ASSERT_FALSE(all);
  EXPECT_NE(all.error().what.find("(void*, void*, int64_t), then (void*, void*, double)"), std::string::npos);
}

}  // namespace
}  // namespace ako
