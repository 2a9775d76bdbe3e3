// SPDX-License-Identifier: Apache-2.0
// expect: correct — methods that share names with system calls
#include <cmath>
#include <cstdint>

struct Row {
  const float* x;
  float* y;
  std::int64_t size;
  float peak = -INFINITY, total = 0;
  float open(std::int64_t d) const { return std::exp(x[d] - peak); }
};

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  for (std::int64_t t = 0; t < T; ++t) {
    Row row{x + t * D, y + t * D, D};
    for (std::int64_t d = 0; d < D; ++d) row.peak = std::fmax(row.peak, row.x[d]);
    for (std::int64_t d = 0; d < D; ++d) row.total += row.open(d);
    for (std::int64_t d = 0; d < D; ++d) row.y[d] = row.open(d) / row.total;
  }
}
