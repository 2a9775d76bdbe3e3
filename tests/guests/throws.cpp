// SPDX-License-Identifier: Apache-2.0
// expect: crashed — an exception nobody catches
#include <cstdint>
#include <stdexcept>

extern "C" void twice(const float* x, float* y, std::int64_t n) {
  if (n >= 0) throw std::runtime_error("not caught");
  for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
}
