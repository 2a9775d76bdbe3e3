// SPDX-License-Identifier: Apache-2.0
#include "judge/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>

#include "judge/element_rule.h"
#include "judge/pattern.h"

namespace ako {
namespace {

std::vector<std::byte> stored(ScalarType type, const std::vector<double>& values) {
  std::vector<std::byte> bytes(
      static_cast<std::size_t>(storage_bytes(type, static_cast<std::int64_t>(values.size())).count));
  encode_array(type, values, bytes);
  return bytes;
}
Bounds snr(double decibels) {
  Bounds bounds;
  bounds.tolerance.snr_db = decibels;
  return bounds;
}
std::vector<double> ramp(std::size_t n) {
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = 1 + static_cast<double>(i % 97);
  return values;
}

TEST(CompareOutput, SignalToNoiseIsMeasuredOverAllElements) {
  auto expected = ramp(100000);
  auto got = expected;
  for (double& value : got) value *= 1.001;
  auto check = compare_output(ScalarType::f64, snr(45), expected, stored(ScalarType::f64, got));
  EXPECT_TRUE(check.ok);
  EXPECT_NEAR(check.snr_db, 60, 0.01);
  EXPECT_FALSE(compare_output(ScalarType::f64, snr(61), expected, stored(ScalarType::f64, got)).ok);
}

TEST(CompareOutput, AToleranceOfNothingAsksForTheRoundedValue) {
  Bounds bounds;
  bounds.tolerance.rtol = bounds.tolerance.atol = 0;
  std::vector<double> expected{4.75, 0.2};  // e2m1 has 4 and 6, 0 and 0.5
  EXPECT_TRUE(compare_output(ScalarType::f4e2m1, bounds, expected, stored(ScalarType::f4e2m1, {4, 0})).ok);
  EXPECT_FALSE(compare_output(ScalarType::f4e2m1, bounds, expected, stored(ScalarType::f4e2m1, {6, 0})).ok);
}

TEST(CompareOutput, NanWhereANumberBelongsIsWrong) {
  auto expected = ramp(50);
  auto got = expected;
  got[17] = std::nan("");
  auto check = compare_output(ScalarType::f32, snr(10), expected, stored(ScalarType::f32, got));
  EXPECT_FALSE(check.ok);
  EXPECT_EQ(check.worst, 17);
}

TEST(CompareOutput, InfinityOfTheSameSignIsRight) {
  std::vector<double> expected{1, std::numeric_limits<double>::infinity(),
                               -std::numeric_limits<double>::infinity()};
  EXPECT_TRUE(compare_output(ScalarType::f32, snr(60), expected, stored(ScalarType::f32, expected)).ok);
  auto flipped = expected;
  std::swap(flipped[1], flipped[2]);
  EXPECT_FALSE(compare_output(ScalarType::f32, snr(60), expected, stored(ScalarType::f32, flipped)).ok);
}

TEST(CompareOutput, ValuesBeyondTheTypeMayOverflow) {
  std::vector<double> expected{1, 1e39};
  std::vector<double> got{1, std::numeric_limits<double>::infinity()};
  EXPECT_TRUE(compare_output(ScalarType::f32, snr(60), expected, stored(ScalarType::f32, got)).ok);
}

TEST(CompareOutput, IntegersMustBeEqualUnlessMismatchesAreAllowed) {
  std::vector<double> expected(100, 3), got = expected;
  got[5] = 4;
  Bounds bounds;
  EXPECT_FALSE(compare_output(ScalarType::i32, bounds, expected, stored(ScalarType::i32, got)).ok);
  bounds.tolerance.mismatches = 0.01;
  EXPECT_TRUE(compare_output(ScalarType::i32, bounds, expected, stored(ScalarType::i32, got)).ok);
}

TEST(CompareOutput, EveryElementMustBeCloseUnderRtolAndAtol) {
  auto expected = ramp(20000);
  auto got = expected;
  Bounds bounds;
  bounds.tolerance.rtol = 1e-3;
  bounds.tolerance.atol = 1e-6;
  EXPECT_TRUE(compare_output(ScalarType::f64, bounds, expected, stored(ScalarType::f64, got)).ok);
  got[12345] *= 1.01;
  auto check = compare_output(ScalarType::f64, bounds, expected, stored(ScalarType::f64, got));
  EXPECT_FALSE(check.ok);
  EXPECT_EQ(check.worst, 12345);
}

TEST(CompareOutput, ErrorRatioSeesADropToLowerPrecision) {
  auto expected = ramp(5000);
  for (double& value : expected) value = std::sqrt(value);
  Bounds bounds;
  bounds.tolerance.error_ratio = 4;
  EXPECT_TRUE(compare_output(ScalarType::f32, bounds, expected, stored(ScalarType::f32, expected)).ok);
  auto coarse = expected;
  for (double& value : coarse) value = round_to(ScalarType::bf16, value);
  EXPECT_FALSE(compare_output(ScalarType::f32, bounds, expected, stored(ScalarType::f32, coarse)).ok);
}

TEST(CompareOutput, StressStylesAllowFortyDecibelsMore) {
  Problem problem;
  problem.tolerance.snr_db = 100;
  Tensor tensor;
  tensor.type = ScalarType::f32;
  EXPECT_EQ(bounds_for(problem, tensor, InputStyle::declared, 1).tolerance.snr_db, 100);
  EXPECT_NEAR(*bounds_for(problem, tensor, InputStyle::constant_rows, 1).tolerance.snr_db, 60, 1e-9);
}

// ---- the cap on one element, where the tolerance is one on the mean ----

/// As noisy as `decibels` allow, to a hundredth of a decibel: Gaussian, part with the output's scale.
std::vector<double> noisy(const std::vector<double>& exact, double decibels, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  double deviation = root_mean_square(exact) * std::pow(10, -(decibels + 0.05) / 20);
  auto got = exact;
  for (double& value : got) value += deviation * normal(random);
  return got;
}
std::vector<double> normal_values(std::size_t n) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::vector<double> values(n);
  for (double& value : values) value = normal(random);
  return values;
}

TEST(Cap, TakesNoOffenceAtGaussianNoiseAsStrongAsTheToleranceAllows) {
  auto expected = normal_values(1 << 19);
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    auto check = compare_output(ScalarType::f64, snr(45), expected,
                                stored(ScalarType::f64, noisy(expected, 45, seed)));
    EXPECT_TRUE(check.ok) << check.metric;
    EXPECT_NEAR(check.snr_db, 45, 0.1);
  }
}

struct Misdeed {
  std::string name;
  std::function<double(double)> done;
};
class OneOfHalfAMillion : public ::testing::TestWithParam<Misdeed> {};
TEST_P(OneOfHalfAMillion, IsFoundAndNamed) {
  auto expected = normal_values(1 << 19), got = expected;
  constexpr std::size_t kWhere = 345678;
  expected[kWhere] = got[kWhere] = 1.5;
  got[kWhere] = GetParam().done(got[kWhere]);
  auto check = compare_output(ScalarType::f64, snr(45), expected, stored(ScalarType::f64, got));
  EXPECT_GT(check.snr_db, 45);  // the mean shows nothing
  EXPECT_FALSE(check.ok);
  EXPECT_EQ(check.worst, static_cast<std::int64_t>(kWhere));
  EXPECT_EQ(check.got, got[kWhere]);
  EXPECT_TRUE(check.metric.starts_with("off by ")) << check.metric;
  EXPECT_FALSE(compare_outputs(ScalarType::f64, between_two(snr(45)), stored(ScalarType::f64, expected),
                               stored(ScalarType::f64, got), 0, 1 << 19)
                   .ok);
}
INSTANTIATE_TEST_SUITE_P(All, OneOfHalfAMillion,
                         ::testing::Values(Misdeed{"Zeroed", [](double) { return 0.0; }},
                                         Misdeed{"Negated", [](double v) { return -v; }},
                                         Misdeed{"AFifthTooLarge", [](double v) { return 1.2 * v; }}),
                         [](const auto& one) { return one.param.name; });

TEST(Cap, BindsWhereTheErrorIsHeldAgainstThatOfRounding) {
  auto expected = normal_values(1 << 16), got = expected;
  expected[500] = got[500] = 1.5;
  Bounds bounds;
  bounds.tolerance.error_ratio = 4;
  EXPECT_TRUE(compare_output(ScalarType::bf16, bounds, expected, stored(ScalarType::bf16, got)).ok);
  got[500] = 1.7;
  auto check = compare_output(ScalarType::bf16, bounds, expected, stored(ScalarType::bf16, got));
  EXPECT_FALSE(check.ok);
  EXPECT_EQ(check.worst, 500);
}

TEST(Cap, AnElementAmongStrongerOnesIsHeldAgainstTheirScale) {
  std::vector<double> expected(100000, 1.0), got;
  expected[77] = 1e-6;
  got = expected;
  got[77] = 2e-6;
  EXPECT_TRUE(compare_output(ScalarType::f64, snr(60), expected, stored(ScalarType::f64, got)).ok);
}

TEST(Cap, UnderStressTheNoiseOfAWholeOutputMaySitInOneRowOfAThousand) {
  Problem problem;
  problem.tolerance.snr_db = 85;
  Tensor tensor;
  tensor.type = ScalarType::f32;
  auto bounds = bounds_for(problem, tensor, InputStyle::constant_rows, 1);
  std::vector<double> expected(1000 * 100, 1.0);
  double row_noise = 0.9 * std::sqrt(1000) * std::pow(10, -45.0 / 20);  // the energy allowed, less a fifth
  auto spoiled = [&](double by) {
    auto got = expected;
    for (std::size_t i = 5000; i < 5100; ++i) got[i] += by;
    return compare_output(ScalarType::f32, bounds, expected, stored(ScalarType::f32, got));
  };
  EXPECT_TRUE(spoiled(row_noise).ok);
  bounds.peak = bounds_for(problem, tensor, InputStyle::declared, 1).peak;
  EXPECT_FALSE(spoiled(row_noise).ok);
}

TEST(ElementSums, BlocksAddUpToWhatTheElementsDo) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20; ++round) {
    auto expected = normal_values(3000), got = noisy(expected, 40, random());
    if (round % 3 == 1) got[random() % got.size()] = std::nan("");
    if (round % 3 == 2) got[random() % got.size()] *= 5;
    auto bounds = snr(50);
    if (round % 2) bounds.tolerance.rtol = 0.02, bounds.tolerance.atol = 0.01;
    auto rule = rule_for(ScalarType::f64, bounds);
    ElementSums whole, single;
    whole.add(rule, expected.data(), got.data(), 0, 3000);
    for (std::int64_t i = 0; i < 3000; ++i) single.add(rule, expected.data() + i, got.data() + i, i, 1);
    EXPECT_NEAR(whole.signal, single.signal, 1e-9 * single.signal);
    EXPECT_NEAR(whole.noise, single.noise, 1e-9 * single.noise);
    EXPECT_EQ(whole.beyond, single.beyond);
    EXPECT_EQ(whole.hopeless, single.hopeless);
    EXPECT_EQ(whole.worst.index, single.worst.index);
    EXPECT_EQ(whole.peak.index, single.peak.index);
  }
}

TEST(WrongElements, NamesWhatTheCapRefuses) {
  auto expected = normal_values(4096), got = expected;
  expected[99] = got[99] = 2;
  got[99] = 0;
  auto wrong = wrong_elements(ScalarType::f64, snr(45), expected, got);
  EXPECT_EQ(std::count(wrong.begin(), wrong.end(), true), 1);
  EXPECT_TRUE(wrong[99]);
}

TEST(CompareOutputs, EqualBytesAreEqualWhateverTheyMean) {
  std::vector<std::byte> poison(4096, std::byte{0xFF});
  EXPECT_TRUE(compare_outputs(ScalarType::f32, snr(100), poison, poison, 0, 1024).ok);
}

TEST(CompareOutputs, LooksOnlyAtItsRange) {
  auto left = ramp(4096), right = left;
  right[100] = -5;
  auto a = stored(ScalarType::f32, left), b = stored(ScalarType::f32, right);
  EXPECT_FALSE(compare_outputs(ScalarType::f32, snr(60), a, b, 0, 1024).ok);
  EXPECT_TRUE(compare_outputs(ScalarType::f32, snr(60), a, b, 1024, 3072).ok);
}

// ---- patterns ----

struct Case {
  std::string says;
  std::function<void(std::vector<double>&, std::vector<double>&)> damage;  // expected, got: 8 × 32
};
class Pattern8x32 : public ::testing::TestWithParam<Case> {};
TEST_P(Pattern8x32, IsNamed) {
  std::vector<double> expected(8 * 32);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = 1 + static_cast<double>(i * i % 101);
  auto got = expected;
  GetParam().damage(expected, got);
  std::vector<bool> wrong, unwritten(expected.size(), false);
  for (std::size_t i = 0; i < expected.size(); ++i) wrong.push_back(!(got[i] == expected[i]));
  const std::vector<std::int64_t> shape{8, 32};
  EXPECT_EQ(explain_pattern(shape, expected, got, wrong, unwritten), GetParam().says);
}
auto spoil(std::function<bool(std::size_t row, std::size_t column)> where) {
  return [where](std::vector<double>&, std::vector<double>& got) {
    for (std::size_t i = 0; i < got.size(); ++i)
      if (where(i / 32, i % 32)) got[i] = 1000 + static_cast<double>(i * 7 % 13);
  };
}
INSTANTIATE_TEST_SUITE_P(
    All, Pattern8x32,
    ::testing::Values(Case{"the last row", spoil([](auto r, auto) { return r == 7; })},
                      Case{"rows 4…6", spoil([](auto r, auto) { return r >= 4 && r < 7; })},
                      Case{"every 8th column from 7", spoil([](auto, auto c) { return c % 8 == 7; })},
                      Case{"columns 24…31 (the last)", spoil([](auto, auto c) { return c >= 24; })},
                      Case{"row 3, column 5", spoil([](auto r, auto c) { return r == 3 && c == 5; })},
                      Case{"all elements", spoil([](auto, auto) { return true; })},
                      Case{"off by a factor of 2: all elements",
                           [](auto&, auto& got) {
                             for (double& v : got) v *= 2;
                           }},
                      Case{"off by a constant 1: all elements",
                           [](auto&, auto& got) {
                             for (double& v : got) v += 1;
                           }},
                      Case{"zero: rows 0…1",
                           [](auto&, auto& got) { std::fill(got.begin(), got.begin() + 64, 0.0); }}));

TEST(Pattern, SeesATransposition) {
  std::vector<double> expected, got;
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 6; ++c) expected.push_back(r * 10 + c * c + 1);
  for (int c = 0; c < 6; ++c)
    for (int r = 0; r < 4; ++r) got.push_back(r * 10 + c * c + 1);
  std::vector<bool> wrong, unwritten(24, false);
  for (std::size_t i = 0; i < 24; ++i) wrong.push_back(got[i] != expected[i]);
  const std::vector<std::int64_t> shape{4, 6};
  EXPECT_TRUE(explain_pattern(shape, expected, got, wrong, unwritten).starts_with("looks transposed"));
}

TEST(Pattern, PoisonIsNamedAsNeverWritten) {
  std::vector<std::byte> storage(16 * 4, std::byte{0xFF});
  auto unwritten = still_poison(ScalarType::f32, storage, 16);
  std::vector<double> expected(16, 1.0), got(16, std::nan(""));
  const std::vector<std::int64_t> shape{16};
  EXPECT_EQ(explain_pattern(shape, expected, got, std::vector<bool>(16, true), unwritten),
            "never written: all elements");
}

}  // namespace
}  // namespace ako
