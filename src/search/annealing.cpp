// SPDX-License-Identifier: Apache-2.0
// Simulated annealing over single-parameter changes. The temperature is a fraction of the current cost, so
// that the schedule does not depend on the unit; a frozen chain starts again from the best point with a lower
// first temperature.
#include <cmath>

#include "search/routine.h"
#include "search/strategies.h"

namespace ako {
namespace {

constexpr double kHot = 0.5, kCold = 0.01;  // as fractions of the current cost
constexpr double kCooling = 0.97;           // per step

class Annealing final : public RoutineOptimizer {
 public:
  Annealing(const Space& space, std::uint64_t seed) : RoutineOptimizer(space, seed) {}
  std::string name() const override { return "annealing"; }

 private:
  Routine search() override {
    Point at = fresh_point();
    double cost = co_await evaluate(at);
    while (cost == kFailed) {
      at = fresh_point();
      cost = co_await evaluate(at);
    }
    Point best = at;
    double best_cost = cost, hot = kHot;
    while (true) {
      for (double temperature = hot; temperature > kCold; temperature *= kCooling) {
        Point next = mutate(at, random().below(2) == 0);
        double next_cost = co_await evaluate(next);
        if (accepts(cost, next_cost, temperature)) at = next, cost = next_cost;
        if (cost < best_cost) best = at, best_cost = cost;
      }
      at = best, cost = best_cost;
      hot = std::max(hot / 2, 2 * kCold);
    }
  }

  bool accepts(double cost, double next_cost, double temperature) {
    if (next_cost <= cost) return true;
    if (next_cost == kFailed) return false;
    return random().unit() < std::exp(-(next_cost / cost - 1) / temperature);
  }
};

}  // namespace

std::unique_ptr<Optimizer> make_annealing_search(const Space& space, std::uint64_t seed) {
  return std::make_unique<Annealing>(space, seed);
}

}  // namespace ako
