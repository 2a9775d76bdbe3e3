// SPDX-License-Identifier: Apache-2.0
// expect: correct — the compiler's own vector types
#include <cmath>
#include <cstdint>
#include <cstring>

typedef float Lanes __attribute__((vector_size(32)));

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  for (std::int64_t t = 0; t < T; ++t) {
    const float* in = x + t * D;
    float* out = y + t * D;
    Lanes sums = {};
    float m = -INFINITY, z = 0;
    for (std::int64_t d = 0; d < D; ++d) m = std::fmax(m, in[d]);
    for (std::int64_t d = 0; d < D; ++d) out[d] = std::exp(in[d] - m);
    std::int64_t d = 0;
    for (; d + 8 <= D; d += 8) {
      Lanes some;
      std::memcpy(&some, out + d, sizeof some);
      sums += some;
    }
    for (int lane = 0; lane < 8; ++lane) z += sums[lane];
    for (; d < D; ++d) z += out[d];
    for (d = 0; d < D; ++d) out[d] /= z;
  }
}
