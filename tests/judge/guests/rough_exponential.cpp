// SPDX-License-Identifier: Apache-2.0
// expect: wrong — an exponential that is right within 3 %
#include <cmath>
#include <cstdint>
#include <cstring>

static float quick(float value) {  // Schraudolph: an exponential by its exponent bits alone
  auto bits = static_cast<std::int32_t>(12102203.0f * value + 1064866805.0f);
  if (bits < 0) bits = 0;
  float result;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  for (std::int64_t t = 0; t < T; ++t) {
    float m = -INFINITY, z = 0;
    for (std::int64_t d = 0; d < D; ++d) m = std::fmax(m, x[t * D + d]);
    for (std::int64_t d = 0; d < D; ++d) z += y[t * D + d] = quick(x[t * D + d] - m);
    for (std::int64_t d = 0; d < D; ++d) y[t * D + d] /= z;
  }
}
