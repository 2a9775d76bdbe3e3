// SPDX-License-Identifier: Apache-2.0
// Forms that sweep memory: scans in vectors, turned squares, one long axis, rows kept beside streamed
// results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "synth/emitted_fixture.h"

namespace ako::testing {
namespace {

using ::testing::HasSubstr;

Problem sweep(const std::string& name, const std::string& rest) {
  auto problem = parse_problem("problem: " + name + "\nsummary: A test.\n" + rest, name + ".yaml");
  if (!problem) {
    ADD_FAILURE() << to_text(problem.error());
    return {};
  }
  return *std::move(problem);
}

std::string sweeps(const Problem& problem) { return check_samples(problem, sample_schedules(problem, 3, 9)); }

std::string text_of(const Problem& problem, const std::string& changes) {
  const auto space = schedule_space(problem, test_target(), Language::cpp);
  Schedule schedule = space->start;
  const auto changed = parse_schedule(changes);
  for (const auto& [name, value] : changed->knobs) schedule.knobs[name] = value;
  const auto candidate = synthesize(problem, schedule, test_target(), Language::cpp);
  return candidate ? candidate->sources.at(0).text : to_text(candidate.error());
}

TEST(Sweeps, ScansOfEveryKindAgreeWithTheReference) {
  EXPECT_EQ(sweeps(sweep("running", R"yaml(dims: {R: rows, T: columns}
tensors:
  x: {type: f32, shape: [R, T], values: "uniform(0.9, 1.1)"}
  before: {type: f32, shape: [R, T]}
  highest: {type: f32, shape: [R, T]}
  product: {type: f32, shape: [R, T]}
  some: {type: bf16, shape: [R, T]}
math: |
  before[r, t] = scan sum(k < t: x[r, k])
  highest[r, t] = scan max(k <= t: x[r, k] * 3.0)
  product[r, t] = scan prod(k <= t: x[r, k])
  some[r, t] = scan sum(k <= t if x[r, k] > 1.0: x[r, k])
shapes: [{R: 1, T: 1}, {R: 3, T: 131, core: true, representative: true}]
tolerance: {snr_db: 45}
)yaml")),
            "");
}

TEST(Sweeps, TurnedSquaresMixWithStraightReads) {
  EXPECT_EQ(sweeps(sweep("turned", R"yaml(dims: {H: heads, M: rows, N: columns}
tensors:
  x: {type: bf16, shape: [H, M, N]}
  z: {type: f32, shape: [H, N, M]}
  s: {type: f32, shape: [M]}
  y: {type: f32, shape: [H, N, M]}
math: |
  y[h, n, m] = x[h, m, n] * 2.0 + z[h, n, m] * s[m]
shapes: [{H: 1, M: 1, N: 1}, {H: 2, M: 37, N: 50}, {H: 3, M: 64, N: 48, core: true, representative: true}]
tolerance: {snr_db: 90}
)yaml")),
            "");
}

TEST(Sweeps, ElementwiseAxesBecomeOne) {
  const Problem problem = sweep("axes", R"yaml(dims: {A: planes, B: rows, C: columns}
tensors:
  x: {type: f32, shape: [A, B, C]}
  y: {type: f32, shape: [A, B, C]}
math: |
  y[a, b, c] = x[a, b, c] * 2.0
shapes: [{A: 1, B: 1, C: 1}, {A: 5, B: 7, C: 3, core: true, representative: true}]
tolerance: {snr_db: 100}
)yaml");
  EXPECT_THAT(text_of(problem, ""), HasSubstr("y[c] = x[c] * 2.0"));
  EXPECT_EQ(sweeps(problem), "");
}

TEST(Sweeps, ResultsReadAgainAreKeptWhenStoresBypassTheCaches) {
  const Problem problem = shipped("add_rmsnorm", "T=8,D=64");
  EXPECT_THAT(text_of(problem, "stores=streaming"), HasSubstr("total_kept"));
  EXPECT_THAT(text_of(problem, "stores=cached"), ::testing::Not(HasSubstr("total_kept")));
}

TEST(Sweeps, TheNextRowIsAskedForWhileThisOneIsReadAgain) {
  const std::string text = text_of(shipped("rmsnorm_f32", "T=8,D=64"), "prefetch=row");
  EXPECT_THAT(text, HasSubstr("// the next row"));
  EXPECT_THAT(text, HasSubstr("// 4 KiB ahead"));
}

}  // namespace
}  // namespace ako::testing
