// SPDX-License-Identifier: Apache-2.0
// expect: correct — several passes over the output, which holds other things meanwhile
#include <algorithm>
#include <cmath>
#include <cstdint>

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  for (std::int64_t t = 0; t < T; ++t) {
    const float* in = x + t * D;
    float* out = y + t * D;
    std::copy(in, in + D, out);
    for (std::int64_t width = D; width > 1; width = (width + 1) / 2)  // the maximum, by folding
      for (std::int64_t d = 0; d < width / 2; ++d) out[d] = std::fmax(out[d], out[width - 1 - d]);
    float m = out[0], z = 0;
    for (std::int64_t d = 0; d < D; ++d) z += out[d] = std::exp(in[d] - m);
    for (std::int64_t d = 0; d < D; ++d) out[d] /= z;
  }
}
