// SPDX-License-Identifier: Apache-2.0
// Plain kernels and the fp64 reference of every shipped problem, run in emulation.
#include <gtest/gtest.h>

#include "synth/gpu/synthesize.h"
#include "synth/gpu_fixture.h"

namespace ako::testing {
namespace {

constexpr double kMostOperations = 2e5;

TEST(PlainGpuKernels, AgreeWithTheReferenceOnEveryShippedProblem) {
  const std::vector<Problem> problems = shipped_problems();
  ASSERT_GT(problems.size(), 20u);
  Emulated emulated(32);
  std::vector<Candidate> candidates;
  for (const Problem& problem : problems) {
    const TargetFacts target = gpu_target("sm_90");
    const Schedule naive = synth::gpu::make_space(problem, target).naive;
    candidates.push_back(synth::gpu::write_candidate(problem, naive, target, Language::cuda, problem.name));
    EXPECT_TRUE(check_plan(candidates.back().plan, problem, {})) << problem.name;
    emulated.add(candidates.back().sources[0].text, candidates.back().plan);
  }
  ASSERT_EQ(emulated.compile(), "");
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const std::vector<Shape> shapes = small_shapes(problems[i], kMostOperations);
    EXPECT_FALSE(shapes.empty()) << problems[i].name;
    for (const Shape& shape : shapes)
      EXPECT_EQ(emulated.check(i, problems[i], shape, candidates[i], 1), "")
          << problems[i].name << " " << shape.label;
  }
}

TEST(GpuReference, AgreesWithTheHostsOnEveryShippedProblem) {
  const std::vector<Problem> problems = shipped_problems();
  Emulated emulated(32);
  for (const Problem& problem : problems) {
    const auto reference = gpu_reference_source(problem, problem.shapes[0]);
    ASSERT_TRUE(reference) << problem.name;
    emulated.add(*reference);
  }
  ASSERT_EQ(emulated.compile(), "");
  for (std::size_t i = 0; i < problems.size(); ++i) {
    for (const Shape& shape : small_shapes(problems[i], kMostOperations)) {
      const auto reference = gpu_reference_source(problems[i], shape);
      EXPECT_EQ(emulated.check(i, problems[i], shape, *reference), "")
          << problems[i].name << " " << shape.label;
    }
  }
}

}  // namespace
}  // namespace ako::testing
