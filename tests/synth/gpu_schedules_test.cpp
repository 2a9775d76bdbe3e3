// SPDX-License-Identifier: Apache-2.0
// Schedules drawn from the space of every shipped problem, run in emulation on small and awkward shapes.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "synth/gpu/synthesize.h"
#include "synth/gpu_fixture.h"

namespace ako::testing {
namespace {

/// Start, and `more` others by a fixed seed, all valid.
std::vector<Schedule> drawn(const ScheduleSpace& space, int more, unsigned seed) {
  std::vector<Schedule> schedules{space.start};
  std::mt19937 random(seed);
  for (int tries = 0; static_cast<int>(schedules.size()) <= more && tries < 5000; ++tries) {
    Schedule schedule;
    for (const Knob& knob : space.knobs) {
      // Structure that is not plain is what there is to test.
      const std::size_t from = knob.structural && knob.values.size() > 1 && random() % 4 != 0 ? 1 : 0;
      schedule.knobs[knob.name] = knob.values[from + random() % (knob.values.size() - from)];
    }
    if (!space.invalid(schedule).empty()) continue;
    if (std::ranges::find(schedules, schedule) == schedules.end()) schedules.push_back(schedule);
  }
  return schedules;
}

struct DrawnSample {
  std::size_t problem;
  std::string label;
  Candidate candidate;
};

void check_target(const std::string& id, int more, unsigned seed) {
  const std::vector<Problem> problems = shipped_problems();
  const TargetFacts target = gpu_target(id);
  Emulated emulated(id.starts_with("gfx") ? 64 : 32);
  std::vector<DrawnSample> samples;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const ScheduleSpace space = synth::gpu::make_space(problems[i], target);
    EXPECT_EQ(space.invalid(space.start), "") << problems[i].name;
    for (const Schedule& schedule : drawn(space, more, seed)) {
      samples.push_back(
          {i, schedule.text(),
           synth::gpu::write_candidate(problems[i], schedule, target, Language::cuda, problems[i].name)});
      const auto checked = check_plan(samples.back().candidate.plan, problems[i], {});
      EXPECT_TRUE(checked) << problems[i].name << " [" << samples.back().label << "]";
      emulated.add(samples.back().candidate.sources[0].text, samples.back().candidate.plan);
    }
  }
  ASSERT_EQ(emulated.compile(), "");
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Problem& problem = problems[samples[i].problem];
    for (const Shape& shape : small_shapes(problem, 4e3)) {
      const int order = i % 2 == 0 ? 1 : -1;
      EXPECT_EQ(emulated.check(i, problem, shape, samples[i].candidate, order), "")
          << problem.name << " " << shape.label << " [" << samples[i].label << "]";
    }
  }
}

TEST(GpuSchedules, AgreeWithTheReferenceOnWavesOf32) { check_target("sm_90", 1, 5); }
TEST(GpuSchedules, AgreeWithTheReferenceOnWavesOf64) { check_target("gfx942", 1, 6); }

}  // namespace
}  // namespace ako::testing
