// SPDX-License-Identifier: Apache-2.0
// expect: wrong — copies what the launch before wrote
#include <cmath>
#include <cstdint>
#include <cstring>

static void honest(const float* x, float* y, std::int64_t T, std::int64_t D) {
  for (std::int64_t t = 0; t < T; ++t) {
    float m = -INFINITY, z = 0;
    for (std::int64_t d = 0; d < D; ++d) m = std::fmax(m, x[t * D + d]);
    for (std::int64_t d = 0; d < D; ++d) z += y[t * D + d] = std::exp(x[t * D + d] - m);
    for (std::int64_t d = 0; d < D; ++d) y[t * D + d] /= z;
  }
}

static float* before = nullptr;
static std::int64_t size = 0;

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  if (before && size == T * D && before != y)
    std::memcpy(y, before, static_cast<std::size_t>(size) * sizeof(float));
  else
    honest(x, y, T, D);
  before = y, size = T * D;
}
