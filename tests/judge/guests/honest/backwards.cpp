// SPDX-License-Identifier: Apache-2.0
// expect: correct — rows and columns from the last to the first
#include <cmath>
#include <cstdint>

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  for (std::int64_t t = T - 1; t >= 0; --t) {
    float m = -INFINITY, z = 0;
    for (std::int64_t d = D - 1; d >= 0; --d) m = std::fmax(m, x[t * D + d]);
    for (std::int64_t d = D - 1; d >= 0; --d) z += y[t * D + d] = std::exp(x[t * D + d] - m);
    for (std::int64_t d = D - 1; d >= 0; --d) y[t * D + d] /= z;
  }
}
