// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "base/random.h"
#include "search/optimizer.h"

namespace ako {
namespace {

double truth(double a, double b) { return 0.5 * a - std::cos(3 * b); }

std::unique_ptr<CostModel> trained(int samples) {
  auto model = make_cost_model(2, 1);
  Random random(9);
  for (int i = 0; i < samples; ++i) {
    double a = static_cast<double>(random.below(9)) / 8, b = static_cast<double>(random.below(9)) / 8;
    model->add(std::array{a, b}, truth(a, b));
  }
  return model;
}

TEST(CostModel, KnowsNothingBeforeItsFirstSample) {
  auto model = make_cost_model(2, 1);
  EXPECT_EQ(model->size(), 0u);
  auto prediction = model->predict(std::array{0.5, 0.5});
  EXPECT_EQ(prediction.mean, 0);
  EXPECT_GT(prediction.deviation, 0.5);
}

TEST(CostModel, PredictsPointsItNeverSaw) {
  auto model = trained(40);
  double error = 0;
  for (double a : {0.0625, 0.4375, 0.8125})
    for (double b : {0.1875, 0.5625, 0.9375})
      error = std::max(error, std::abs(model->predict(std::array{a, b}).mean - truth(a, b)));
  EXPECT_LT(error, 0.1);
}

TEST(CostModel, IsSurerWhereItMeasured) {
  auto model = make_cost_model(1, 1);
  for (double at : {0.0, 0.1, 0.2, 0.3}) model->add(std::array{at}, std::sin(10 * at));
  EXPECT_LT(model->predict(std::array{0.2}).deviation, 0.5 * model->predict(std::array{1.0}).deviation);
}

TEST(CostModel, GetsBetterWithSamples) {
  auto error = [](const CostModel& model) {
    double sum = 0;
    for (double a = 0.05; a < 1; a += 0.1)
      for (double b = 0.05; b < 1; b += 0.1)
        sum += std::abs(model.predict(std::array{a, b}).mean - truth(a, b));
    return sum;
  };
  EXPECT_LT(error(*trained(40)), 0.5 * error(*trained(5)));
}

TEST(CostModel, StaysUsableBeyondTheSamplesItKeeps) {
  auto model = make_cost_model(1, 1);
  for (int i = 0; i < 1030; ++i) model->add(std::array{(i % 10) / 10.0}, (i % 10) / 10.0);
  EXPECT_EQ(model->size(), 1030u);
  EXPECT_NEAR(model->predict(std::array{0.2}).mean, 0.2, 0.05);
}

}  // namespace
}  // namespace ako
