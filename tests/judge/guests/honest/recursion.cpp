// SPDX-License-Identifier: Apache-2.0
// expect: correct — sums by halves, recursively
#include <cmath>
#include <cstdint>

static float sum(const float* values, std::int64_t count) {
  if (count < 8) {
    float total = 0;
    for (std::int64_t i = 0; i < count; ++i) total += values[i];
    return total;
  }
  return sum(values, count / 2) + sum(values + count / 2, count - count / 2);
}

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  for (std::int64_t t = 0; t < T; ++t) {
    const float* in = x + t * D;
    float* out = y + t * D;
    float m = -INFINITY;
    for (std::int64_t d = 0; d < D; ++d) m = std::fmax(m, in[d]);
    for (std::int64_t d = 0; d < D; ++d) out[d] = std::exp(in[d] - m);
    float z = sum(out, D);
    for (std::int64_t d = 0; d < D; ++d) out[d] /= z;
  }
}
