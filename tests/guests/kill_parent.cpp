// SPDX-License-Identifier: Apache-2.0
// expect: crashed — signals to others
#include <signal.h>
#include <unistd.h>

#include <cstdint>

extern "C" void twice(const float* x, float* y, std::int64_t n) {
  kill(getppid(), SIGKILL);
  for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
}
