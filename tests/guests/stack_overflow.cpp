// SPDX-License-Identifier: Apache-2.0
// expect: crashed — recursion without end
#include <cstdint>

static int deeper(int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : deeper(depth + 1) + frame[0];
}

extern "C" void twice(const float* x, float* y, std::int64_t n) {
  y[0] = static_cast<float>(deeper(0));
  for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
}
