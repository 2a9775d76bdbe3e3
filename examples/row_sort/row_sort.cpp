// SPDX-License-Identifier: Apache-2.0
// Insertion sort of short runs, then merges of doubling width between the row and a scratch row.
#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

void insertion_sort(float* first, float* last) {
  for (float* at = first + 1; at < last; ++at) {
    float value = *at;
    float* hole = at;
    for (; hole > first && hole[-1] > value; --hole) *hole = hole[-1];
    *hole = value;
  }
}

void sort_row(float* row, float* scratch, int64_t n) {
  for (int64_t begin = 0; begin < n; begin += RUN) insertion_sort(row + begin, row + std::min<int64_t>(begin + RUN, n));
  float *from = row, *to = scratch;
  for (int64_t width = RUN; width < n; width *= 2, std::swap(from, to))
    for (int64_t begin = 0; begin < n; begin += 2 * width) {
      int64_t middle = std::min(begin + width, n), end = std::min(begin + 2 * width, n);
      std::merge(from + begin, from + middle, from + middle, from + end, to + begin);
    }
  if (from != row) std::copy(from, from + n, row);
}

}  // namespace

extern "C" void row_sort(const float* x, float* y, int64_t T, int64_t D) {
#pragma omp parallel num_threads(THREADS)
  {
    std::vector<float> scratch(static_cast<std::size_t>(D));
#pragma omp for
    for (int64_t t = 0; t < T; ++t) {
      std::copy(x + t * D, x + (t + 1) * D, y + t * D);
      sort_row(y + t * D, scratch.data(), D);
    }
  }
}
