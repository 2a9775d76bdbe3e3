// SPDX-License-Identifier: Apache-2.0
#include "target/host/parallel.h"

#include <algorithm>
#include <barrier>
#include <thread>

#include "base/clock.h"

namespace ako::host {

std::vector<Seconds> timed_passes(int threads, Seconds budget, int most,
                                  const std::function<void(int, int)>& work) {
  using Clock = std::chrono::steady_clock;
  std::vector<Seconds> times;
  Clock::time_point begun = Clock::now(), start = begun;
  bool more = true, running = false;
  // Runs once per phase while all threads wait: phases alternate between the start and the end of a pass.
  auto turn = [&]() noexcept {
    Clock::time_point now = Clock::now();
    if (running) {
      times.push_back(now - start);
      more = static_cast<int>(times.size()) < most && now - begun < budget;
    }
    running = !running;
    start = Clock::now();
  };
  times.reserve(static_cast<std::size_t>(most));
  std::barrier barrier(threads, turn);
  auto run = [&](int thread) {
    for (int pass = 0; more; ++pass) {
      barrier.arrive_and_wait();
      work(thread, pass);
      barrier.arrive_and_wait();
    }
  };
  std::vector<std::jthread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(run, thread);
  run(0);
  return times;
}

Seconds best_sustained(std::vector<Seconds> passes) {
  std::sort(passes.begin(), passes.end());
  return passes.size() > 1 ? passes[1] : passes.at(0);
}

}  // namespace ako::host
