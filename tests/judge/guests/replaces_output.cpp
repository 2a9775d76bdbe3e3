// SPDX-License-Identifier: Apache-2.0
// expect: crashed or wrong — puts memory of its own where the output was
#include <sys/mman.h>

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
  auto page = reinterpret_cast<std::uintptr_t>(y) & ~std::uintptr_t{4095};
  mmap(reinterpret_cast<void*>(page), 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
       -1, 0);
  honest(x, y, T, D);
}
