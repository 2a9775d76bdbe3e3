// SPDX-License-Identifier: Apache-2.0
// expect: crashed — inputs cannot be made writable either
#include <sys/mman.h>

#include <cstdint>

extern "C" void twice(const float* x, float* y, std::int64_t n) {
  auto page = reinterpret_cast<std::uintptr_t>(x) & ~std::uintptr_t{4095};
  mprotect(reinterpret_cast<void*>(page), 4096, PROT_READ | PROT_WRITE);
  for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
  if (n > 0) const_cast<float*>(x)[0] = 1;
}
