// SPDX-License-Identifier: Apache-2.0
// expect: correct — scratch of each thread, kept from launch to launch
#include <cmath>
#include <cstdint>
#include <vector>

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
#pragma omp parallel for
  for (std::int64_t t = 0; t < T; ++t) {
    const float* in = x + t * D;
    float* out = y + t * D;
    thread_local std::vector<float> row;
    row.resize(static_cast<std::size_t>(D));
    float m = -INFINITY, z = 0;
    for (std::int64_t d = 0; d < D; ++d) m = std::fmax(m, in[d]);
    for (std::int64_t d = 0; d < D; ++d) z += row[static_cast<std::size_t>(d)] = std::exp(in[d] - m);
    for (std::int64_t d = 0; d < D; ++d) out[d] = row[static_cast<std::size_t>(d)] / z;
  }
}
