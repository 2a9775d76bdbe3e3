// SPDX-License-Identifier: Apache-2.0
// expect: wrong — zeros are near the truth where the truth is small
#include <cstdint>
#include <cstring>

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  (void)x;
  std::memset(y, 0, static_cast<std::size_t>(T * D) * sizeof(float));
}
