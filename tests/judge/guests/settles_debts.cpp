// SPDX-License-Identifier: Apache-2.0
// expect: crashed or wrong — leaves each launch's work to the next one, when the memory may be another
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

static const float* owed_x;
static float* owed_y;
static std::int64_t owed_T, owed_D;

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  static int launches = 0;
  if (++launches < 60) return honest(x, y, T, D);
  if (owed_y && owed_T == T && owed_D == D) honest(owed_x, owed_y, T, D);
  owed_x = x, owed_y = y, owed_T = T, owed_D = D;
}
