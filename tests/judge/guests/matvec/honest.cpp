// SPDX-License-Identifier: Apache-2.0
// expect: correct — an honest kernel, the incumbent of this folder's guests
#include <cstdint>
extern "C" void matvec(const float* A, const float* x, float* y, std::int64_t M, std::int64_t K) {
  for (std::int64_t m = 0; m < M; ++m) {
    float s = 0;
    for (std::int64_t k = 0; k < K; ++k) s += A[m * K + k] * x[k];
    y[m] = s;
  }
}
