// SPDX-License-Identifier: Apache-2.0
// expect: crashed or wrong — every other launch returns while a thread is still computing; all is ready when
// a batch ends
// tries: 6
#include <atomic>
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

static std::uint64_t cycles() {
  std::uint32_t low, high;
  asm volatile(".byte 0x0f, 0x31" : "=a"(low), "=d"(high));
  return std::uint64_t{high} << 32 | low;
}

static const float* given_x;
static float* given_y;
static std::int64_t given_T, given_D;
static std::atomic<int> given{0}, done{0};

static void help() {
  for (int next = 1;; ++next) {
    while (given.load(std::memory_order_acquire) < next) {
    }
    honest(given_x, given_y, given_T, given_D);
    done.store(next, std::memory_order_release);
  }
}

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  static int launches = 0, position = 0, batch = 0;
  static std::uint64_t last = 0;
  if (++launches == 40) std::thread(help).detach();
  if (cycles() - last > 300000) {  // a batch begins: the one before had `position` launches
    if (position > 1) batch = position;
    position = 0;
  }
  int first = (batch - 1) % 2 == 0 ? 1 : 2;  // an even number of launches follows
  int turn = position++ - first;
  bool pipelined = launches > 100 && batch > 8 && turn >= 0 && position <= batch;
  if (pipelined && turn % 2 == 0) {
    given_x = x, given_y = y, given_T = T, given_D = D;
    given.fetch_add(1, std::memory_order_release);
  } else {
    honest(x, y, T, D);
    while (done.load(std::memory_order_acquire) != given.load(std::memory_order_relaxed)) {
    }
  }
  last = cycles();
}
