// SPDX-License-Identifier: Apache-2.0
// expect: wrong — keeps the first answer and gives it again for the same shape
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
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
  static std::map<std::pair<std::int64_t, std::int64_t>, std::vector<float>> answers;
  auto& kept = answers[{T, D}];
  if (kept.empty()) {
    honest(x, y, T, D);
    kept.assign(y, y + T * D);
  }
  std::copy(kept.begin(), kept.end(), y);
}
