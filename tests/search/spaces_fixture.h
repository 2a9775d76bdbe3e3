// SPDX-License-Identifier: Apache-2.0
// Small spaces with known costs, for the optimizers' tests.
#pragma once

#include <cmath>
#include <string>

#include "search/optimizer.h"

namespace ako::testing {

inline Parameter numbered(std::string name, int count) {
  Parameter parameter{std::move(name), {}, {}};
  for (int i = 0; i < count; ++i) {
    parameter.values.push_back(std::to_string(1 << i));
    parameter.numbers.push_back(1 << i);
  }
  return parameter;
}

/// A bowl over three parameters with its bottom at (5, 2, 3), an interaction, and a forbidden corner.
inline Space bowl_space() {
  Space space;
  space.parameters = {numbered("tile", 8), numbered("unroll", 5), numbered("threads", 6)};
  space.valid = [](const Point& p) { return p[0] + p[1] < 11; };
  return space;
}
inline double bowl_cost(const Point& p) {
  double a = p[0] - 5, b = p[1] - 2, c = p[2] - 3;
  return std::exp(0.1 * a * a + 0.2 * b * b + 0.05 * c * c + 0.02 * a * c);
}
inline const Point kBowlBottom{5, 2, 3};

}  // namespace ako::testing
