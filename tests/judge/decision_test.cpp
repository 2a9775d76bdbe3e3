// SPDX-License-Identifier: Apache-2.0
#include "judge/decision.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/random.h"

namespace ako {
namespace {

/// The signed-rank interval by brute force: every assignment of signs to the ranks.
std::int64_t critical_by_enumeration(int n, double alpha) {
  std::vector<double> count(static_cast<std::size_t>(n * (n + 1) / 2 + 1));
  for (unsigned signs = 0; signs < 1u << n; ++signs) {
    int sum = 0;
    for (int rank = 1; rank <= n; ++rank) sum += (signs >> (rank - 1) & 1) ? rank : 0;
    ++count[static_cast<std::size_t>(sum)];
  }
  double total = 0;
  std::int64_t k = -1;
  for (double one : count) {
    total += one / std::pow(2, n);
    if (total > alpha) return k;
    ++k;
  }
  return k;
}

double gauss(Random& random) {
  return std::sqrt(-2 * std::log(random.unit() + 1e-300)) * std::cos(2 * std::numbers::pi * random.unit());
}

/// What a shared virtual machine does: 1.5 % core, one block in ten off by up to a factor of two.
double machine_noise(Random& random) {
  double value = 0.015 * gauss(random);
  if (random.unit() < 0.1) value += (random.unit() < 0.5 ? 1 : -1) * random.unit() * std::log(2.0);
  return value;
}

struct Run {
  Clarity clarity;
  int rounds;
};
Run decide_with(double log_ratio, std::uint64_t seed) {
  Random random(seed);
  Sequential sequential({}, 1);
  while (true) {
    if (auto clarity = sequential.decide()) return {*clarity, sequential.rounds()};
    sequential.add(0, {log_ratio + machine_noise(random), false});
  }
}

TEST(HodgesLehmann, IntervalIsTheOneThatEnumerationGives) {
  Random random(5);
  for (int n = 7; n <= 14; ++n) {
    std::vector<double> values;
    for (int i = 0; i < n; ++i) values.push_back(gauss(random));
    std::vector<double> walsh;
    for (std::size_t i = 0; i < values.size(); ++i)
      for (std::size_t j = i; j < values.size(); ++j) walsh.push_back((values[i] + values[j]) / 2);
    std::sort(walsh.begin(), walsh.end());
    auto k = static_cast<std::size_t>(critical_by_enumeration(n, 0.01));
    auto location = hodges_lehmann(values, 0.01);
    EXPECT_DOUBLE_EQ(location.interval.low, walsh[k]) << n;
    EXPECT_DOUBLE_EQ(location.interval.high, walsh[walsh.size() - 1 - k]) << n;
    EXPECT_DOUBLE_EQ(location.center, median(walsh)) << n;
  }
}

TEST(HodgesLehmann, SixValuesCannotBoundAtOnePercent) {
  auto location = hodges_lehmann(std::vector<double>{1, 2, 3, 4, 5, 6}, 0.01);
  EXPECT_TRUE(std::isinf(location.interval.low));
  EXPECT_DOUBLE_EQ(location.center, 3.5);
}

TEST(HodgesLehmann, ApproximationForManyValuesMeetsTheExactOne) {
  Random random(6);
  std::vector<double> values;
  for (int i = 0; i < 64; ++i) values.push_back(gauss(random));
  auto exact = hodges_lehmann(values, 0.01);
  values.push_back(exact.center);
  auto approximate = hodges_lehmann(values, 0.01);
  EXPECT_NEAR(exact.interval.low, approximate.interval.low, 0.05);
  EXPECT_NEAR(exact.interval.high, approximate.interval.high, 0.05);
}

TEST(MedianInterval, HoldsTheMedianAsOftenAsItSays) {
  Random random(7);
  int held = 0;
  constexpr int trials = 2000;
  for (int i = 0; i < trials; ++i) {
    std::vector<double> values;
    for (int k = 0; k < 15; ++k) values.push_back(random.unit());
    auto interval = median_interval(values, 0.95);
    held += interval.low <= 0.5 && 0.5 <= interval.high;
  }
  EXPECT_GE(held, 0.94 * trials);
}

TEST(Sequential, SpendsNoMoreThanAlphaAtTheBoundary) {
  // A true improvement of exactly the noise is the hardest null there is.
  int accepted = 0;
  constexpr int trials = 3000;
  for (int i = 0; i < trials; ++i)
    accepted += decide_with(-0.01, static_cast<std::uint64_t>(i)).clarity == Clarity::faster;
  EXPECT_LE(accepted, 0.01 * trials + 3 * std::sqrt(0.01 * trials));
}

TEST(Sequential, AcceptsAKernelAgainstItselfOnceInAThousandAtMost) {
  int accepted = 0;
  constexpr int trials = 4000;
  for (int i = 0; i < trials; ++i)
    accepted += decide_with(0, static_cast<std::uint64_t>(i)).clarity == Clarity::faster;
  EXPECT_LE(accepted, 8);  // 0.1 % is 4; twice that is beyond chance
}

TEST(Sequential, FindsThreePercentNineteenTimesInTwenty) {
  int accepted = 0;
  double rounds = 0;
  constexpr int trials = 500;
  for (int i = 0; i < trials; ++i) {
    auto run = decide_with(std::log(0.97), static_cast<std::uint64_t>(i));
    accepted += run.clarity == Clarity::faster;
    rounds += run.rounds;
  }
  EXPECT_GE(accepted, 0.95 * trials);
  EXPECT_LE(2 * rounds / trials, 100);  // two batches of each side a round
}

TEST(Sequential, StopsEarlyWhenTheAnswerIsPlain) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto fast = decide_with(std::log(0.5), seed), slow = decide_with(std::log(2.0), seed);
    EXPECT_EQ(fast.clarity, Clarity::faster);
    EXPECT_LE(fast.rounds, 11);
    EXPECT_EQ(slow.clarity, Clarity::slower);
    EXPECT_LE(slow.rounds, 8);
  }
}

TEST(Sequential, AveragesShapesGeometrically) {
  Sequential sequential({}, 2);
  for (int i = 0; i < 8; ++i) {
    sequential.add(0, {std::log(0.5) + 1e-4 * i, false});
    sequential.add(1, {std::log(0.98) + 1e-4 * i, false});
  }
  EXPECT_EQ(sequential.decide(), Clarity::faster);
  EXPECT_NEAR(sequential.comparison().log_ratio, (std::log(0.5) + std::log(0.98)) / 2, 1e-3);
  EXPECT_NEAR(sequential.location(1).center, std::log(0.98), 1e-3);
  EXPECT_EQ(sequential.comparison().blocks, 16);
}

TEST(Sequential, OneWildBlockDoesNotMoveTheAggregate) {
  Sequential calm({}, 2), wild({}, 2);
  for (int i = 0; i < 8; ++i) {
    double value = -0.1 + 1e-3 * i;
    for (auto* one : {&calm, &wild}) one->add(0, {value, false});
    calm.add(1, {value, false});
    wild.add(1, {i == 3 ? 5.0 : value, false});
  }
  EXPECT_NEAR(calm.comparison().log_ratio, wild.comparison().log_ratio, 2e-3);
}

TEST(Sequential, WaitsForEveryShape) {
  Sequential sequential({}, 2);
  for (int i = 0; i < 20; ++i) sequential.add(0, {-1, false});
  EXPECT_EQ(sequential.decide(), std::nullopt);
  EXPECT_EQ(sequential.rounds(), 0);
}

}  // namespace
}  // namespace ako
