// SPDX-License-Identifier: Apache-2.0
// expect: correct slower — a thread left behind sweeps the caches; it is frozen while others are timed
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

static void honest(const float* x, float* y, std::int64_t T, std::int64_t D) {
  for (std::int64_t t = 0; t < T; ++t) {
    float m = -INFINITY, z = 0;
    for (std::int64_t d = 0; d < D; ++d) m = std::fmax(m, x[t * D + d]);
    for (std::int64_t d = 0; d < D; ++d) z += y[t * D + d] = std::exp(x[t * D + d] - m);
    for (std::int64_t d = 0; d < D; ++d) y[t * D + d] /= z;
  }
}

static void sweep() {
  std::vector<int> words(16 << 20);
  for (unsigned seed = 1;;)
    for (auto& word : words) word = static_cast<int>(seed = seed * 1664525u + 1013904223u);
}

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  static bool started = false;
  if (!started) std::thread(sweep).detach();
  started = true;
  honest(x, y, T, D);
}
