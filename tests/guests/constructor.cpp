// SPDX-License-Identifier: Apache-2.0
// expect: crashed — before any kernel is called
#include <cstdint>

static int* volatile nowhere = nullptr;

__attribute__((constructor)) static void early() { *nowhere = 0; }

extern "C" void twice(const float* x, float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
}
