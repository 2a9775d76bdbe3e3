// SPDX-License-Identifier: Apache-2.0
// expect: correct — a table made when it is first needed
#include <array>
#include <cmath>
#include <cstdint>

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  static const std::array<float, 2> table = [] {
    std::array<float, 2> made{};
    made[1] = -INFINITY;
    return made;
  }();
  for (std::int64_t t = 0; t < T; ++t) {
    float m = table[1], z = table[0];
    for (std::int64_t d = 0; d < D; ++d) m = std::fmax(m, x[t * D + d]);
    for (std::int64_t d = 0; d < D; ++d) z += y[t * D + d] = std::exp(x[t * D + d] - m);
    for (std::int64_t d = 0; d < D; ++d) y[t * D + d] /= z;
  }
}
