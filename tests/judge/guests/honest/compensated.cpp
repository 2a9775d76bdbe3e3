// SPDX-License-Identifier: Apache-2.0
// expect: correct — Kahan's sum
#include <cmath>
#include <cstdint>

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  for (std::int64_t t = 0; t < T; ++t) {
    const float* in = x + t * D;
    float* out = y + t * D;
    float m = -INFINITY, z = 0, lost = 0;
    for (std::int64_t d = 0; d < D; ++d) m = std::fmax(m, in[d]);
    for (std::int64_t d = 0; d < D; ++d) {
      float term = (out[d] = std::exp(in[d] - m)) - lost, next = z + term;
      lost = (next - z) - term;
      z = next;
    }
    for (std::int64_t d = 0; d < D; ++d) out[d] /= z;
  }
}
