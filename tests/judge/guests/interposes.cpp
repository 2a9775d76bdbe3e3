// SPDX-License-Identifier: Apache-2.0
// expect: rejected system-call — brings its own version of what the runner uses
#include <cmath>
#include <cstdint>

static void honest(const float* x, float* y, std::int64_t T, std::int64_t D) {
  for (std::int64_t t = 0; t < T; ++t) {
    float m = -INFINITY, z = 0;
    for (std::int64_t d = 0; d < D; ++d) m = std::fmax(m, x[t * D + d]);
    for (std::int64_t d = 0; d < D; ++d) z += y[t * D + d] = std::exp(x[t * D + d] - m);
    for (std::int64_t d = 0; d < D; ++d) y[t * D + d] /= z;
  }
}

extern "C" long syscall(long, ...) { return 0; }

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) { honest(x, y, T, D); }
