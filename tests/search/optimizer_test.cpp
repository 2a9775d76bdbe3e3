// SPDX-License-Identifier: Apache-2.0
#include "search/optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "search/spaces_fixture.h"

namespace ako {
namespace {

using testing::bowl_cost;
using testing::bowl_space;
using testing::kBowlBottom;
using testing::numbered;

class EveryOptimizer : public ::testing::TestWithParam<NamedOptimizer> {
 protected:
  std::unique_ptr<Optimizer> make(const Space& space, std::uint64_t seed = 1) const {
    return GetParam().make(space, seed);
  }
};

TEST_P(EveryOptimizer, AsksForEveryValidPointOnceThenStops) {
  Space space = bowl_space();
  auto optimizer = make(space);
  std::set<Point> asked;
  while (auto point = optimizer->ask()) {
    ASSERT_TRUE(space.valid(*point));
    ASSERT_TRUE(asked.insert(*point).second) << "asked twice";
    optimizer->tell(*point, bowl_cost(*point));
  }
  EXPECT_EQ(asked.size(), 8u * 5 * 6 - 6) << "every point but those with tile + unroll = 11";
  EXPECT_EQ(optimizer->ask(), std::nullopt);
}

TEST_P(EveryOptimizer, GoesTheSameWayForTheSameSeed) {
  auto one = make(bowl_space(), 7), other = make(bowl_space(), 7), third = make(bowl_space(), 8);
  bool differs = false;
  for (int i = 0; i < 60; ++i) {
    auto a = one->ask(), b = other->ask(), c = third->ask();
    ASSERT_EQ(a, b);
    differs |= a != c;
    one->tell(*a, bowl_cost(*a));
    other->tell(*b, bowl_cost(*b));
    third->tell(*c, bowl_cost(*c));
  }
  EXPECT_TRUE(differs) << "another seed should go another way";
}

TEST_P(EveryOptimizer, AnswersSeveralQuestionsBeforeTheFirstIsTold) {
  auto optimizer = make(bowl_space());
  std::set<Point> asked;
  for (int batch = 0; batch < 10; ++batch) {
    std::vector<Point> points;
    for (int i = 0; i < 4; ++i) {
      points.push_back(optimizer->ask().value());
      EXPECT_TRUE(asked.insert(points.back()).second);
    }
    for (const Point& point : points) optimizer->tell(point, bowl_cost(point));
  }
}

TEST_P(EveryOptimizer, GoesOnWhenEveryPointFails) {
  auto optimizer = make(bowl_space());
  for (int i = 0; i < 100; ++i) {
    auto point = optimizer->ask();
    ASSERT_TRUE(point);
    optimizer->tell(*point, std::nullopt);
  }
}

TEST_P(EveryOptimizer, NeverAsksForPointsItWasToldUnasked) {
  Space space;
  space.parameters = {numbered("tile", 4)};
  auto optimizer = make(space);
  optimizer->tell({2}, 1.0);
  std::set<Point> asked;
  while (auto point = optimizer->ask()) {
    asked.insert(*point);
    optimizer->tell(*point, 2.0);
  }
  EXPECT_EQ(asked, (std::set<Point>{{0}, {1}, {3}}));
}

TEST_P(EveryOptimizer, HasNothingToAskInAnEmptySpace) {
  Space space = bowl_space();
  space.valid = [](const Point&) { return false; };
  EXPECT_EQ(make(space)->ask(), std::nullopt);
}

TEST_P(EveryOptimizer, SearchesSpacesTooLargeToList) {
  Space space;
  for (int i = 0; i < 12; ++i) space.parameters.push_back(numbered("p" + std::to_string(i), 8));
  space.valid = [](const Point& p) { return (p[0] + p[1]) % 2 == 0; };
  auto optimizer = make(space);
  std::set<Point> asked;
  for (int i = 0; i < 40; ++i) {
    auto point = optimizer->ask();
    ASSERT_TRUE(point);
    EXPECT_TRUE(space.valid(*point));
    EXPECT_TRUE(asked.insert(*point).second);
    optimizer->tell(*point, 1.0 + (*point)[2]);
  }
}

INSTANTIATE_TEST_SUITE_P(Search, EveryOptimizer,
                         ::testing::ValuesIn(optimizers().begin(), optimizers().end()),
                         [](const auto& named) {
                           std::string name = named.param.name;
                           std::erase(name, '-');
                           return name;
                         });

/// Mean over seeds of the evaluations until the bottom of the bowl was asked for.
double evaluations_to_bottom(const NamedOptimizer& named, int seeds) {
  double sum = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    auto optimizer = named.make(bowl_space(), static_cast<std::uint64_t>(seed));
    while (auto point = optimizer->ask()) {
      ++sum;
      if (*point == kBowlBottom) break;
      optimizer->tell(*point, bowl_cost(*point));
    }
  }
  return sum / seeds;
}

TEST(Optimizers, FindTheBottomOfABowlSoonerThanChance) {
  double chance = (8.0 * 5 * 6 - 6 + 1) / 2;
  for (const NamedOptimizer& named : optimizers()) {
    double mean = evaluations_to_bottom(named, 10);
    double at_most = named.name == "random" ? 1.4 * chance : named.name == "model" ? 45 : 0.75 * chance;
    EXPECT_LT(mean, at_most) << named.name;
  }
}

}  // namespace
}  // namespace ako
