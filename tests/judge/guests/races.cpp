// SPDX-License-Identifier: Apache-2.0
// expect: wrong — two threads add to one sum without a word to each other
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

static void add(const float* x, volatile float* z, std::int64_t T, std::int64_t D, std::int64_t half) {
  for (int again = 0; again < 64; ++again)  // the same sum many times over, so that the threads meet
    for (std::int64_t t = 0; t < T; ++t)
      for (std::int64_t d = half; d < D; d += 2) z[t] = z[t] + std::exp(x[t * D + d]) / 64;
}

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  std::vector<float> z(static_cast<std::size_t>(T), 0.0f);
  std::thread other(add, x, z.data(), T, D, 1);
  add(x, z.data(), T, D, 0);
  other.join();
  for (std::int64_t t = 0; t < T; ++t)
    for (std::int64_t d = 0; d < D; ++d) y[t * D + d] = std::exp(x[t * D + d]) / z[t];
}
