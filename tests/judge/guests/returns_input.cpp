// SPDX-License-Identifier: Apache-2.0
// expect: wrong — gives the input back
#include <cstdint>
#include <cstring>

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  std::memcpy(y, x, static_cast<std::size_t>(T * D) * sizeof(float));
}
