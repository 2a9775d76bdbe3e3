// SPDX-License-Identifier: Apache-2.0
// What the decision rule promises, counted: how often it accepts, at what cost, under noise like that of a
// shared two-core virtual machine (blocks of one kernel against itself: 1.5 % core, one block in ten off by
// up to a factor of two).
//   decision [TRIALS]
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <numbers>

#include "base/random.h"
#include "judge/decision.h"

namespace {

using namespace ako;

struct Scene {
  const char* name;
  double true_ratio;  // candidate time / incumbent time
  double core, outliers;
  int shapes;
};

constexpr Scene kScenes[] = {
    {"at the boundary (1 % faster)", 0.99, 0.015, 0.1, 1},
    {"itself", 1.0, 0.015, 0.1, 1},
    {"itself, four shapes", 1.0, 0.015, 0.1, 4},
    {"itself, 3 % core, 30 % outliers", 1.0, 0.03, 0.3, 1},
    {"2 % faster", 0.98, 0.015, 0.1, 1},
    {"3 % faster", 0.97, 0.015, 0.1, 1},
    {"3 % faster, four shapes", 0.97, 0.015, 0.1, 4},
    {"3 % faster, 3 % core", 0.97, 0.03, 0.1, 1},
    {"10 % faster", 0.90, 0.015, 0.1, 1},
    {"twice as fast", 0.50, 0.015, 0.1, 1},
    {"3 % slower", 1.03, 0.015, 0.1, 1},
    {"twice as slow", 2.0, 0.015, 0.1, 1},
};

double noise(Random& random, const Scene& scene) {
  double normal =
      std::sqrt(-2 * std::log(random.unit() + 1e-300)) * std::cos(2 * std::numbers::pi * random.unit());
  double value = scene.core * normal;
  if (random.unit() < scene.outliers) value += (random.unit() < 0.5 ? 1 : -1) * random.unit() * std::log(2.0);
  return value;
}

struct Count {
  int of[4] = {};
  double rounds = 0;
};

Count simulate(const Scene& scene, int trials) {
  Count count;
  for (int trial = 0; trial < trials; ++trial) {
    Random random(static_cast<std::uint64_t>(trial), 0x64656369);
    Sequential sequential({}, static_cast<std::size_t>(scene.shapes));
    std::optional<Clarity> clarity;
    while (!(clarity = sequential.decide()))
      for (int shape = 0; shape < scene.shapes; ++shape)
        sequential.add(static_cast<std::size_t>(shape),
                       {std::log(scene.true_ratio) + noise(random, scene), false});
    ++count.of[static_cast<int>(*clarity)];
    count.rounds += sequential.rounds();
  }
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  int trials = argc > 1 ? std::max(1, std::atoi(argv[1])) : 20000;
  fmt::print(
      "{} trials each; percentages; rounds are blocks per shape, a block is two batches of each side\n",
      trials);
  fmt::print("{:36} {:>8} {:>8} {:>8} {:>10} {:>8}\n", "truth", "faster", "slower", "same", "ambiguous",
             "rounds");
  for (const auto& scene : kScenes) {
    auto count = simulate(scene, trials);
    auto percent = [&](Clarity clarity) { return 100.0 * count.of[static_cast<int>(clarity)] / trials; };
    fmt::print("{:36} {:8.2f} {:8.2f} {:8.2f} {:10.2f} {:8.1f}\n", scene.name, percent(Clarity::faster),
               percent(Clarity::slower), percent(Clarity::same), percent(Clarity::ambiguous),
               count.rounds / trials);
  }
}
