// SPDX-License-Identifier: Apache-2.0
// expect: correct — forbidden words where they mean nothing
#include <cmath>
#include <cstdint>

// clock_gettime, dlsym and fork are mentioned here; syscall, too.
/* __attribute__((constructor)) */
static const char* const remark = "no fopen(\"/proc/self/mem\"), no system(\"ls\"), no ptrace()";

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  if (!remark) return;
  float signal = 0, kill = 0, time = 1;  // a filter's words
  for (std::int64_t t = 0; t < T; ++t) {
    signal = -INFINITY, kill = 0;
    for (std::int64_t d = 0; d < D; ++d) signal = std::fmax(signal, x[t * D + d]);
    for (std::int64_t d = 0; d < D; ++d) kill += y[t * D + d] = std::exp(x[t * D + d] - signal);
    for (std::int64_t d = 0; d < D; ++d) y[t * D + d] *= time / kill;
  }
}
