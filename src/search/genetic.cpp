// SPDX-License-Identifier: Apache-2.0
// A genetic algorithm: rank selection, uniform crossover, one elite. Children outside the restrictions are
// mutated back in. A population that has become one point is replaced, but for its best.
#include <algorithm>

#include "search/routine.h"
#include "search/strategies.h"

namespace ako {
namespace {

constexpr std::size_t kPopulation = 20;
constexpr double kMutation = 0.1;  // per parameter
constexpr int kRepairs = 16;

struct Individual {
  Point point;
  double cost = kFailed;
};

class GeneticSearch final : public RoutineOptimizer {
 public:
  GeneticSearch(const Space& space, std::uint64_t seed) : RoutineOptimizer(space, seed) {}
  std::string name() const override { return "genetic"; }

 private:
  Routine search() override {
    std::vector<Individual> population;
    while (true) {
      while (population.size() < kPopulation) {
        Point point = fresh_point();
        double cost = co_await evaluate(point);
        population.push_back({point, cost});
      }
      std::ranges::stable_sort(population, {}, &Individual::cost);
      if (converged(population)) {
        population.resize(1);
        continue;
      }
      std::vector<Individual> next{population.front()};
      while (next.size() < kPopulation) {
        Point child = breed(pick(population).point, pick(population).point);
        double cost = co_await evaluate(child);
        next.push_back({child, cost});
      }
      population = std::move(next);
    }
  }

  static bool converged(const std::vector<Individual>& population) {
    return std::ranges::all_of(population,
                               [&](const Individual& i) { return i.point == population.front().point; });
  }

  /// Linear rank selection: the best is twice as likely as the middle, the worst is hardly ever taken.
  const Individual& pick(const std::vector<Individual>& sorted) {
    std::size_t n = sorted.size();
    return sorted[std::min(random().below(n), random().below(n))];
  }

  Point breed(const Point& mother, const Point& father) {
    Point child = mother;
    for (std::size_t i = 0; i < child.size(); ++i) {
      if (random().below(2) == 0) child[i] = father[i];
      if (random().unit() < kMutation)
        child[i] = static_cast<int>(random().below(static_cast<std::uint64_t>(domain().extent(i))));
    }
    for (int repair = 0; repair < kRepairs && !domain().contains(child); ++repair) {
      std::size_t i = random().below(child.size());
      child[i] = static_cast<int>(random().below(static_cast<std::uint64_t>(domain().extent(i))));
    }
    return domain().contains(child) ? child : mutate(mother, false);
  }
};

}  // namespace

std::unique_ptr<Optimizer> make_genetic_search(const Space& space, std::uint64_t seed) {
  return std::make_unique<GeneticSearch>(space, seed);
}

}  // namespace ako
