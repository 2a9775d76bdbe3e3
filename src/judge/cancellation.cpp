// SPDX-License-Identifier: Apache-2.0
#include "judge/cancellation.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <sstream>

#include "base/files.h"

namespace ako {
namespace {

namespace fs = std::filesystem;

/// proc(5): /proc/PID/task/TID/children. A kernel built without it lists nothing; a stop then waits for the
/// children.
std::vector<pid_t> children() {
  std::vector<pid_t> all;
  std::error_code code;
  for (const auto& task : fs::directory_iterator("/proc/self/task", code)) {
    auto text = read_file(task.path() / "children");
    if (!text) continue;
    std::istringstream words(*text);
    for (pid_t pid; words >> pid;) all.push_back(pid);
  }
  return all;
}

bool is_ours(pid_t pid) {
  auto stat = read_file(fmt::format("/proc/{}/stat", pid));
  if (!stat) return false;
  std::istringstream rest(
      stat->substr(std::min(stat->rfind(')') + 1, stat->size())));  // the name may hold anything
  std::string state;
  pid_t parent = 0;
  return (rest >> state >> parent) && parent == ::getpid();
}

/// Through a descriptor: between listing and killing, the number may have passed to a stranger.
void kill_child(pid_t pid) {
  int handle = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (handle < 0) return;
  if (is_ours(pid)) ::syscall(SYS_pidfd_send_signal, handle, SIGKILL, nullptr, 0);
  ::close(handle);
}

}  // namespace

KillsChildrenOnStop::KillsChildrenOnStop(std::stop_token stop)
    : thread_([this, stop = std::move(stop)] { watch(stop); }) {}

KillsChildrenOnStop::~KillsChildrenOnStop() {
  {
    std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void KillsChildrenOnStop::watch(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, stop, [this] { return over_; });
  while (!over_) {
    for (pid_t pid : children()) kill_child(pid);
    changed_.wait_for(lock, std::chrono::milliseconds(20), [this] { return over_; });
  }
}

}  // namespace ako
