// SPDX-License-Identifier: Apache-2.0
// expect: crashed — memory that no limit counts
#include <sys/mman.h>

#include <cstdint>
#include <cstring>

extern "C" void twice(const float* x, float* y, std::int64_t n) {
  for (int i = 0; i < 1000; ++i) {
    void* block = mmap(nullptr, 64 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (block != MAP_FAILED) std::memset(block, 1, 64 << 20);
  }
  for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
}
