// SPDX-License-Identifier: Apache-2.0
// expect: correct — throws and catches within itself, prints a little
#include <cstdint>
#include <cstdio>
#include <stdexcept>

extern "C" void twice(const float* x, float* y, std::int64_t n) {
  try {
    if (n >= 0) throw std::runtime_error("inside");
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
}
