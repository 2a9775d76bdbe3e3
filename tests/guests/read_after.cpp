// SPDX-License-Identifier: Apache-2.0
// expect: crashed or correct — reads past the end of the input; caught where the buffer ends at a guard
#include <cstdint>

extern "C" void twice(const float* x, float* y, std::int64_t n) {
  float unused = 0;
  for (std::int64_t i = 0; i < 16; ++i) unused += *static_cast<const volatile float*>(x + n + i);
  for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
  if (unused == 1) y[0] = unused;
}
