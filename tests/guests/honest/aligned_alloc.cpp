// SPDX-License-Identifier: Apache-2.0
// expect: correct — aligned scratch, freed again
#include <cstdint>
#include <cstdlib>

extern "C" void twice(const float* x, float* y, std::int64_t n) {
  auto bytes = (static_cast<std::size_t>(n) * sizeof(float) + 127) / 64 * 64;
  auto* scratch = static_cast<float*>(std::aligned_alloc(64, bytes));
  for (std::int64_t i = 0; i < n; ++i) scratch[i] = 2 * x[i];
  for (std::int64_t i = 0; i < n; ++i) y[i] = scratch[i];
  std::free(scratch);
}
