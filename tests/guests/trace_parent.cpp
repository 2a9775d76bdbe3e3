// SPDX-License-Identifier: Apache-2.0
// expect: crashed — ptrace
#include <sys/ptrace.h>
#include <unistd.h>

#include <cstdint>

extern "C" void twice(const float* x, float* y, std::int64_t n) {
  ptrace(PTRACE_ATTACH, getppid(), nullptr, nullptr);
  for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
}
