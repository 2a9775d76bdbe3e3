// SPDX-License-Identifier: Apache-2.0
// expect: wrong — a thread left behind writes the output when nobody looks
#include <cstdint>
#include <thread>

extern "C" void twice(const float* x, float* y, std::int64_t n) {
  std::thread([=] {
    for (;;)
      for (std::int64_t i = 0; i < n; ++i) static_cast<volatile float*>(y)[i] = 2 * x[i];
  }).detach();
}
