// SPDX-License-Identifier: Apache-2.0
// expect: wrong — skips work when launches follow each other quickly, by a cycle counter that no symbol shows
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

static std::uint64_t cycles() {
  std::uint32_t low, high;
  asm volatile(".byte 0x0f, 0x31" : "=a"(low), "=d"(high));
  return std::uint64_t{high} << 32 | low;
}

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  static std::uint64_t last = 0;
  std::uint64_t now = cycles();
  bool quick = last != 0 && now - last < 200000;
  honest(x, y, quick ? T / 2 : T, D);
  last = cycles();
}
