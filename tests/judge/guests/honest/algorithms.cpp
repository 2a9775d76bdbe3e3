// SPDX-License-Identifier: Apache-2.0
// expect: correct — the standard library's algorithms and lambdas
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  for (std::int64_t t = 0; t < T; ++t) {
    const float* in = x + t * D;
    float* out = y + t * D;
    float m = *std::max_element(in, in + D);
    std::function<float(float)> shifted = [m](float value) { return std::exp(value - m); };
    std::transform(in, in + D, out, shifted);
    float z = std::accumulate(out, out + D, 0.0f);
    std::for_each(out, out + D, [z](float& value) { value /= z; });
  }
}
