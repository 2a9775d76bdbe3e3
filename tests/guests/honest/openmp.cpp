// SPDX-License-Identifier: Apache-2.0
// expect: correct — threads that end their work before the function returns
#include <cstdint>

extern "C" void twice(const float* x, float* y, std::int64_t n) {
#pragma omp parallel for
  for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
}
