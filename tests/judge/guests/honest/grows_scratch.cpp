// SPDX-License-Identifier: Apache-2.0
// expect: correct — scratch that grows by realloc
#include <cmath>
#include <cstdint>
#include <cstdlib>

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  static float* row = nullptr;
  for (std::int64_t size = 16; size <= (1 << 20); size *= 2)
    row = static_cast<float*>(std::realloc(row, static_cast<std::size_t>(size + D) * 4));
  for (std::int64_t t = 0; t < T; ++t) {
    const float* in = x + t * D;
    float* out = y + t * D;
    float m = -INFINITY, z = 0;
    for (std::int64_t d = 0; d < D; ++d) m = std::fmax(m, in[d]);
    for (std::int64_t d = 0; d < D; ++d) z += row[d] = std::exp(in[d] - m);
    for (std::int64_t d = 0; d < D; ++d) out[d] = row[d] / z;
  }
}
