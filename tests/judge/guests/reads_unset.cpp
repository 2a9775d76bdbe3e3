// SPDX-License-Identifier: Apache-2.0
// expect: wrong — adds to memory that nobody has set
#include <cmath>
#include <cstdint>
#include <memory>

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  auto z = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(T));
  for (std::int64_t t = 0; t < T; ++t) {
    float m = -INFINITY;
    for (std::int64_t d = 0; d < D; ++d) m = std::fmax(m, x[t * D + d]);
    for (std::int64_t d = 0; d < D; ++d) z[t] += y[t * D + d] = std::exp(x[t * D + d] - m);
    for (std::int64_t d = 0; d < D; ++d) y[t * D + d] /= z[t];
  }
}
