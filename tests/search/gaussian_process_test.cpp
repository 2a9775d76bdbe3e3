// SPDX-License-Identifier: Apache-2.0
#include "search/gaussian_process.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace ako {
namespace {

std::vector<Axis> axes_for_tests() { return {{{0, 0.25, 0.5, 0.75, 1}}, {{0, 0.5, 1}}}; }

std::vector<Levels> all_levels() {
  std::vector<Levels> samples;
  for (std::uint16_t a = 0; a < 5; ++a)
    for (std::uint16_t b = 0; b < 3; ++b) samples.push_back({a, b});
  return samples;
}

TEST(CholeskyFactor, MultipliedByItselfGivesTheMatrixBack) {
  auto samples = all_levels();
  auto axes = axes_for_tests();
  Kernel kernel{{0.4, 0.9}, 0.01};
  Correlations correlations(axes, kernel);
  CholeskyFactor factor = factorize(samples, correlations, kernel.noise);
  for (std::size_t i = 0; i < samples.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double product = 0;
      for (std::size_t k = 0; k <= j; ++k) product += factor.row(i)[k] * factor.row(j)[k];
      double direct = matern52(axes[0].at[samples[i][0]] - axes[0].at[samples[j][0]], 0.4) *
                          matern52(axes[1].at[samples[i][1]] - axes[1].at[samples[j][1]], 0.9) +
                      (i == j ? 0.01 : 0);
      EXPECT_NEAR(product, direct, 1e-12);
    }
}

TEST(CholeskyFactor, SolvesLowerSystems) {
  auto samples = all_levels();
  Kernel kernel{{0.4, 0.9}, 0.01};
  CholeskyFactor factor = factorize(samples, Correlations(axes_for_tests(), kernel), kernel.noise);
  std::vector<double> x(samples.size()), b(samples.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i));
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j) b[i] += factor.row(i)[j] * x[j];
  factor.solve_lower(b);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(b[i], x[i], 1e-10);
}

TEST(Trend, OfAConstantIsThatConstantWithoutSpread) {
  auto samples = all_levels();
  Kernel kernel{{0.4, 0.9}, 0.01};
  CholeskyFactor factor = factorize(samples, Correlations(axes_for_tests(), kernel), kernel.noise);
  Trend trend = trend_of(factor, std::vector<double>(samples.size(), 3.5));
  EXPECT_NEAR(trend.mean, 3.5, 1e-9);
  EXPECT_LT(trend.variance, 1e-9);
}

TEST(KernelFit, FindsWhichAxisMatters) {
  auto samples = all_levels();
  auto axes = axes_for_tests();
  std::vector<double> values;
  Random random(3);
  for (const Levels& sample : samples)
    values.push_back(std::cos(6 * axes[0].at[sample[0]]) + 0.01 * random.unit());
  Kernel fitted = fit_kernel(axes, samples, values, {{1, 1}, 0.01}, 6);
  EXPECT_GT(fitted.lengths[1], 3 * fitted.lengths[0]) << "the second axis has no effect";
}

TEST(KernelFit, SeesNoiseWhereThereIsNothingElse) {
  auto samples = all_levels();
  std::vector<Levels> twice = samples;
  twice.insert(twice.end(), samples.begin(), samples.end());
  std::vector<double> values;
  Random random(5);
  for (std::size_t i = 0; i < twice.size(); ++i) values.push_back(random.unit());
  Kernel fitted = fit_kernel(axes_for_tests(), twice, values, {{1, 1}, 0.001}, 8);
  EXPECT_GT(fitted.noise, 0.05);
}

}  // namespace
}  // namespace ako
