// SPDX-License-Identifier: Apache-2.0
// expect: wrong — copies one row in a hundred from its neighbour
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

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  static std::uint64_t state = 88172645463325252u;
  honest(x, y, T, D);
  for (std::int64_t t = 1; t < T; ++t) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    if (state % 100 == 0)
      std::memcpy(y + t * D, y + (t - 1) * D, static_cast<std::size_t>(D) * sizeof(float));
  }
}
