// SPDX-License-Identifier: Apache-2.0
// expect: crashed — code made at run time
#include <sys/mman.h>

#include <cstdint>

extern "C" void twice(const float* x, float* y, std::int64_t n) {
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  y[0] = page == MAP_FAILED ? 1.0f : 2.0f;
  for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
}
