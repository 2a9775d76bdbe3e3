// SPDX-License-Identifier: Apache-2.0
#include "copy_yardstick.h"

#include <emmintrin.h>
#include <pthread.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace ako::bench {
namespace {

std::byte* pages(std::size_t size) {
  void* at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) std::abort();
  ::madvise(at, size, MADV_HUGEPAGE);
  std::memset(at, 1, size);
  return static_cast<std::byte*>(at);
}

void bind_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  ::pthread_setaffinity_np(::pthread_self(), sizeof set, &set);
}

}  // namespace

CopyYardstick::CopyYardstick(int threads, Bytes array)
    : size_(static_cast<std::size_t>(array.count)), from_(pages(size_)), to_(pages(size_)), count_(threads) {
  for (int i = 1; i < threads; ++i) threads_.emplace_back([this, i] { work(i); });
}

CopyYardstick::~CopyYardstick() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  ::munmap(from_, size_);
  ::munmap(to_, size_);
}

void CopyYardstick::operator()() {
  {
    const std::lock_guard lock(mutex_);
    ++sweep_;
    running_ = count_ - 1;
  }
  changed_.notify_all();
  copy_part(0);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return running_ == 0; });
}

void CopyYardstick::work(int thread) {
  bind_to(thread);
  for (int seen = 0;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return over_ || sweep_ != seen; });
      if (over_) return;
      seen = sweep_;
    }
    copy_part(thread);
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) changed_.notify_all();
  }
}

void CopyYardstick::copy_part(int thread) const {
  const std::size_t lines = size_ / 64, parts = static_cast<std::size_t>(count_),
                    part = static_cast<std::size_t>(thread);
  const auto* from = reinterpret_cast<const __m128i*>(from_);
  auto* to = reinterpret_cast<__m128i*>(to_);
  for (std::size_t i = lines * part / parts * 4; i < lines * (part + 1) / parts * 4; i += 4) {
    for (std::size_t j = 0; j < 4; ++j) _mm_stream_si128(to + i + j, _mm_load_si128(from + i + j));
  }
  _mm_sfence();
}

}  // namespace ako::bench
