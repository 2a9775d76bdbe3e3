// SPDX-License-Identifier: Apache-2.0
// expect: correct — threads of its own, joined; asks how many processors there are
#include <cstdint>
#include <thread>

extern "C" void twice(const float* x, float* y, std::int64_t n) {
  std::int64_t middle = std::thread::hardware_concurrency() > 0 ? n / 2 : 0;
  std::thread first([=] {
    for (std::int64_t i = 0; i < middle; ++i) y[i] = 2 * x[i];
  });
  for (std::int64_t i = middle; i < n; ++i) y[i] = 2 * x[i];
  first.join();
}
