// SPDX-License-Identifier: Apache-2.0
// expect: crashed — starts a program while it is loaded
#include <unistd.h>

#include <cstdint>

__attribute__((constructor)) static void early() { execl("/bin/sh", "sh", nullptr); }

extern "C" void twice(const float* x, float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
}
