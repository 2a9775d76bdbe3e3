// SPDX-License-Identifier: Apache-2.0
// expect: crashed — /proc/self/mem would undo read-only inputs
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>

extern "C" void twice(const float* x, float* y, std::int64_t n) {
  int file = open("/proc/self/mem", O_RDWR);
  if (file >= 0) close(file);
  for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
}
