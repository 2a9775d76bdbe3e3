// SPDX-License-Identifier: Apache-2.0
// expect: crashed — nobody to talk to
#include <sys/socket.h>

#include <cstdint>

extern "C" void twice(const float* x, float* y, std::int64_t n) {
  socket(AF_INET, SOCK_STREAM, 0);
  for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
}
