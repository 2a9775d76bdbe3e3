// SPDX-License-Identifier: Apache-2.0
// expect: wrong — computes when its static objects are destroyed
#include <cmath>
#include <cstdint>

static void honest(const float* x, float* y, std::int64_t T, std::int64_t D) {
  for (std::int64_t t = 0; t < T; ++t) {
    float m = -INFINITY, z = 0;
    for (std::int64_t d = 0; d < D; ++d) m = std::fmax(m, x[t * D + d]);
    for (std::int64_t d = 0; d < D; ++d) z += y[t * D + d] = std::exp(x[t * D + d] - m);
    for (std::int64_t d = 0; d < D; ++d) y[t * D + d] /= z;
  }
}

struct Later {
  const float* x = nullptr;
  float* y = nullptr;
  std::int64_t T = 0, D = 0;
  ~Later() {
    if (y) honest(x, y, T, D);
  }
};
static Later later;

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  later.x = x, later.y = y, later.T = T, later.D = D;
}
