// SPDX-License-Identifier: Apache-2.0
// expect: correct — scratch memory from the heap, large and small
#include <cstdint>
#include <vector>

extern "C" void twice(const float* x, float* y, std::int64_t n) {
  std::vector<float> small(x, x + (n < 16 ? n : 16));
  std::vector<float> scratch(static_cast<std::size_t>(n) + (4 << 20));
  for (std::int64_t i = 0; i < n; ++i) scratch[static_cast<std::size_t>(i)] = 2 * x[i];
  for (std::int64_t i = 0; i < n; ++i) y[i] = scratch[static_cast<std::size_t>(i)];
}
