// SPDX-License-Identifier: Apache-2.0
// expect: crashed — stops itself, so that the judge finds it frozen
#include <signal.h>
#include <unistd.h>

#include <cstdint>

extern "C" void twice(const float* x, float* y, std::int64_t n) {
  kill(getpid(), SIGSTOP);
  for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
}
