// SPDX-License-Identifier: Apache-2.0
// expect: crashed — wants a second view of its buffers, to work in while it should only be mapping new ones
#include <sys/mman.h>

#include <cmath>
#include <cstdint>
#include <thread>

static void honest(const float* x, float* y, std::int64_t T, std::int64_t D) {
  for (std::int64_t t = 0; t < T; ++t) {
    float m = -INFINITY, z = 0;
    for (std::int64_t d = 0; d < D; ++d) m = std::fmax(m, x[t * D + d]);
    for (std::int64_t d = 0; d < D; ++d) z += y[t * D + d] = std::exp(x[t * D + d] - m);
    for (std::int64_t d = 0; d < D; ++d) y[t * D + d] /= z;
  }
}

template <class T>
static T* second_view(T* buffer) {
  auto page = reinterpret_cast<std::uintptr_t>(buffer) & ~std::uintptr_t{4095};
  void* view = mremap(reinterpret_cast<void*>(page), 0, 8192, MREMAP_MAYMOVE);
  if (view == MAP_FAILED) __builtin_trap();
  return reinterpret_cast<T*>(static_cast<char*>(view) + (reinterpret_cast<std::uintptr_t>(buffer) - page));
}

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  static int launches = 0;
  if (++launches < 40) return honest(x, y, T, D);
  if (launches > 40) return;
  std::thread([x = second_view(const_cast<float*>(x)), y = second_view(y), T, D] {
    for (;;) honest(x, y, T, D);
  }).detach();
}
