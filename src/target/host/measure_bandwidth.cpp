// SPDX-License-Identifier: Apache-2.0
// Memory bandwidth as in McCalpin's STREAM: sweeps over arrays that no cache can hold, a part for each
// thread. SSE2 is enough: what is measured is the memory, and 16 bytes an instruction keep ahead of it.
#include <emmintrin.h>
#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "target/host/measure.h"
#include "target/host/parallel.h"

namespace ako::host {
namespace {

class Pages {
 public:
  static Result<Pages> map(Bytes size) {
    void* at = ::mmap(nullptr, static_cast<std::size_t>(size.count), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
      return fail(ErrorKind::limit, "no memory to measure its bandwidth with: " + to_text(size),
                  "end other programs, or raise the memory limit");
    ::madvise(at, static_cast<std::size_t>(size.count), MADV_HUGEPAGE);
    return Pages(at, size);
  }
  Pages(Pages&& other) noexcept : at_(std::exchange(other.at_, nullptr)), size_(other.size_) {}
  Pages& operator=(Pages&&) = delete;
  ~Pages() {
    if (at_) ::munmap(at_, static_cast<std::size_t>(size_.count));
  }
  __m128i* lines() const { return static_cast<__m128i*>(at_); }

 private:
  Pages(void* at, Bytes size) : at_(at), size_(size) {}
  void* at_;
  Bytes size_;
};

/// In units of 16 bytes, a multiple of 64 bytes.
struct Part {
  std::int64_t begin, end;
};
Part part_of(Bytes size, int thread, int threads) {
  std::int64_t cache_lines = size.count / 64;
  return {cache_lines * thread / threads * 4, cache_lines * (thread + 1) / threads * 4};
}

void plain_copy(const __m128i* from, __m128i* to, Part part) {
  for (std::int64_t i = part.begin; i < part.end; i += 4) {
    __m128i a = _mm_load_si128(from + i), b = _mm_load_si128(from + i + 1);
    __m128i c = _mm_load_si128(from + i + 2), d = _mm_load_si128(from + i + 3);
    _mm_store_si128(to + i, a);
    _mm_store_si128(to + i + 1, b);
    _mm_store_si128(to + i + 2, c);
    _mm_store_si128(to + i + 3, d);
  }
  asm volatile("" ::: "memory");  // or the compiler might make it a call of memcpy, or drop it
}

void streaming_copy(const __m128i* from, __m128i* to, Part part) {
  for (std::int64_t i = part.begin; i < part.end; i += 4)
    for (int j = 0; j < 4; ++j) _mm_stream_si128(to + i + j, _mm_load_si128(from + i + j));
  _mm_sfence();
}

void read(const __m128i* from, Part part) {
  __m128i sums[4] = {};
  for (std::int64_t i = part.begin; i < part.end; i += 4)
    for (int j = 0; j < 4; ++j) sums[j] = _mm_xor_si128(sums[j], _mm_load_si128(from + i + j));
  for (__m128i sum : sums) asm volatile("" ::"x"(sum));  // used
}

double rate(double bytes, std::vector<Seconds> passes) {
  return bytes / best_sustained(std::move(passes)).count();
}

}  // namespace

Result<Bandwidth> measure_bandwidth(int threads, Bytes array, Seconds budget) {
  AKO_TRY(Pages source, Pages::map(array));
  AKO_TRY(Pages target, Pages::map(array));
  __m128i *from = source.lines(), *to = target.lines();
  auto sweep = [&](Seconds limit, auto body) {
    constexpr int most = 1000;
    return timed_passes(threads, limit, most,
                        [&](int thread, int) { body(part_of(array, thread, threads)); });
  };
  // First touch by the thread that will use the part: its pages are then near to it.
  sweep(Seconds{0}, [&](Part part) {
    for (std::int64_t i = part.begin; i < part.end; ++i)
      _mm_store_si128(from + i, _mm_set1_epi32(static_cast<int>(i)));
    plain_copy(from, to, part);
  });
  auto size = static_cast<double>(array.count);
  double plain = rate(2 * size, sweep(budget / 3, [&](Part part) { plain_copy(from, to, part); }));
  double streaming = rate(2 * size, sweep(budget / 3, [&](Part part) { streaming_copy(from, to, part); }));
  double reading = rate(size, sweep(budget / 3, [&](Part part) { read(from, part); }));
  return Bandwidth{std::max(plain, streaming), reading, streaming > plain, array};
}

}  // namespace ako::host
