// SPDX-License-Identifier: Apache-2.0
// expect: correct — a parallel region with dynamic sharing, a critical section and a reduction
#include <cmath>
#include <cstdint>

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  double total = 0;
#pragma omp parallel reduction(+ : total)
  {
#pragma omp for schedule(dynamic, 1) nowait
    for (std::int64_t t = 0; t < T; ++t) {
      const float* in = x + t * D;
      float* out = y + t * D;
      float m = -INFINITY, z = 0;
#pragma omp simd reduction(max : m)
      for (std::int64_t d = 0; d < D; ++d) m = m > in[d] ? m : in[d];
#pragma omp simd reduction(+ : z)
      for (std::int64_t d = 0; d < D; ++d) z += out[d] = std::exp(in[d] - m);
      for (std::int64_t d = 0; d < D; ++d) out[d] *= 1 / z;
      total += z;
    }
  }
  if (total < 0) y[0] = 0;
}
