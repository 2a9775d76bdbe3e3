// SPDX-License-Identifier: Apache-2.0
// expect: crashed — inputs are sealed
#include <cstdint>

extern "C" void twice(const float* x, float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
  if (n > 0) const_cast<float*>(x)[0] = 1;
}
