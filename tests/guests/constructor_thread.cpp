// SPDX-License-Identifier: Apache-2.0
// expect: crashed — a thread from before the kernels ran keeps the freedoms of loading
#include <fcntl.h>

#include <atomic>
#include <cstdint>
#include <thread>

static std::atomic<int> attempts;

__attribute__((constructor)) static void early() {
  std::thread([] {
    for (;;) {
      open("/etc/passwd", O_RDONLY);
      ++attempts;
    }
  }).detach();
}

extern "C" void twice(const float* x, float* y, std::int64_t n) {
  for (int seen = attempts; attempts < seen + 2;) std::this_thread::yield();
  for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
}
