// SPDX-License-Identifier: Apache-2.0
// expect: out_of_memory — does not look at what malloc says
#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" void twice(const float* x, float* y, std::int64_t n) {
  for (;;) {
    auto* block = static_cast<volatile char*>(std::malloc(64 << 20));
    for (std::size_t i = 0; i < (64 << 20); i += 4096) block[i] = 1;
    y[0] = static_cast<float>(block[0]);
  }
  for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
}
