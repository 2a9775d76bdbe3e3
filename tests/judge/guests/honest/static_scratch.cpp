// SPDX-License-Identifier: Apache-2.0
// expect: correct — memory that is kept from launch to launch
#include <cmath>
#include <cstdint>
#include <vector>

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  static std::vector<float> row;
  row.resize(static_cast<std::size_t>(D));
  for (std::int64_t t = 0; t < T; ++t) {
    float m = -INFINITY, z = 0;
    for (std::int64_t d = 0; d < D; ++d) m = std::fmax(m, x[t * D + d]);
    for (std::int64_t d = 0; d < D; ++d) z += row[static_cast<std::size_t>(d)] = std::exp(x[t * D + d] - m);
    for (std::int64_t d = 0; d < D; ++d) y[t * D + d] = row[static_cast<std::size_t>(d)] / z;
  }
}
