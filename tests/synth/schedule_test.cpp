// SPDX-License-Identifier: Apache-2.0
#include "synth/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "synth/emitted_fixture.h"

namespace ako::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

ScheduleSpace space_of(const Problem& problem) {
  return *schedule_space(problem, test_target(), Language::cpp);
}

std::vector<std::string> values_of(const ScheduleSpace& space, const char* knob) {
  const Knob* found = space.find(knob);
  return found == nullptr ? std::vector<std::string>{} : found->values;
}

std::string source_of(const Problem& problem, const Schedule& schedule) {
  const auto candidate = synthesize(problem, schedule, test_target(), Language::cpp);
  return candidate ? candidate->sources.at(0).text : to_text(candidate.error());
}

TEST(Schedule, ReadsWhatItWrites) {
  const auto schedule = parse_schedule("vector=16  threads=2");
  ASSERT_TRUE(schedule);
  EXPECT_EQ(schedule->text(), "threads=2 vector=16");
  EXPECT_EQ(*parse_schedule(schedule->text()), *schedule);
}

TEST(Schedule, RefusesWordsThatAreNoSettings) {
  EXPECT_FALSE(parse_schedule("threads"));
  EXPECT_FALSE(parse_schedule("threads="));
  EXPECT_FALSE(parse_schedule("=2"));
  EXPECT_FALSE(parse_schedule("threads=2 threads=1"));
}

TEST(ScheduleSpace, OffersThreadsUpToTheCoresAndLanesUpToTheVectorWidth) {
  const Problem problem = shipped("softmax", "T=8,D=64");
  TargetFacts target = test_target();
  target.compute_units = 6;
  target.vector_bits = 256;
  const auto space = schedule_space(problem, target, Language::cpp);
  EXPECT_THAT(values_of(*space, "threads"), ElementsAre("1", "2", "4", "6"));
  EXPECT_THAT(values_of(*space, "vector"), ElementsAre("1", "4", "8"));
}

TEST(ScheduleSpace, HasTilesForContractionsOnly) {
  EXPECT_NE(space_of(shipped("matmul", "M=8,N=8,K=8")).find("tile_m"), nullptr);
  EXPECT_NE(space_of(shipped("conv2d", "B=1,C=2,F=2,H=8,W=8,R=3,S=3")).find("tile_m"), nullptr);
  EXPECT_EQ(space_of(shipped("softmax", "T=8,D=64")).find("tile_m"), nullptr);
}

TEST(ScheduleSpace, StartsAndNaiveAreValid) {
  for (const char* name : {"softmax", "matmul", "gelu", "transpose", "cumsum", "attention_causal"}) {
    const auto problem = load_problem(std::string(AKO_SOURCE_DIR) + "/problems/" + name + ".yaml");
    ASSERT_TRUE(problem);
    const ScheduleSpace space = space_of(*problem);
    EXPECT_EQ(space.invalid(space.naive), "") << name;
    EXPECT_EQ(space.invalid(space.start), "") << name;
    EXPECT_NE(space.naive, space.start) << name;
    for (const Knob& knob : space.knobs) {
      EXPECT_THAT(knob.values, ::testing::Contains(space.start.knobs.at(knob.name)))
          << name << " " << knob.name;
      EXPECT_FALSE(knob.meaning.empty());
    }
  }
}

TEST(ScheduleSpace, SaysWhyACombinationMeansNothing) {
  const ScheduleSpace space = space_of(shipped("softmax", "T=8,D=64"));
  Schedule schedule = space.naive;
  schedule.knobs["math"] = "polynomial";
  EXPECT_THAT(space.invalid(schedule), HasSubstr("vector=1"));
}

TEST(Synthesize, IsTheSameEveryTime) {
  const Problem problem = shipped("matmul_bias_gelu", "M=8,N=8,K=8");
  const ScheduleSpace space = space_of(problem);
  EXPECT_EQ(source_of(problem, space.start), source_of(problem, space.start));
}

TEST(Synthesize, SuggestsTheKnobThatWasMeant) {
  const Problem problem = shipped("softmax", "T=8,D=64");
  const auto refused = synthesize(problem, *parse_schedule("thread=2"), test_target(), Language::cpp);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::invalid_input);
  EXPECT_THAT(refused.error().advice, HasSubstr("threads"));
}

TEST(Synthesize, ListsTheValuesOfAKnob) {
  const Problem problem = shipped("softmax", "T=8,D=64");
  const auto refused = synthesize(problem, *parse_schedule("vector=5"), test_target(), Language::cpp);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().advice, HasSubstr("4"));
}

TEST(Synthesize, WritesTheScheduleAndTheMathAtTheHead) {
  const Problem problem = shipped("softmax", "T=8,D=64");
  const std::string source = source_of(problem, space_of(problem).start);
  EXPECT_THAT(source, HasSubstr("Schedule: " + space_of(problem).start.text()));
  EXPECT_THAT(source, HasSubstr("y[t, d] = e[t, d] / z[t]"));
}

TEST(Synthesize, KeepsTheRowTemporariesOfTheNaiveKernelInScratch) {
  const Problem problem = shipped("softmax", "T=8,D=64");
  const auto candidate = synthesize(problem, space_of(problem).naive, test_target(), Language::cpp);
  ASSERT_TRUE(candidate);
  ASSERT_EQ(candidate->plan.workspace.size(), 1U);
  EXPECT_EQ(*evaluate(candidate->plan.workspace[0].shape[0], {{"T", 8}, {"D", 65}}), 128);
}

TEST(Synthesize, ComputesCausalScoresOnlyUpToTheQuery) {
  const Problem problem = shipped("attention_causal", "H=1,S=8,E=8");
  const std::string source = source_of(problem, space_of(problem).naive);
  EXPECT_THAT(source, HasSubstr("k < q + 1"));
  EXPECT_THAT(source, Not(HasSubstr("k < S")));
}

TEST(Synthesize, RefusesLanguagesItDoesNotWrite) {
  const Problem problem = shipped("softmax", "T=8,D=64");
  EXPECT_EQ(schedule_space(problem, test_target(), Language::cuda).error().kind, ErrorKind::unsupported);
  EXPECT_EQ(synthesize(problem, {}, test_target(), Language::hip).error().kind, ErrorKind::unsupported);
}

}  // namespace
}  // namespace ako::testing
