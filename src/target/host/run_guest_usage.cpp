// SPDX-License-Identifier: Apache-2.0
#include "target/host/run_guest_usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/files.h"

namespace ako::host {
namespace {

/// The beginning of a file of /proc, as a string.
template <std::size_t N>
const char* read_start(const std::string& path, char (&buffer)[N]) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ssize_t got = file ? ::read(file.get(), buffer, N - 1) : 0;
  buffer[got > 0 ? got : 0] = 0;
  return buffer;
}

double cpu_seconds(int pid) {
  clockid_t clock;
  timespec time{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// The line of all processors: user nice system idle iowait irq softirq steal (proc(5)).
double steal_seconds() {
  char text[256];
  long long steal = 0;
  std::sscanf(read_start("/proc/stat", text), "cpu %*d %*d %*d %*d %*d %*d %*d %lld", &steal);
  return static_cast<double>(steal) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

void read_faults(int pid, Usage& usage) {
  char text[1024];
  read_start(fmt::format("/proc/{}/stat", pid), text);
  const char* after_name = std::strrchr(text, ')');
  long long minor = 0, major = 0;
  if (after_name &&
      std::sscanf(after_name + 1, " %*c %*d %*d %*d %*d %*d %*u %lld %*d %lld", &minor, &major) == 2) {
    usage.minor_faults = minor;
    usage.major_faults = major;
  }
}

std::int64_t involuntary_switches(int pid) {
  std::string folder = fmt::format("/proc/{}/task", pid);
  DIR* tasks = ::opendir(folder.c_str());
  if (!tasks) return 0;
  std::int64_t sum = 0;
  while (const dirent* task = ::readdir(tasks)) {
    if (task->d_name[0] == '.') continue;
    char text[4096];
    const char* line = std::strstr(read_start(fmt::format("{}/{}/status", folder, task->d_name), text),
                                   "\nnonvoluntary_ctxt_switches:");
    if (line) sum += std::atoll(std::strchr(line, ':') + 1);
  }
  ::closedir(tasks);
  return sum;
}

}  // namespace

Usage usage_of(int pid) {
  Usage usage;
  usage.cpu_seconds = cpu_seconds(pid);
  usage.steal_seconds = steal_seconds();
  read_faults(pid, usage);
  usage.involuntary_switches = involuntary_switches(pid);
  return usage;
}

}  // namespace ako::host
