// SPDX-License-Identifier: Apache-2.0
// One pass of a copy over arrays that no cache holds, with stores that bypass the caches: what memory-bound
// kernels are measured against. The sweep is that of target/host/measure_bandwidth.cpp, once and on demand.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "base/units.h"

namespace ako::bench {

class CopyYardstick {
 public:
  CopyYardstick(int threads, Bytes array);
  ~CopyYardstick();
  CopyYardstick(const CopyYardstick&) = delete;
  CopyYardstick& operator=(const CopyYardstick&) = delete;

  /// One sweep by all threads. The others wait asleep between sweeps.
  void operator()();
  /// Read plus written by one sweep.
  double bytes() const { return 2 * static_cast<double>(size_); }

 private:
  void work(int thread);
  void copy_part(int thread) const;

  std::size_t size_;
  std::byte *from_, *to_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int sweep_ = 0, running_ = 0;
  bool over_ = false;
  int count_;
  std::vector<std::thread> threads_;
};

}  // namespace ako::bench
