// SPDX-License-Identifier: Apache-2.0
// expect: correct — a buffer kept per thread between calls
#include <cstdint>

static thread_local float block[256];

extern "C" void twice(const float* x, float* y, std::int64_t n) {
#pragma omp parallel for schedule(static)
  for (std::int64_t b = 0; b < (n + 255) / 256; ++b) {
    std::int64_t first = b * 256, count = n - first < 256 ? n - first : 256;
    for (std::int64_t i = 0; i < count; ++i) block[i] = 2 * x[first + i];
    for (std::int64_t i = 0; i < count; ++i) y[first + i] = block[i];
  }
}
