// SPDX-License-Identifier: Apache-2.0
#include "campaign/ruling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace ako {
namespace {

using ::testing::HasSubstr;

Verdict compared(Clarity clarity, double ratio, bool core_regressed = false) {
  Verdict verdict;
  Comparison comparison;
  comparison.log_ratio = std::log(ratio);
  comparison.bound = {comparison.log_ratio - 0.01, comparison.log_ratio + 0.01};
  comparison.clarity = clarity;
  comparison.blocks = 16;
  comparison.core_regressed = core_regressed;
  comparison.worst_shape = "T=1";
  comparison.worst_log_ratio = std::log(1.08);
  verdict.against_incumbent = comparison;
  return verdict;
}

Verdict of(Outcome outcome) {
  Verdict verdict;
  verdict.outcome = std::move(outcome);
  return verdict;
}

Verdict with_shape(Verdict verdict, double low, double center) {
  ShapeTiming timing;
  timing.shape = "T=7";
  timing.incumbent_us = {1};
  timing.log_ratio = center;
  timing.log_ratio_interval = {low, 2 * center - low};
  verdict.timings.push_back(timing);
  return verdict;
}

TEST(Ruling, AcceptsWhatIsFasterTwice) {
  Ruling ruling = rule(compared(Clarity::faster, 0.5), compared(Clarity::faster, 0.55));
  EXPECT_EQ(ruling.decision, RoundDecision::accepted);
  EXPECT_THAT(ruling.reason, HasSubstr("1.818×"));
}

TEST(Ruling, RollsBackEverythingThatIsNotClearlyFaster) {
  for (Clarity clarity : {Clarity::slower, Clarity::same, Clarity::ambiguous}) {
    Verdict verdict = compared(clarity, 0.5);
    EXPECT_FALSE(deserves_confirmation(verdict));
    EXPECT_EQ(rule(verdict, compared(Clarity::faster, 0.5)).decision, RoundDecision::rolled_back)
        << name_of(clarity);
    Ruling confirmed = rule(compared(Clarity::faster, 0.5), verdict);
    EXPECT_EQ(confirmed.decision, RoundDecision::rolled_back) << name_of(clarity);
    EXPECT_THAT(confirmed.reason, HasSubstr("fresh processes"));
  }
}

TEST(Ruling, RollsBackWithoutAConfirmation) {
  EXPECT_TRUE(deserves_confirmation(compared(Clarity::faster, 0.5)));
  EXPECT_EQ(rule(compared(Clarity::faster, 0.5), std::nullopt).decision, RoundDecision::rolled_back);
}

TEST(Ruling, RollsBackWhenACoreShapeRegressed) {
  Ruling at_first = rule(compared(Clarity::faster, 0.5, true), std::nullopt);
  Ruling later = rule(compared(Clarity::faster, 0.5), compared(Clarity::faster, 0.5, true));
  for (const Ruling& ruling : {at_first, later}) {
    EXPECT_EQ(ruling.decision, RoundDecision::rolled_back);
    EXPECT_THAT(ruling.reason, HasSubstr("T=1 is 8.0 % slower"));
  }
}

TEST(Ruling, NotesATradeOffOnlyWhereAShapeIsSlowerWithConfidence) {
  Verdict faster = compared(Clarity::faster, 0.5);
  Ruling slower = rule(faster, with_shape(faster, 0.01, 0.03));
  EXPECT_EQ(slower.decision, RoundDecision::accepted_trade_off);
  EXPECT_THAT(slower.reason, HasSubstr("slower on T=7 by 3.0 %"));
  EXPECT_EQ(rule(faster, with_shape(faster, -0.01, 0.03)).decision, RoundDecision::accepted);
}

TEST(Ruling, NeverAcceptsWhatIsNotCorrect) {
  std::vector<Outcome> outcomes{
      Wrong{}, Rejected{"r", "reason", ""}, CompileError{"log"}, Crashed{}, TimedOut{}, OutOfMemory{}};
  for (const Outcome& outcome : outcomes) {
    Verdict verdict = compared(Clarity::faster, 0.1);
    verdict.outcome = outcome;
    EXPECT_FALSE(deserves_confirmation(verdict));
    EXPECT_EQ(rule(verdict, compared(Clarity::faster, 0.1)).decision, RoundDecision::rolled_back)
        << name_of(outcome);
    EXPECT_EQ(rule(compared(Clarity::faster, 0.1), verdict).decision, RoundDecision::rolled_back)
        << name_of(outcome);
    EXPECT_FALSE(rule(verdict, std::nullopt).reason.empty());
  }
}

TEST(Conclusive, SaysWhetherARolledBackRoundFoundSomethingOut) {
  RoundRecord round;
  round.decision = RoundDecision::rolled_back;
  for (auto [clarity, answer] : std::map<Clarity, bool>{{Clarity::slower, true},
                                                        {Clarity::same, true},
                                                        {Clarity::ambiguous, false},
                                                        {Clarity::faster, false}}) {
    round.verdict = compared(clarity, 0.9);
    EXPECT_EQ(conclusive(round), answer) << name_of(clarity);
  }
  round.verdict = compared(Clarity::faster, 0.9);
  round.confirmation = compared(Clarity::ambiguous, 0.9);
  EXPECT_FALSE(conclusive(round)) << "a first gain that was unclear when repeated";
  round.confirmation = of(Wrong{});
  EXPECT_TRUE(conclusive(round));
  round.confirmation.reset();
  round.verdict = of(Rejected{"R1", "measured before", ""});
  EXPECT_FALSE(conclusive(round)) << "refused without a measurement";
}

TEST(Ruling, DoesNotAcceptAVerdictWithoutComparison) {
  EXPECT_EQ(rule(of(Correct{}), of(Correct{})).decision, RoundDecision::rolled_back);
}

TEST(SpeedupText, SaysSoWhenThereIsNoInterval) {
  Comparison comparison;
  comparison.log_ratio = std::log(0.5);
  comparison.bound = {-INFINITY, INFINITY};
  EXPECT_EQ(speedup_text(comparison), "2.000× (too few blocks for an interval)");
  comparison.bound = {std::log(0.4), std::log(0.625)};
  EXPECT_EQ(speedup_text(comparison), "2.000× (1.600–2.500×)");
}

}  // namespace
}  // namespace ako
