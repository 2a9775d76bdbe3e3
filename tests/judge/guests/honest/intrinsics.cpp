// SPDX-License-Identifier: Apache-2.0
// expect: correct — AVX2 where there is, a plain loop elsewhere
#include <immintrin.h>

#include <cmath>
#include <cstdint>

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  for (std::int64_t t = 0; t < T; ++t) {
    const float* in = x + t * D;
    float* out = y + t * D;
    float m = -INFINITY, z = 0;
    std::int64_t d = 0;
#ifdef __AVX2__
    __m256 most = _mm256_set1_ps(-INFINITY);
    for (; d + 8 <= D; d += 8) most = _mm256_max_ps(most, _mm256_loadu_ps(in + d));
    alignas(32) float lanes[8];
    _mm256_store_ps(lanes, most);
    for (float lane : lanes) m = std::fmax(m, lane);
#endif
    for (; d < D; ++d) m = std::fmax(m, in[d]);
    for (d = 0; d < D; ++d) z += out[d] = std::exp(in[d] - m);
    float scale = 1 / z;
    d = 0;
#ifdef __AVX2__
    for (; d + 8 <= D; d += 8)
      _mm256_storeu_ps(out + d, _mm256_mul_ps(_mm256_loadu_ps(out + d), _mm256_set1_ps(scale)));
#endif
    for (; d < D; ++d) out[d] *= scale;
  }
}
