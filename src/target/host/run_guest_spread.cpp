// SPDX-License-Identifier: Apache-2.0
#include "target/host/run_guest_spread.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sched.h>

#include <cstdlib>
#include <vector>

namespace ako::host {
namespace {

std::set<int> threads_of(int pid) {
  std::set<int> threads;
  DIR* tasks = ::opendir(fmt::format("/proc/{}/task", pid).c_str());
  if (!tasks) return threads;
  while (const dirent* task = ::readdir(tasks))
    if (task->d_name[0] != '.') threads.insert(std::atoi(task->d_name));
  ::closedir(tasks);
  return threads;
}

std::vector<int> processors() {
  cpu_set_t ours;
  std::vector<int> list;
  if (::sched_getaffinity(0, sizeof ours, &ours) != 0) return list;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(processor, &ours)) list.push_back(processor);
  return list;
}

void bind(int thread, const std::vector<int>& to) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int processor : to) CPU_SET(processor, &set);
  ::sched_setaffinity(thread, sizeof set, &set);
}

}  // namespace

void spread_threads(int pid, std::set<int>& known) {
  std::set<int> threads = threads_of(pid);
  if (threads == known) return;
  const std::vector<int> all = processors();
  // A lone thread is free to run anywhere, and so is a crowd.
  const bool apart = threads.size() > 1 && threads.size() <= all.size();
  std::size_t next = 0;
  for (int thread : threads) bind(thread, apart ? std::vector<int>{all[next++]} : all);
  known = std::move(threads);
}

}  // namespace ako::host
