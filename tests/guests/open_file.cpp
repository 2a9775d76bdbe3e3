// SPDX-License-Identifier: Apache-2.0
// expect: crashed — no files once kernels run
#include <cstdint>
#include <cstdio>

extern "C" void twice(const float* x, float* y, std::int64_t n) {
  if (std::FILE* file = std::fopen("/etc/passwd", "r")) std::fclose(file);
  for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
}
