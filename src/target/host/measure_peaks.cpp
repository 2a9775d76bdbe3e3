// SPDX-License-Identifier: Apache-2.0
// Peak arithmetic: independent chains of fused multiply-adds that never leave the registers. The widest
// vectors that the machine has, chosen at run time. Enough chains to cover latency times issue width (x86-64
// to date: 4 to 5 cycles, 2 a cycle).
#include <immintrin.h>

#include <algorithm>

#include "base/clock.h"
#include "target/host/measure.h"
#include "target/host/parallel.h"

namespace ako::host {
namespace {

/// Runs `steps` steps and returns the operations made.
using Chains = double (*)(std::int64_t steps);

struct Kernel {
  const char* type;
  Chains run;
};

// One step advances every chain once. Values tend to 1 from below: no overflow, no denormals.
#define AKO_CHAINS(NAME, TARGET, VECTOR, SET, FMA, COUNT, OPERATIONS)            \
  __attribute__((target(TARGET), noinline)) double NAME(std::int64_t steps) {    \
    VECTOR chain[COUNT];                                                         \
    VECTOR factor = SET(0.5), term = SET(0.5);                                   \
    asm volatile("" : "+v"(factor), "+v"(term)); /* unknown to the compiler */   \
    for (int i = 0; i < COUNT; ++i) chain[i] = SET(0.125 * (i % 7));             \
    for (std::int64_t step = 0; step < steps; ++step)                            \
      _Pragma("GCC unroll 32") for (int i = 0; i < COUNT; ++i) chain[i] = FMA;   \
    for (int i = 0; i < COUNT; ++i) asm volatile("" ::"v"(chain[i])); /* used */ \
    return static_cast<double>(steps) * COUNT * OPERATIONS;                      \
  }

AKO_CHAINS(f32_avx512, "avx512f", __m512, _mm512_set1_ps, _mm512_fmadd_ps(chain[i], factor, term), 20, 32)
AKO_CHAINS(f64_avx512, "avx512f", __m512d, _mm512_set1_pd, _mm512_fmadd_pd(chain[i], factor, term), 20, 16)
AKO_CHAINS(f32_fma, "avx2,fma", __m256, _mm256_set1_ps, _mm256_fmadd_ps(chain[i], factor, term), 12, 16)
AKO_CHAINS(f64_fma, "avx2,fma", __m256d, _mm256_set1_pd, _mm256_fmadd_pd(chain[i], factor, term), 12, 8)
AKO_CHAINS(f32_sse, "sse2", __m128, _mm_set1_ps, _mm_add_ps(_mm_mul_ps(chain[i], factor), term), 12, 8)
AKO_CHAINS(f64_sse, "sse2", __m128d, _mm_set1_pd, _mm_add_pd(_mm_mul_pd(chain[i], factor), term), 12, 4)

/// Dot products of pairs: 16 lanes, each two multiplications and two additions. Their operands are zero: the
/// time of VDPBF16PS does not depend on them.
__attribute__((target("avx512f,avx512bf16"), noinline)) double bf16_dot(std::int64_t steps) {
  constexpr int count = 20;
  __m512 chain[count];
  __m512i left = _mm512_setzero_si512(), right = _mm512_setzero_si512();
  asm volatile("" : "+v"(left), "+v"(right));
  for (int i = 0; i < count; ++i) chain[i] = _mm512_set1_ps(static_cast<float>(i));
  for (std::int64_t step = 0; step < steps; ++step)
    _Pragma("GCC unroll 32") for (int i = 0; i < count; ++i) chain[i] =
        _mm512_dpbf16_ps(chain[i], (__m512bh)left, (__m512bh)right);
  for (int i = 0; i < count; ++i) asm volatile("" ::"v"(chain[i]));
  return static_cast<double>(steps) * count * 64;
}

std::vector<Kernel> kernels() {
  __builtin_cpu_init();
  std::vector<Kernel> found;
  if (__builtin_cpu_supports("avx512f"))
    found = {{"f32", f32_avx512}, {"f64", f64_avx512}};
  else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    found = {{"f32", f32_fma}, {"f64", f64_fma}};
  else
    found = {{"f32", f32_sse}, {"f64", f64_sse}};
  if (__builtin_cpu_supports("avx512bf16")) found.push_back({"bf16", bf16_dot});
  return found;
}

}  // namespace

std::map<std::string, double> measure_peaks(int threads, Seconds budget) {
  std::map<std::string, double> peaks;
  std::vector<Kernel> all = kernels();
  for (const Kernel& kernel : all) {
    // Passes of about a millisecond: shorter than a scheduler's slice, so that a busy machine has undisturbed
    // ones too. Every thread times its own: registers are not shared, and not all threads need to be
    // undisturbed at once.
    constexpr std::int64_t steps = 400'000;
    constexpr int most = 1000;
    std::vector<std::vector<Seconds>> own(static_cast<std::size_t>(threads));
    double operations = 0;
    timed_passes(threads, budget / static_cast<double>(all.size()), most, [&](int thread, int) {
      Stopwatch watch;
      double made = kernel.run(steps);
      own[static_cast<std::size_t>(thread)].push_back(watch.elapsed());
      if (thread == 0) operations = made;
    });
    for (std::vector<Seconds>& passes : own)
      peaks[kernel.type] += operations / best_sustained(std::move(passes)).count();
  }
  return peaks;
}

}  // namespace ako::host
