// SPDX-License-Identifier: Apache-2.0
// expect: out_of_memory — more than any limit, all of it touched
#include <cstdint>
#include <cstring>

extern "C" void twice(const float* x, float* y, std::int64_t n) {
  for (;;) {
    char* block = new char[64 << 20];
    std::memset(block, 1, 64 << 20);
    y[0] = static_cast<float>(*static_cast<volatile char*>(block));
  }
  for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
}
