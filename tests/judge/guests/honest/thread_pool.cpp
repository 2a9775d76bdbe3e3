// SPDX-License-Identifier: Apache-2.0
// expect: correct — a pool that sleeps between launches and is done before each returns
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

class Pool {
 public:
  Pool() : worker_([this](std::stop_token stop) { serve(stop); }) {}
  void run(const std::function<void(int)>& part) {
    {
      std::lock_guard lock(mutex_);
      part_ = &part;
      busy_ = true;
    }
    changed_.notify_all();
    part(0);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !busy_; });
  }

 private:
  void serve(std::stop_token stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      changed_.wait(lock, [this] { return busy_; });
      (*part_)(1);
      busy_ = false;
      changed_.notify_all();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void(int)>* part_ = nullptr;
  bool busy_ = false;
  std::jthread worker_;
};

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  static Pool* pool = new Pool;
  pool->run([=](int part) {
    for (std::int64_t t = part; t < T; t += 2) {
      float m = -INFINITY, z = 0;
      for (std::int64_t d = 0; d < D; ++d) m = std::fmax(m, x[t * D + d]);
      for (std::int64_t d = 0; d < D; ++d) z += y[t * D + d] = std::exp(x[t * D + d] - m);
      for (std::int64_t d = 0; d < D; ++d) y[t * D + d] /= z;
    }
  });
}
