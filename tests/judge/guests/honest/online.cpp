// SPDX-License-Identifier: Apache-2.0
// expect: correct — maximum and sum in one pass
#include <cmath>
#include <cstdint>

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  for (std::int64_t t = 0; t < T; ++t) {
    float m = x[t * D], z = 0;
    for (std::int64_t d = 0; d < D; ++d) {
      float v = x[t * D + d];
      if (v > m) z *= std::exp(m - v), m = v;
      z += std::exp(v - m);
    }
    for (std::int64_t d = 0; d < D; ++d) y[t * D + d] = std::exp(x[t * D + d] - m) / z;
  }
}
