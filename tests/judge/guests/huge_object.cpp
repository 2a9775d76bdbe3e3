// SPDX-License-Identifier: Apache-2.0
// expect: compile_error or rejected — an object file that would fill the disk
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

char filler[6ull << 30] = {1};

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  honest(x, y, T, D);
  y[0] += static_cast<float>(filler[T + 1]);
}
