// SPDX-License-Identifier: Apache-2.0
// expect: crashed — integer division by zero
#include <cstdint>

extern "C" void twice(const float* x, float* y, std::int64_t n) {
  volatile int zero = 0;
  volatile int quotient = 7 / zero;
  y[0] = static_cast<float>(quotient);
  for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
}
