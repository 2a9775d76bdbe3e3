// SPDX-License-Identifier: Apache-2.0
// expect: crashed — more threads than it may have
#include <cstdint>
#include <thread>

extern "C" void twice(const float* x, float* y, std::int64_t n) {
  for (;;)
    std::thread([] {
      for (volatile bool on = true; on;) std::this_thread::yield();
    }).detach();
  for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
}
