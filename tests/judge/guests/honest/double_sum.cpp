// SPDX-License-Identifier: Apache-2.0
// expect: correct — more precise than asked
#include <cmath>
#include <cstdint>

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  for (std::int64_t t = 0; t < T; ++t) {
    double m = -INFINITY, z = 0;
    for (std::int64_t d = 0; d < D; ++d) m = std::fmax(m, static_cast<double>(x[t * D + d]));
    for (std::int64_t d = 0; d < D; ++d) z += std::exp(x[t * D + d] - m);
    for (std::int64_t d = 0; d < D; ++d) y[t * D + d] = static_cast<float>(std::exp(x[t * D + d] - m) / z);
  }
}
