// SPDX-License-Identifier: Apache-2.0
// expect: wrong — no maximum subtracted: right on tame inputs only
#include <cmath>
#include <cstdint>

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  for (std::int64_t t = 0; t < T; ++t) {
    float z = 0;
    for (std::int64_t d = 0; d < D; ++d) z += y[t * D + d] = std::exp(x[t * D + d]);
    for (std::int64_t d = 0; d < D; ++d) y[t * D + d] /= z;
  }
}
