// SPDX-License-Identifier: Apache-2.0
// A problem with every kind of thing a plan can name.
#pragma once

#include <gtest/gtest.h>

#include "kernel/candidate.h"

namespace ako::testing {

inline Problem scaled_softmax() {
  auto problem = parse_problem(R"(
problem: scaled_softmax
dims: {T: rows, D: columns}
tensors:
  x: {type: f32, shape: [T, D]}
  y: {type: f32, shape: [T, D]}
scalars:
  alpha: {type: f32, value: 2}
math: |
  m[t]    = max(d < D: alpha * x[t, d])
  e[t, d] = exp(alpha * x[t, d] - m[t])
  z[t]    = sum(d < D: e[t, d])
  y[t, d] = e[t, d] / z[t]
shapes:
  - {T: 7, D: 1000}
  - {T: 64, D: 1024, representative: true, core: true}
tolerance: {snr_db: 100}
)",
                               "scaled_softmax.yaml");
  if (!problem) ADD_FAILURE() << to_text(problem.error());
  return problem.value();
}

inline LaunchPlan plan_of(std::string_view yaml) {
  auto plan = parse_launch_plan(yaml, "plan.yaml");
  if (!plan) ADD_FAILURE() << to_text(plan.error());
  return plan.value_or(LaunchPlan{});
}

inline constexpr std::string_view full_plan = R"(tunables: {BLOCK: [128, 256, 512]}
workspace: {partial: {type: f32, shape: [T, 8]}}
launches:
  - {kernel: rows, grid: [ceil_div(T, BLOCK), 1, 1], block: [BLOCK], shared: 4 * BLOCK, args: [x, partial, T, D]}
  - {kernel: finish, args: [partial, y, alpha, T, D * 2, BLOCK]}
)";

}  // namespace ako::testing
