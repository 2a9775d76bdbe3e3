// SPDX-License-Identifier: Apache-2.0
// expect: crashed — starts a process by a system call that no symbol shows
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

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  long result;
  asm volatile(".byte 0x0f, 0x05" : "=a"(result) : "a"(57L) : "rcx", "r11", "memory");
  if (result != 0) honest(x, y, T, D);
}
