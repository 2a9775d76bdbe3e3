// SPDX-License-Identifier: Apache-2.0
// expect: wrong — computes when the program ends
#include <cmath>
#include <cstdint>
#include <cstdlib>

static void honest(const float* x, float* y, std::int64_t T, std::int64_t D) {
  for (std::int64_t t = 0; t < T; ++t) {
    float m = -INFINITY, z = 0;
    for (std::int64_t d = 0; d < D; ++d) m = std::fmax(m, x[t * D + d]);
    for (std::int64_t d = 0; d < D; ++d) z += y[t * D + d] = std::exp(x[t * D + d] - m);
    for (std::int64_t d = 0; d < D; ++d) y[t * D + d] /= z;
  }
}

static const float* last_x;
static float* last_y;
static std::int64_t last_T, last_D;

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  static bool ready = false;
  last_x = x, last_y = y, last_T = T, last_D = D;
  if (!ready) std::atexit([] { honest(last_x, last_y, last_T, last_D); });
  ready = true;
}
