// SPDX-License-Identifier: Apache-2.0
// Iterated local search (Lourenço, Martin, Stützle, 2003): first-improvement descent over single-parameter
// changes in random order, then a jump of a few parameters from the best local optimum, or a fresh start now
// and then.
#include <algorithm>

#include "search/routine.h"
#include "search/strategies.h"

namespace ako {
namespace {

constexpr int kJump = 3;            // parameters changed by a jump
constexpr int kFruitlessJumps = 5;  // before starting afresh

class IteratedLocalSearch final : public RoutineOptimizer {
 public:
  IteratedLocalSearch(const Space& space, std::uint64_t seed) : RoutineOptimizer(space, seed) {}
  std::string name() const override { return "iterated-local-search"; }

 private:
  Routine search() override {
    Point best = fresh_point();
    double best_cost = co_await evaluate(best);
    Point start = best;
    int fruitless = 0;
    while (true) {
      Point at = start;
      double cost = co_await evaluate(at);
      for (bool improved = true; improved;) {
        improved = false;
        for (const Point& next : shuffled(domain().neighbours(at, false))) {
          double next_cost = co_await evaluate(next);
          if (next_cost < cost) {
            at = next, cost = next_cost, improved = true;
            break;
          }
        }
      }
      fruitless = cost < best_cost ? 0 : fruitless + 1;
      if (cost < best_cost) best = at, best_cost = cost;
      if (fruitless > kFruitlessJumps) {
        start = fresh_point();
        best = start, best_cost = kFailed, fruitless = 0;
      } else {
        start = jump(best);
      }
    }
  }

  Point jump(Point point) {
    for (int i = 0; i < kJump; ++i) point = mutate(point, false);
    return point;
  }

  std::vector<Point> shuffled(std::vector<Point> points) {
    for (std::size_t i = points.size(); i > 1; --i) std::swap(points[i - 1], points[random().below(i)]);
    return points;
  }
};

}  // namespace

std::unique_ptr<Optimizer> make_iterated_local_search(const Space& space, std::uint64_t seed) {
  return std::make_unique<IteratedLocalSearch>(space, seed);
}

}  // namespace ako
