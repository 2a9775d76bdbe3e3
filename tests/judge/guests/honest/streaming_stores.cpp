// SPDX-License-Identifier: Apache-2.0
// expect: correct — prefetches, and writes past the caches
#include <immintrin.h>

#include <cmath>
#include <cstdint>
#include <vector>

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  std::vector<float> row(static_cast<std::size_t>(D));
  for (std::int64_t t = 0; t < T; ++t) {
    const float* in = x + t * D;
    float* out = y + t * D;
    float m = -INFINITY, z = 0;
    _mm_prefetch(reinterpret_cast<const char*>(in + D), _MM_HINT_T0);
    for (std::int64_t d = 0; d < D; ++d) m = std::fmax(m, in[d]);
    for (std::int64_t d = 0; d < D; ++d) z += row[static_cast<std::size_t>(d)] = std::exp(in[d] - m);
    for (std::int64_t d = 0; d < D; ++d) {
      float value = row[static_cast<std::size_t>(d)] / z;
      int bits;
      __builtin_memcpy(&bits, &value, sizeof bits);
      _mm_stream_si32(reinterpret_cast<int*>(out + d), bits);
    }
  }
  _mm_sfence();
}
