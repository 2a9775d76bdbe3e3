// SPDX-License-Identifier: Apache-2.0
#include "problem/inputs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <stdexcept>

#include "base/hash.h"
#include "problem/normal_table.h"
#include "problem/random_values.h"

namespace ako {
namespace {

/// A problem whose one input `x` of R rows and N columns has this type and distribution.
Problem problem_with(std::string_view type, std::string_view values, std::string_view dims) {
  const bool real = class_of(scalar_type_from(type).value()) == NumberClass::real;
  const std::string text = fmt::format(
      "problem: made\nsummary: For tests.\ndims: {{R: rows, N: columns}}\ntensors:\n"
      "  x: {{type: {}, shape: [R, N], values: \"{}\"}}\n  y: {{type: {}, shape: [R, N]}}\n"
      "math: |\n  y[r, n] = x[r, n]\nshapes:\n  - {{{}}}\ntolerance: {{rtol: 1, atol: 1}}\n",
      type, values, real ? "f64" : "i64", dims);
  auto problem = parse_problem(text, "made.yaml");
  if (!problem) throw std::runtime_error(to_text(problem.error()) + "\n" + text);
  return *problem;
}

struct Asked {
  std::string_view type = "f32", values = "normal(0, 1)", dims = "R: 1, N: 100000";
  InputStyle style = InputStyle::declared;
  std::uint64_t seed = 1, stream = 2;
  int threads = 0;
};

std::vector<std::byte> bytes_of(const Asked& asked) {
  const Problem problem = problem_with(asked.type, asked.values, asked.dims);
  const Shape& shape = problem.shapes.front();
  const Tensor& x = problem.tensors.front();
  std::vector<std::byte> bytes(
      static_cast<std::size_t>(storage_bytes(x.type, element_count(problem, x, shape)).count));
  generate_input(problem, 0, shape, asked.style, asked.seed, asked.stream, bytes, asked.threads);
  return bytes;
}

std::vector<double> values_of(const Asked& asked) {
  const std::vector<std::byte> bytes = bytes_of(asked);
  const ScalarType type = scalar_type_from(asked.type).value();
  std::vector<double> values(bytes.size() * 8 / static_cast<std::size_t>(storage_bits(type)));
  decode_array(type, bytes, values);
  return values;
}

double mean(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}
double deviation(const std::vector<double>& x) {
  const double center = mean(x);
  double sum = 0;
  for (double value : x) sum += (value - center) * (value - center);
  return std::sqrt(sum / static_cast<double>(x.size()));
}

/// The largest distance between the empirical and a given distribution function (Kolmogorov and Smirnov).
template <class Function>
double distance(std::vector<double> x, Function&& distribution) {
  std::sort(x.begin(), x.end());
  const auto n = static_cast<double>(x.size());
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double p = distribution(x[i]), rank = static_cast<double>(i);
    worst = std::max({worst, p - rank / n, (rank + 1) / n - p});
  }
  return worst;
}

TEST(Inputs, NormalsFollowTheNormalDistribution) {
  const auto x = values_of({.type = "f64", .values = "normal(3, 2)", .dims = "R: 1, N: 400000"});
  EXPECT_NEAR(mean(x), 3, 0.01);
  EXPECT_NEAR(deviation(x), 2, 0.01);
  // 1.95 / sqrt(n) is passed with a probability of 0.999 by the true distribution.
  EXPECT_LT(distance(x, [](double v) { return 0.5 * std::erfc((3 - v) / 2 * M_SQRT1_2); }),
            1.95 / std::sqrt(400000));
}

TEST(Inputs, NormalTableIsTheQuantileFunctionEverywhere) {
  const NormalTable& table = normal_table();
  for (int exponent = -1; exponent < 31; ++exponent)
    for (double mantissa = 1; mantissa < 2; mantissa += 0.0173) {
      const double u = std::ldexp(mantissa, exponent);
      const auto segment =
          static_cast<std::size_t>((std::bit_cast<std::uint64_t>(u) >> 47) - kFirstSegmentBits);
      const double z = table.start[segment] + table.slope[segment] * u;
      const double p = 0.5 * std::erfc(z * M_SQRT1_2), density = std::exp(-z * z / 2) / std::sqrt(2 * M_PI);
      EXPECT_LT(std::fabs(p - u * 0x1p-32) / density, 1e-4) << u;
    }
}

TEST(Inputs, OwnElementaryFunctionsAgreeWithTheLibrary) {
  for (double x = -600; x < 600; x += 7.31) EXPECT_NEAR(reproducible_exp(x) / std::exp(x), 1, 1e-12) << x;
  for (double x = 1e-300; x < 1e300; x *= 123.4)
    EXPECT_NEAR(reproducible_log(x), std::log(x), 1e-13 * 700) << x;
}

TEST(Inputs, UniformsFillTheirRangeEvenly) {
  for (std::string_view type : {"f32", "f64"}) {
    const auto x = values_of({.type = type, .values = "uniform(-1, 3)"});
    EXPECT_LT(distance(x, [](double v) { return (v + 1) / 4; }), 1.95 / std::sqrt(100000)) << type;
    EXPECT_GE(*std::min_element(x.begin(), x.end()), -1);
    EXPECT_LE(*std::max_element(x.begin(), x.end()), 3);
  }
}

TEST(Inputs, Fp64UniformsUseTheWholeMantissa) {
  const auto x = values_of({.type = "f64", .values = "uniform(1, 2)", .dims = "R: 1, N: 1000"});
  int odd = 0;
  for (double value : x) odd += static_cast<int>(std::bit_cast<std::uint64_t>(value) & 1);
  EXPECT_GT(odd, 300);
}

TEST(Inputs, IntegersAreEvenlySpreadAndInRange) {
  const auto x = values_of({.type = "i32", .values = "integers(-2, 5)", .dims = "R: 1, N: 70000"});
  std::map<double, int> counts;
  for (double value : x) ++counts[value];
  ASSERT_EQ(counts.size(), 7u);
  EXPECT_EQ(counts.begin()->first, -2);
  EXPECT_EQ(counts.rbegin()->first, 4);
  for (auto [value, count] : counts) EXPECT_NEAR(count, 10000, 400) << value;
}

TEST(Inputs, CategoriesFollowThePowerLawInASecretOrder) {
  const auto x = values_of({.type = "i32", .values = "categorical(50, 1.5)", .dims = "R: 1, N: 200000"});
  std::vector<double> counts(50);
  for (double value : x) ++counts.at(static_cast<std::size_t>(value));
  const std::vector<double> in_order = counts;
  std::sort(counts.rbegin(), counts.rend());
  double total = 0;
  for (int k = 0; k < 50; ++k) total += std::pow(k + 1, -1.5);
  for (int k = 0; k < 10; ++k) {
    const double expected = 200000 * std::pow(k + 1, -1.5) / total;
    EXPECT_NEAR(counts[static_cast<std::size_t>(k)], expected, 6 * std::sqrt(expected)) << k;
  }
  EXPECT_NE(in_order, counts);
}

TEST(Inputs, EveryRowOfAPermutationIsOne) {
  const auto x = values_of({.type = "i32", .values = "permutation(N)", .dims = "R: 20, N: 997"});
  std::set<std::vector<double>> rows;
  for (std::size_t row = 0; row < 20; ++row) {
    const std::vector<double> one(x.begin() + static_cast<std::ptrdiff_t>(row * 997),
                                  x.begin() + static_cast<std::ptrdiff_t>((row + 1) * 997));
    rows.insert(one);
    EXPECT_EQ(std::set<double>(one.begin(), one.end()).size(), 997u);
    EXPECT_EQ(*std::max_element(one.begin(), one.end()), 996);
  }
  EXPECT_EQ(rows.size(), 20u);
}

TEST(Inputs, AllOrdersOfASmallPermutationAreEquallyLikely) {
  const auto x = values_of({.type = "i32", .values = "permutation(N)", .dims = "R: 60000, N: 3"});
  std::map<std::vector<double>, int> counts;
  for (std::size_t row = 0; row < 60000; ++row) ++counts[{x[3 * row], x[3 * row + 1], x[3 * row + 2]}];
  ASSERT_EQ(counts.size(), 6u);
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, 10000, 400);
}

TEST(Inputs, SortedRowsAscendAndKeepTheirDistribution) {
  const auto x = values_of({.values = "sorted(normal(0, 1))", .dims = "R: 10, N: 5000"});
  for (std::size_t row = 0; row < 10; ++row)
    EXPECT_TRUE(std::is_sorted(x.begin() + static_cast<std::ptrdiff_t>(row * 5000),
                               x.begin() + static_cast<std::ptrdiff_t>((row + 1) * 5000)));
  EXPECT_LT(distance(x, [](double v) { return 0.5 * std::erfc(-v * M_SQRT1_2); }), 1.95 / std::sqrt(50000));
}

TEST(Inputs, RaggedOffsetsAscendFromZeroToTheTotal) {
  const auto x = values_of({.type = "i32", .values = "ragged(1000, 1)", .dims = "R: 5, N: 17"});
  std::set<double> second;
  for (std::size_t row = 0; row < 5; ++row) {
    const auto begin = x.begin() + static_cast<std::ptrdiff_t>(row * 17);
    EXPECT_EQ(begin[0], 0);
    EXPECT_EQ(begin[16], 1000);
    EXPECT_TRUE(std::is_sorted(begin, begin + 17));
    second.insert(begin[1]);
  }
  EXPECT_GT(second.size(), 1u);
}

TEST(Inputs, AdversarialValuesHoldZerosDenormalsAndRepeatedRows) {
  const auto x = values_of({.values = "adversarial(1)", .dims = "R: 64, N: 256"});
  const auto count = [&](auto&& is) { return std::count_if(x.begin(), x.end(), is); };
  EXPECT_GT(count([](double v) { return v == 0; }), 500);
  EXPECT_GT(count([](double v) { return v != 0 && std::fabs(v) < 0x1p-126; }), 100);
  EXPECT_GT(count([](double v) { return std::fabs(v) > 30; }), 100);
  std::set<std::vector<double>> rows;
  for (std::size_t row = 0; row < 64; ++row)
    rows.insert({x.begin() + static_cast<std::ptrdiff_t>(row * 256),
                 x.begin() + static_cast<std::ptrdiff_t>((row + 1) * 256)});
  EXPECT_LT(rows.size(), 64u);
}

TEST(Inputs, DoNotDependOnTheNumberOfThreads) {
  for (std::string_view values : {"normal(0, 1)", "adversarial(2)", "sorted(uniform(0, 1))"}) {
    Asked asked{.type = "bf16", .values = values, .dims = "R: 37, N: 1001", .threads = 1};
    const auto one = bytes_of(asked);
    asked.threads = 5;
    EXPECT_TRUE(one == bytes_of(asked)) << values;
  }
}

TEST(Inputs, DifferBySeedStreamAndTensor) {
  const auto x = values_of({});
  for (const Asked& other : {Asked{.seed = 2}, Asked{.stream = 3}, Asked{.seed = 1ull << 32 | 1},
                             Asked{.stream = 1ull << 40 | 2}}) {
    const auto y = values_of(other);
    double correlation = 0;
    for (std::size_t i = 0; i < x.size(); ++i) correlation += x[i] * y[i];
    EXPECT_LT(std::fabs(correlation / static_cast<double>(x.size())), 0.015);
  }
  const WordSequence words{1, 2, 0, Purpose::value};
  EXPECT_NE(word_at(words, 0), word_at({1, 2, 1, Purpose::value}, 0));
  EXPECT_NE(word_at(words, 0), word_at(words.with(Purpose::style), 0));
}

TEST(Inputs, BulkWordsAreTheWordsOfSingleElements) {
  const WordSequence sequence{0x123456789ABCDEF0u, 0xFEDCBA9876543210u, 5, Purpose::row};
  std::vector<std::uint32_t> words(1024);
  const std::uint64_t first = (1ull << 40) - 512;  // the counter's low word overflows in the middle
  fill_words(sequence, first, words);
  for (std::size_t i = 0; i < words.size(); ++i) ASSERT_EQ(words[i], word_at(sequence, first + i)) << i;
}

TEST(Inputs, AreTheSameBitsOnEveryMachine) {
  // Recorded once; other digits here would mean that old records cannot be replayed.
  const auto digest = [](const Asked& asked) { return hash_bytes(bytes_of(asked)).short_hex(); };
  EXPECT_EQ(digest({.values = "normal(0, 1)"}), "a057afbeadd2");
  EXPECT_EQ(digest({.type = "bf16", .values = "uniform(-1, 2)"}), "834c0efbfb96");
  EXPECT_EQ(digest({.type = "i32", .values = "categorical(1000, 1.1)"}), "65485a8e16cd");
  EXPECT_EQ(digest({.type = "i32", .values = "permutation(N)"}), "b5d0a9ddc40a");
  EXPECT_EQ(digest({.values = "adversarial(1)"}), "8f64bf591f12");
  EXPECT_EQ(digest({.type = "f16", .style = InputStyle::mixed_scale}), "b611f295b469");
}

TEST(Inputs, StylesKeepTheRangeThatADistributionHas) {
  using enum InputStyle;
  for (InputStyle style : {declared, large_offset, tiny, zeros, constant_rows, mixed_scale, spikes})
    for (std::string_view values : {"uniform(0.5, 1.5)", "uniform(-1, 1)"}) {
      const auto x = values_of({.values = values, .dims = "R: 30, N: 300", .style = style});
      const double low = values == "uniform(-1, 1)" ? -1 : 0.5;
      EXPECT_GE(*std::min_element(x.begin(), x.end()), low) << name_of(style);
      EXPECT_LE(*std::max_element(x.begin(), x.end()), low == -1 ? 1 : 1.5) << name_of(style);
    }
}

TEST(Inputs, StylesKeepIndicesValid) {
  using enum InputStyle;
  for (InputStyle style : {large_offset, tiny, zeros, constant_rows, mixed_scale, spikes}) {
    for (double v : values_of({.type = "i32", .values = "integers(3, 9)", .style = style})) {
      ASSERT_GE(v, 3);
      ASSERT_LT(v, 9);
    }
    const auto p =
        values_of({.type = "i32", .values = "permutation(N)", .dims = "R: 1, N: 100", .style = style});
    EXPECT_EQ(std::set<double>(p.begin(), p.end()).size(), 100u) << name_of(style);
  }
}

TEST(Inputs, LargeOffsetsAreCommonToARowAndLeaveItsSpread) {
  for (std::string_view type : {"f32", "bf16", "f16"}) {
    const auto x = values_of({.type = type, .dims = "R: 8, N: 1000", .style = InputStyle::large_offset});
    const double scale = std::ldexp(1, std::clamp(precision_bits(scalar_type_from(type).value()) - 5, 0, 12));
    for (std::size_t row = 0; row < 8; ++row) {
      const std::vector<double> one(x.begin() + static_cast<std::ptrdiff_t>(row * 1000),
                                    x.begin() + static_cast<std::ptrdiff_t>((row + 1) * 1000));
      EXPECT_GT(std::fabs(mean(one)), scale * 0.99) << type;
      EXPECT_NEAR(deviation(one), 1, 0.1) << type;
    }
  }
}

TEST(Inputs, TinyValuesStraddleTheSmallestNormal) {
  for (std::string_view type : {"f32", "f16", "bf16"}) {
    const auto x = values_of({.type = type, .style = InputStyle::tiny});
    const double smallest = type == "f16" ? 0x1p-14 : 0x1p-126;
    const auto denormal =
        std::count_if(x.begin(), x.end(), [&](double v) { return v != 0 && std::fabs(v) < smallest; });
    EXPECT_GT(denormal, 10000) << type;
    EXPECT_LT(denormal, 30000) << type;
  }
}

TEST(Inputs, ConstantRowsRepeatOneValuePerRow) {
  const auto x = values_of({.dims = "R: 200, N: 50", .style = InputStyle::constant_rows});
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], x[i / 50 * 50]);
  EXPECT_GT(std::set<double>(x.begin(), x.end()).size(), 190u);
}

TEST(Inputs, SpikesAreRareAndLarge) {
  const auto x = values_of({.style = InputStyle::spikes});
  const auto large = std::count_if(x.begin(), x.end(), [](double v) { return std::fabs(v) > 6; });
  EXPECT_NEAR(static_cast<double>(large), 100000 / 128.0, 120);
}

std::vector<InputStyle> styles_for(std::string_view math) {
  const std::string text = fmt::format(
      "problem: made\nsummary: For tests.\ndims: {{T: rows, D: columns}}\ntensors:\n"
      "  x: {{type: f32, shape: [T, D]}}\n  y: {{type: f32, shape: [T, D]}}\n"
      "math: |\n  {}\nshapes:\n  - {{T: 2, D: 3}}\n"
      "tolerance: {{rtol: 1, atol: 1}}\n",
      math);
  auto problem = parse_problem(text, "made.yaml");
  if (!problem) throw std::runtime_error(to_text(problem.error()));
  return check_styles(*problem);
}

TEST(CheckStyles, LeaveOutZerosWhereTheMathDividesByThem) {
  const auto has_zeros = [](const std::vector<InputStyle>& styles) {
    EXPECT_EQ(styles.front(), InputStyle::declared);
    return std::find(styles.begin(), styles.end(), InputStyle::zeros) != styles.end();
  };
  EXPECT_TRUE(has_zeros(styles_for("y[t, d] = x[t, d] * 0.5")));
  EXPECT_TRUE(has_zeros(styles_for("y[t, d] = x[t, d] * rsqrt(sum(k < D: x[t, k]^2) + 0.001)")));
  EXPECT_TRUE(has_zeros(styles_for("y[t, d] = exp(x[t, d]) / sum(k < D: exp(x[t, k]))")));
  EXPECT_FALSE(has_zeros(styles_for("y[t, d] = 0.5 * log(abs(x[t, d]))")));
  EXPECT_FALSE(has_zeros(styles_for("y[t, d] = x[t, d] * 0.5 * rsqrt(sum(k < D: x[t, k]^2))")));
  EXPECT_FALSE(has_zeros(styles_for("y[t, d] = x[t, d] * 0.5 / max(k < D: abs(x[t, k]))")));
}

}  // namespace
}  // namespace ako
