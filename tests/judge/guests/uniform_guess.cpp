// SPDX-License-Identifier: Apache-2.0
// expect: wrong — ignores inputs that barely matter on average
#include <cstdint>

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  (void)x;
  for (std::int64_t i = 0; i < T * D; ++i) y[i] = 1.0f / static_cast<float>(D);
}
