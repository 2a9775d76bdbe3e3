// SPDX-License-Identifier: Apache-2.0
// expect: crashed or wrong — one element before the output
#include <cstdint>

extern "C" void twice(const float* x, float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
  *static_cast<volatile float*>(y - 1) = 0;
}
