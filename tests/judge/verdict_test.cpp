// SPDX-License-Identifier: Apache-2.0
#include "judge/verdict.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace ako {
namespace {

Verdict full_verdict() {
  Verdict v;
  v.candidate = hash_text("candidate");
  v.problem = hash_text("problem");
  v.incumbent = hash_text("incumbent");
  v.target = "host";
  v.trust = Trust::unconfined;
  v.outcome = Correct{};
  ShapeTiming timing;
  timing.shape = "T=8";
  timing.core = true;
  timing.candidate_us = {1.5, 2.5};
  timing.incumbent_us = {3.5, 4.5};
  timing.log_ratio_interval = {-std::numeric_limits<double>::infinity(), 0.25};
  timing.error_db = std::numeric_limits<double>::max();
  v.timings = {timing};
  Comparison comparison;
  comparison.log_ratio = -0.5;
  comparison.clarity = Clarity::faster;
  comparison.worst_shape = "T=8";
  comparison.confirmed = true;
  v.against_incumbent = comparison;
  v.artifact.resources.values["code_bytes"] = 123;
  v.seed = std::numeric_limits<std::uint64_t>::max();
  v.spent.check_s = 0.25;
  v.notes = {"a note"};
  return v;
}

TEST(VerdictJson, ComesBackAsItWas) {
  auto json = to_json(full_verdict());
  auto again = verdict_from_json(nlohmann::json::parse(json.dump()));
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(to_json(*again), json);
  EXPECT_EQ(again->seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(again->timings[0].log_ratio_interval.low, -std::numeric_limits<double>::infinity());
}

class EveryOutcome : public ::testing::TestWithParam<Outcome> {};
TEST_P(EveryOutcome, ComesBackFromJson) {
  Verdict verdict = full_verdict();
  verdict.outcome = GetParam();
  auto json = to_json(verdict);
  auto again = verdict_from_json(json);
  ASSERT_TRUE(again);
  EXPECT_EQ(name_of(again->outcome), name_of(GetParam()));
  EXPECT_EQ(to_text(again->outcome), to_text(GetParam()));
  EXPECT_EQ(to_json(*again), json);
}
Wrong some_wrong() {
  Wrong wrong;
  wrong.shape = "T=8";
  wrong.tensor = "y";
  wrong.style = "spikes";
  wrong.index = {3, 17};
  wrong.expected = 0.5;
  wrong.got = std::numeric_limits<double>::quiet_NaN();
  wrong.metric = "snr 12.1 dB, needs 45";
  wrong.pattern = "row 3";
  wrong.when_timed = true;
  wrong.fraction = 0.125;
  return wrong;
}
INSTANTIATE_TEST_SUITE_P(All, EveryOutcome,
                         ::testing::Values(Outcome(Correct{}), Outcome(some_wrong()),
                                           Outcome(Rejected{"clock", "looks at the time", "a.cpp:3"}),
                                           Outcome(CompileError{"a.cpp:1:1: error: no"}),
                                           Outcome(Crashed{11, "SIGSEGV", "T=8"}),
                                           Outcome(TimedOut{"check", Seconds(10), "T=8"}),
                                           Outcome(OutOfMemory{gibibytes(8), "T=8"}),
                                           Outcome(InfrastructureError{"no disk"})));

TEST(VerdictJson, RefusesWhatIsNoVerdict) {
  EXPECT_FALSE(verdict_from_json(nlohmann::json::array()));
  EXPECT_FALSE(verdict_from_json(nlohmann::json::object()));
  auto json = to_json(full_verdict());
  json["outcome"]["kind"] = "splendid";
  EXPECT_FALSE(verdict_from_json(json));
}

TEST(VerdictJson, SurvivesFieldsOfAnyType) {
  auto json = to_json(full_verdict());
  for (const auto& [name, value] : json.items())
    for (const nlohmann::json& odd :
         {nlohmann::json(nullptr), nlohmann::json(7), nlohmann::json("x"), nlohmann::json::array({1})}) {
      auto damaged = json;
      damaged[name] = odd;
      (void)verdict_from_json(damaged);  // a value or an error, never an exception
    }
}

TEST(OutcomeText, NamesTheElementAndTheBound) {
  EXPECT_EQ(to_text(Outcome(some_wrong())),
            "wrong when timed: y[3, 17] is nan, expected 0.5 (snr 12.1 dB, needs 45); row 3; 12.5 % of "
            "elements, inputs "
            "spikes on T=8");
}

}  // namespace
}  // namespace ako
