// SPDX-License-Identifier: Apache-2.0
// Problems that no shipped one is like: what the language allows and a schedule might get wrong.
#include <gtest/gtest.h>

#include "synth/emitted_fixture.h"

namespace ako::testing {
namespace {

Problem parsed(const std::string& name, const std::string& rest) {
  auto problem = parse_problem("problem: " + name + "\nsummary: A test.\n" + rest, name + ".yaml");
  if (!problem) {
    ADD_FAILURE() << to_text(problem.error());
    return {};
  }
  return *std::move(problem);
}

std::string checked(const Problem& problem) {
  return check_samples(problem, sample_schedules(problem, 3, 3));
}

TEST(EmittedKernel, ComputesInDoublesWhenTheProblemDoes) {
  EXPECT_EQ(checked(parsed("softmax64", R"yaml(dims: {T: rows, D: columns}
tensors:
  x: {type: f64, shape: [T, D]}
  y: {type: f64, shape: [T, D]}
math: |
  m[t] = max(d < D: x[t, d])
  z[t] = sum(d < D: exp(x[t, d] - m[t]))
  y[t, d] = exp(x[t, d] - m[t]) / z[t]
shapes: [{T: 3, D: 41, core: true, representative: true}]
tolerance: {snr_db: 250}
)yaml")),
            "");
}

TEST(EmittedKernel, ReadsOldValuesOfWhatItOverwritesAtOtherPlaces) {
  EXPECT_EQ(checked(parsed("shift", R"yaml(dims: {N: elements}
tensors:
  x: {type: f32, shape: [N], values: "normal(0, 1)"}
math: |
  x[i] = where(i > 0, x[i-1], 0.0) + x[i]
shapes: [{N: 1}, {N: 999, core: true, representative: true}]
tolerance: {snr_db: 100}
)yaml")),
            "");
}

TEST(EmittedKernel, RoundsDeclaredTemporaries) {
  EXPECT_EQ(checked(parsed("rounded", R"yaml(dims: {T: rows, D: columns}
tensors:
  x: {type: f32, shape: [T, D]}
  h: {type: bf16, shape: [T, D], temporary: true}
  s: {type: bf16, shape: [T], temporary: true}
  y: {type: f32, shape: [T, D]}
math: |
  h[t, d] = x[t, d] * 3.0
  s[t] = max(d < D: h[t, d] * x[t, 0])
  y[t, d] = h[t, d] + s[t]
shapes: [{T: 5, D: 37, core: true, representative: true}]
tolerance: {snr_db: 100}
)yaml")),
            "");
}

TEST(EmittedKernel, KeepsPackedNeighboursTogether) {
  EXPECT_EQ(checked(parsed("packed", R"yaml(dims: {T: rows, D: columns}
tensors:
  x: {type: f32, shape: [T, D], values: "normal(0, 2)"}
  y: {type: f4e2m1, shape: [T, D]}
math: |
  y[t, d] = x[t, d]
shapes: [{T: 301, D: 77, core: true, representative: true}]
tolerance: {rtol: 0, atol: 0}
)yaml")),
            "");
}

TEST(EmittedKernel, GathersScalesAndReadsOutOfRange) {
  EXPECT_EQ(checked(parsed("blend", R"yaml(dims: {T: rows, D: columns}
tensors:
  x: {type: bf16, shape: [T, D]}
  s: {type: f32, shape: [T, (D + 31) / 32], values: "uniform(0.5, 2)"}
  y: {type: f32, shape: [T, D]}
math: |
  y[t, d] = x[t, d] * s[t, d/32] + (x[t, d+1] or 0) - (x[t-1, d] or 0.5) * where(d % 3 == 0 and t > 0, 1.0, real(d))
shapes: [{T: 1, D: 1}, {T: 9, D: 131, core: true, representative: true}]
tolerance: {snr_db: 100}
)yaml")),
            "");
}

TEST(EmittedKernel, SumsOverNothingAreZero) {
  EXPECT_EQ(checked(parsed("prefixes", R"yaml(dims: {T: rows}
tensors:
  x: {type: f32, shape: [T]}
  y: {type: f32, shape: [T]}
  z: {type: f32, shape: [T]}
math: |
  y[t] = sum(k < t: x[k])
  z[t] = scan sum(k < t: x[k] * x[k])
shapes: [{T: 1}, {T: 50, core: true, representative: true}]
tolerance: {snr_db: 90}
)yaml")),
            "");
}

TEST(EmittedKernel, CountsAndComparesWithIntegers) {
  EXPECT_EQ(checked(parsed("counting", R"yaml(dims: {T: rows, D: columns}
tensors:
  x: {type: i32, shape: [T, D], values: "integers(-50, 50)"}
  n: {type: i64, shape: [T]}
  q: {type: i32, shape: [T, D]}
  odd: {type: bool, shape: [T]}
math: |
  n[t] = sum(d < D if x[t, d] % 7 == 3: 1)
  q[t, d] = x[t, d] / 4 + d % 3
  odd[t] = any(d < D: x[t, d] == 13)
shapes: [{T: 6, D: 45, core: true, representative: true}]
)yaml")),
            "");
}

TEST(EmittedKernel, TakesTheLargerOfAnIndexAndALiteral) {
  EXPECT_EQ(checked(parsed("stencil", R"yaml(dims: {R: rows, N: columns}
tensors:
  c: {type: f32, shape: [3]}
  x: {type: f32, shape: [R, N]}
  y: {type: f32, shape: [R, N]}
math: |
  y[r, i] = c[0]*x[r, max(i - 1, 0)] + c[1]*x[r, i] + c[2]*x[r, clamp(i + 1, 0, N - 1)]
shapes: [{R: 1, N: 1}, {R: 3, N: 77, core: true, representative: true}]
tolerance: {snr_db: 100}
)yaml")),
            "");
}

TEST(EmittedKernel, ComparesIntegersOfAllWidths) {
  EXPECT_EQ(checked(parsed("integers", R"yaml(dims: {T: elements}
tensors:
  a: {type: i32, shape: [T], values: "integers(0, 9)"}
  b: {type: i8, shape: [T], values: "integers(0, 9)"}
  y: {type: i32, shape: [T]}
  m: {type: i32, shape: []}
math: |
  y[t] = max(a[t] - 4, 0) + min(a[t], b[t]) + clamp(b[t], 1, 5)
  m[] = max(t < T: b[t])
shapes: [{T: 1}, {T: 100, core: true, representative: true}]
)yaml")),
            "");
}

TEST(EmittedKernel, MultipliesBatchesOfMatricesWithScaledOperands) {
  EXPECT_EQ(checked(parsed("batched", R"yaml(dims: {B: batch, M: rows, N: columns, K: depth}
tensors:
  a: {type: f32, shape: [B, M, K]}
  b: {type: bf16, shape: [B, N, K]}
  w: {type: f32, shape: [K], values: "uniform(0.5, 1.5)"}
  c: {type: bf16, shape: [B, M, N]}
math: |
  c[i, m, n] = sum(k < K: a[i, m, k] * w[k] * b[i, n, k]) * 0.5
shapes: [{B: 1, M: 1, N: 1, K: 1}, {B: 2, M: 33, N: 50, K: 70, core: true, representative: true}]
tolerance: {snr_db: 45}
)yaml")),
            "");
}

}  // namespace
}  // namespace ako::testing
