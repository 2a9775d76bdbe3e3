// SPDX-License-Identifier: Apache-2.0
// expect: wrong — the columns beyond a multiple of 16 are left out
#include <cmath>
#include <cstdint>

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  for (std::int64_t t = 0; t < T; ++t) {
    float m = -INFINITY, z = 0;
    for (std::int64_t d = 0; d < D; ++d) m = std::fmax(m, x[t * D + d]);
    for (std::int64_t d = 0; d < D; ++d) z += std::exp(x[t * D + d] - m);
    for (std::int64_t d = 0; d < D / 16 * 16; ++d) y[t * D + d] = std::exp(x[t * D + d] - m) / z;
  }
}
