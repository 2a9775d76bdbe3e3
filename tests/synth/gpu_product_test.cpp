// SPDX-License-Identifier: Apache-2.0
// Tiles of products, ordinary and on matrix units, run in emulation: whole tiles, edges, lines that are no
// whole pieces, finishing statements.
#include <gtest/gtest.h>

#include "synth/gpu/synthesize.h"
#include "synth/gpu_fixture.h"

namespace ako::testing {
namespace {

Problem with(const std::string& name, const std::string& shapes) {
  for (const Problem& problem : shipped_problems())
    if (problem.name == name) return *with_shapes(problem, shapes);
  ADD_FAILURE() << "no problem " << name;
  return {};
}

struct ProductCase {
  const char *problem, *shapes, *schedule;
};

TEST(GpuProducts, AgreeWithTheReferenceOnWholeTilesAndAtEdges) {
  const ProductCase cases[] = {
      {"matmul", "M=64,N=64,K=16;M=17,N=33,K=9", "product=tiled tile=64x64 thread_tile=4x4 depth=8"},
      {"matmul_bias_gelu", "M=65,N=66,K=20", "product=tiled tile=64x64 thread_tile=4x4 depth=16"},
      {"matmul_bf16", "M=64,N=64,K=64;M=9,N=72,K=136;M=17,N=33,K=65",
       "product=matrix tile=64x64 wave_tile=32x32 matrix_depth=64 stages=3"},
  };
  const TargetFacts target = gpu_target("sm_90");
  Emulated emulated(32);
  std::vector<Problem> problems;
  std::vector<Candidate> candidates;
  for (const ProductCase& each : cases) {
    problems.push_back(with(each.problem, each.shapes));
    Schedule schedule = synth::gpu::make_space(problems.back(), target).start;
    const Schedule changes = *parse_schedule(each.schedule);
    for (const auto& [knob, value] : changes.knobs) schedule.knobs[knob] = value;
    candidates.push_back(
        synth::gpu::write_candidate(problems.back(), schedule, target, Language::cuda, each.schedule));
    emulated.add(candidates.back().sources[0].text, candidates.back().plan);
  }
  ASSERT_EQ(emulated.compile(), "");
  for (std::size_t i = 0; i < problems.size(); ++i)
    for (const Shape& shape : problems[i].shapes)
      for (const int order : {1, -1})
        EXPECT_EQ(emulated.check(i, problems[i], shape, candidates[i], order), "")
            << cases[i].schedule << " " << shape.label;
}

}  // namespace
}  // namespace ako::testing
