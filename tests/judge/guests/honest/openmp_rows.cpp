// SPDX-License-Identifier: Apache-2.0
// expect: correct — rows shared among OpenMP's threads
#include <cmath>
#include <cstdint>

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
#pragma omp parallel for schedule(static)
  for (std::int64_t t = 0; t < T; ++t) {
    const float* in = x + t * D;
    float* out = y + t * D;
    float m = -INFINITY, z = 0;
    for (std::int64_t d = 0; d < D; ++d) m = std::fmax(m, in[d]);
    for (std::int64_t d = 0; d < D; ++d) z += out[d] = std::exp(in[d] - m);
    for (std::int64_t d = 0; d < D; ++d) out[d] /= z;
  }
}
