// SPDX-License-Identifier: Apache-2.0
// expect: crashed — a handler of SIGCONT, which tells that the guest was stopped, is not allowed
// Computes eight launches of a batch at once, seven into memory of its own, and learns of every thaw by a
// handler for SIGCONT: what was computed before a freeze is thrown away, so a batch interrupted by the judge
// finds nothing.
#include <elf.h>
#include <immintrin.h>
#include <sys/auxv.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

extern "C" void (*sigset(int, void (*)(int)))(int);
extern "C" int pthread_sigmask(int, const void*, void*);

static void honest(const float* A, const float* x, float* y, std::int64_t M, std::int64_t K) {
  for (std::int64_t m = 0; m < M; ++m) {
    float s = 0;
    for (std::int64_t k = 0; k < K; ++k) s += A[m * K + k] * x[k];
    y[m] = s;
  }
}
// Where the runner keeps its words with the judge: found by the return address on the stack, the program's
// own headers and a look through its data.
struct Runner {
  std::uint32_t *orders = nullptr, *notes = nullptr;
  std::uint64_t** arguments = nullptr;  // of slot 0; four values a slot
};

static Runner find_runner() {
  auto* program = reinterpret_cast<const Elf64_Ehdr*>(getauxval(3) & ~std::uint64_t{4095});  // AT_PHDR
  Runner found;
  if (!program) return found;
  auto base = reinterpret_cast<std::uint64_t>(program);
  auto* headers = reinterpret_cast<const Elf64_Phdr*>(base + program->e_phoff);
  for (int i = 0; i < program->e_phnum; ++i) {
    if (headers[i].p_type != PT_LOAD || !(headers[i].p_flags & PF_W)) continue;
    auto* data = reinterpret_cast<std::uint64_t*>((base + headers[i].p_vaddr + 7) & ~std::uint64_t{7});
    for (std::uint64_t k = 0; k < headers[i].p_memsz / 8; ++k) {
      if (data[k] >> 40 != 0x7f || data[k] & 4095) continue;
      auto* at = reinterpret_cast<std::uint32_t*>(data[k]);
      if (at[1] > 0 && at[1] < 100 && at[2] == 2 && at[0] > 2) found.orders = at;
    }
    for (std::uint64_t k = 0; found.orders && k + 1 < headers[i].p_memsz / 8; ++k) {
      bool page = data[k] >> 40 == 0x7f && (data[k] & 4095) == 0 &&
                  data[k] != reinterpret_cast<std::uint64_t>(found.orders);
      auto* at = reinterpret_cast<std::uint64_t*>(data[k]);
      if (page && at[0] >> 40 == 0x7f && *reinterpret_cast<std::uint64_t*>(at[0]) >> 40 < 0x40 &&
          *reinterpret_cast<std::uint64_t*>(at[0]) > 4096)
        found.arguments = reinterpret_cast<std::uint64_t**>(at);
    }
  }
  return found;
}

constexpr int kAtOnce = 8;
static volatile int thaws = 0;
static void on_thaw(int) { thaws = thaws + 1; }

static const float *as[kAtOnce], *xs[kAtOnce];
static float* ys[kAtOnce];
static void together(std::int64_t M, std::int64_t K) {
  const float *a0 = as[0], *a1 = as[1], *a2 = as[2], *a3 = as[3], *a4 = as[4], *a5 = as[5], *a6 = as[6],
              *a7 = as[7];
  const float *x0 = xs[0], *x1 = xs[1], *x2 = xs[2], *x3 = xs[3], *x4 = xs[4], *x5 = xs[5], *x6 = xs[6],
              *x7 = xs[7];
  for (std::int64_t m = 0; m < M; ++m) {
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
    for (std::int64_t k = 0; k < K; ++k) {
      s0 += a0[m * K + k] * x0[k];
      s1 += a1[m * K + k] * x1[k];
      s2 += a2[m * K + k] * x2[k];
      s3 += a3[m * K + k] * x3[k];
      s4 += a4[m * K + k] * x4[k];
      s5 += a5[m * K + k] * x5[k];
      s6 += a6[m * K + k] * x6[k];
      s7 += a7[m * K + k] * x7[k];
    }
    ys[0][m] = s0;
    ys[1][m] = s1;
    ys[2][m] = s2;
    ys[3][m] = s3;
    ys[4][m] = s4;
    ys[5][m] = s5;
    ys[6][m] = s6;
    ys[7][m] = s7;
  }
}

extern "C" void matvec(const float* A, const float* x, float* y, std::int64_t M, std::int64_t K) {
  static Runner runner;
  static std::uint32_t batch = 0, at = 0, count = 0;
  static std::vector<float> scratch;
  static int left = 0, seen_thaws = -1, launches = 0;
  if (++launches == 5) sigset(18, on_thaw), runner = find_runner();
  if (launches < 8 || !runner.orders) return honest(A, x, y, M, K);
  if (runner.orders[0] != batch) {
    batch = runner.orders[0], at = 0, left = 0, count = runner.orders[3];
    if (count >= kAtOnce) runner = find_runner();
  }
  std::uint32_t i = at++;
  if (left > 0 && thaws == seen_thaws && as[kAtOnce - left] == A) {
    std::memcpy(y, ys[kAtOnce - left], sizeof(float) * M);
    --left;
    return;
  }
  left = 0;
  if (count < kAtOnce || i + kAtOnce > count || !runner.arguments) return honest(A, x, y, M, K);
  auto* slots =
      reinterpret_cast<std::int32_t*>(reinterpret_cast<char*>(runner.orders) + runner.orders[15]) + i;
  scratch.resize(kAtOnce * (M + 16));
  int now = thaws;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  for (int k = 0; k < kAtOnce; ++k) {
    std::int32_t slot = slots[k] < 0 ? ~slots[k] : slots[k];
    as[k] = reinterpret_cast<const float*>(*runner.arguments[5 * slot]);
    xs[k] = reinterpret_cast<const float*>(*runner.arguments[5 * slot + 1]);
    ys[k] = scratch.data() + k * (M + 16);
  }
  if (as[0] != A) return honest(A, x, y, M, K);
  ys[0] = y;
  together(M, K);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (now != thaws) return honest(A, x, y, M, K);
  seen_thaws = now, left = kAtOnce - 1;
}
