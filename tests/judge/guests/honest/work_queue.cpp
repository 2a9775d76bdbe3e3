// SPDX-License-Identifier: Apache-2.0
// expect: correct — threads that take rows from a counter, and are joined
#include <atomic>
#include <cmath>
#include <cstdint>
#include <thread>

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  std::atomic<std::int64_t> next{0};
  auto work = [&] {
    for (std::int64_t t; (t = next.fetch_add(1)) < T;) {
      float m = -INFINITY, z = 0;
      for (std::int64_t d = 0; d < D; ++d) m = std::fmax(m, x[t * D + d]);
      for (std::int64_t d = 0; d < D; ++d) z += y[t * D + d] = std::exp(x[t * D + d] - m);
      for (std::int64_t d = 0; d < D; ++d) y[t * D + d] /= z;
    }
  };
  std::jthread other(work);
  work();
}
