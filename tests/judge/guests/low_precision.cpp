// SPDX-License-Identifier: Apache-2.0
// expect: wrong — drops to the precision of bf16
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

static float cut(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits &= 0xFFFF0000u;
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  honest(x, y, T, D);
  for (std::int64_t i = 0; i < T * D; ++i) y[i] = cut(y[i]);
}
