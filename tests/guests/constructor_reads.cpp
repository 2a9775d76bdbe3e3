// SPDX-License-Identifier: Apache-2.0
// expect: crashed — looks for files while it is loaded
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

// What is readable while loading is the C and C++ runtime and the candidate itself.
__attribute__((constructor)) static void early() {
  for (const char* path : {"/etc/passwd", "/proc/self/mem", "/proc/1/environ",
                           "/sys/devices/system/cpu/present", "/usr/bin/env", "/dev/zero"})
    if (std::fopen(path, "r")) return;
  std::abort();  // nothing found
}

extern "C" void twice(const float* x, float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
}
