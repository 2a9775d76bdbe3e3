// SPDX-License-Identifier: Apache-2.0
// expect: wrong — answers with what the launch before should have said
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

static void honest(const float* x, float* y, std::int64_t T, std::int64_t D) {
  for (std::int64_t t = 0; t < T; ++t) {
    float m = -INFINITY, z = 0;
    for (std::int64_t d = 0; d < D; ++d) m = std::fmax(m, x[t * D + d]);
    for (std::int64_t d = 0; d < D; ++d) z += y[t * D + d] = std::exp(x[t * D + d] - m);
    for (std::int64_t d = 0; d < D; ++d) y[t * D + d] /= z;
  }
}

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  static std::vector<float> kept;
  std::vector<float> next(static_cast<std::size_t>(T * D));
  honest(x, next.data(), T, D);
  if (kept.size() != next.size()) kept = next;
  std::copy(kept.begin(), kept.end(), y);
  kept = next;
}
