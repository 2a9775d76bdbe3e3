// SPDX-License-Identifier: Apache-2.0
// Stopping a judgement from outside. Nearly all of its time passes in child processes (compilers, run guests)
// that the judging thread waits for. Killing them wakes it with a fault; the stages see the stop and end
// instead of ruling on it.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

namespace ako {

/// While it lives, a stop kills every child of this process, also those that are started a moment later.
class KillsChildrenOnStop {
 public:
  explicit KillsChildrenOnStop(std::stop_token);
  ~KillsChildrenOnStop();
  KillsChildrenOnStop(const KillsChildrenOnStop&) = delete;
  KillsChildrenOnStop& operator=(const KillsChildrenOnStop&) = delete;

 private:
  void watch(const std::stop_token&);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace ako
