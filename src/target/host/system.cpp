// SPDX-License-Identifier: Apache-2.0
#include "target/host/system.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <sstream>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/files.h"

namespace ako::host {
namespace fs = std::filesystem;
namespace {

std::string first_line(const fs::path& path) {
  std::string text = read_file(path).value_or("");
  return text.substr(0, text.find('\n'));
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end != text.data() ? std::optional(value) : std::nullopt;
}

/// "0-3,8,10-11" → 7.
int count_list(std::string_view list) {
  int count = 0;
  while (!list.empty()) {
    std::string_view part = list.substr(0, list.find(','));
    auto first = number(part);
    std::size_t dash = part.find('-');
    auto last = dash == std::string_view::npos ? first : number(part.substr(dash + 1));
    if (!first || !last || *last < *first) return count;
    count += static_cast<int>(*last - *first + 1);
    list.remove_prefix(std::min(list.size(), part.size() + 1));
  }
  return count;
}

/// "32768K" → bytes.
Bytes cache_size(std::string_view text) {
  std::int64_t value = number(text).value_or(0);
  if (text.find('K') != std::string_view::npos) return kibibytes(value);
  if (text.find('M') != std::string_view::npos) return mebibytes(value);
  return {value};
}

/// Folders of this process's control group and of those above it, of one controller (version 1) or of all
/// (version 2, where `controller` is empty).
std::vector<fs::path> control_groups(const fs::path& root, std::string_view controller) {
  std::istringstream lines(read_file(root / "proc/self/cgroup").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    std::size_t first = line.find(':');
    std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    bool match =
        controller.empty() ? names == ",," : names.find(fmt::format(",{},", controller)) != std::string::npos;
    if (!match) continue;
    std::vector<fs::path> folders;
    fs::path mount = root / "sys/fs/cgroup" / controller;
    fs::path group = fs::path(line.substr(second + 1)).relative_path();
    for (; !group.empty(); group = group.parent_path()) folders.push_back(mount / group);
    folders.push_back(mount);
    return folders;
  }
  return {};
}

double quota(const fs::path& root) {
  double least = HUGE_VAL;
  auto consider = [&](std::optional<std::int64_t> allowed, std::optional<std::int64_t> period) {
    if (allowed && period && *allowed > 0 && *period > 0)
      least = std::min(least, static_cast<double>(*allowed) / static_cast<double>(*period));
  };
  for (const fs::path& folder : control_groups(root, "")) {
    std::string line = first_line(folder / "cpu.max");
    std::size_t space = line.find(' ');
    if (space != std::string::npos) consider(number(line), number(std::string_view(line).substr(space + 1)));
  }
  for (const fs::path& folder : control_groups(root, "cpu"))
    consider(number(first_line(folder / "cpu.cfs_quota_us")),
             number(first_line(folder / "cpu.cfs_period_us")));
  return least;
}

int affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

}  // namespace

std::string processor_name() {
#if defined(__x86_64__)
  unsigned words[12] = {};
  for (unsigned leaf = 0; leaf < 3; ++leaf) {
    unsigned* part = words + 4 * leaf;
    if (!__get_cpuid(0x80000002 + leaf, &part[0], &part[1], &part[2], &part[3]))
      return "unknown x86-64 processor";
  }
  std::string name(reinterpret_cast<const char*>(words), sizeof words);
  name.resize(std::min(name.find('\0'), name.size()));
  name.erase(0, name.find_first_not_of(' '));
  name.erase(name.find_last_not_of(' ') + 1);
  return name;
#else
  return "unknown processor";
#endif
}

bool is_virtual() {
#if defined(__x86_64__)
  unsigned a, b, c, d;
  return __get_cpuid(1, &a, &b, &c, &d) && (c >> 31 & 1) != 0;
#else
  return false;
#endif
}

std::vector<std::string> processor_features() {
  std::vector<std::string> features;
#if defined(__x86_64__)
  __builtin_cpu_init();
  auto add = [&](bool supported, const char* name) {
    if (supported) features.emplace_back(name);
  };
  // The builtin also asks XGETBV whether the kernel saves the registers.
  add(__builtin_cpu_supports("sse4.2"), "sse4_2");
  add(__builtin_cpu_supports("avx"), "avx");
  add(__builtin_cpu_supports("avx2"), "avx2");
  add(__builtin_cpu_supports("fma"), "fma");
  add(__builtin_cpu_supports("f16c"), "f16c");
  add(__builtin_cpu_supports("avx512f"), "avx512f");
  add(__builtin_cpu_supports("avx512bw"), "avx512bw");
  add(__builtin_cpu_supports("avx512dq"), "avx512dq");
  add(__builtin_cpu_supports("avx512vl"), "avx512vl");
  add(__builtin_cpu_supports("avx512vnni"), "avx512_vnni");
  add(__builtin_cpu_supports("avx512bf16"), "avx512_bf16");
  add(__builtin_cpu_supports("avx512fp16"), "avx512_fp16");
  add(__builtin_cpu_supports("amx-tile"), "amx_tile");
  add(__builtin_cpu_supports("amx-int8"), "amx_int8");
  add(__builtin_cpu_supports("amx-bf16"), "amx_bf16");
#endif
  return features;
}

std::vector<CacheLevel> data_caches(const fs::path& sys) {
  std::vector<CacheLevel> caches;
  for (int index = 0; index < 16; ++index) {
    fs::path folder = sys / fmt::format("devices/system/cpu/cpu0/cache/index{}", index);
    std::error_code code;
    if (!fs::exists(folder, code)) break;
    if (first_line(folder / "type") == "Instruction") continue;
    CacheLevel cache;
    cache.level = static_cast<int>(number(first_line(folder / "level")).value_or(1));
    cache.size = cache_size(first_line(folder / "size"));
    cache.shared_by = std::max(1, count_list(first_line(folder / "shared_cpu_list")));
    if (cache.size.count > 0) caches.push_back(cache);
  }
  std::sort(caches.begin(), caches.end(),
            [](const CacheLevel& a, const CacheLevel& b) { return a.level < b.level; });
  return caches;
}

int usable_cores(const fs::path& root) {
  double cores = std::min<double>(affinity(), quota(root));
  return std::max(1, static_cast<int>(cores));
}

Bytes available_memory(const fs::path& root) {
  std::istringstream lines(read_file(root / "proc/meminfo").value_or(""));
  Bytes available{0};
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("MemAvailable:"))
      available =
          kibibytes(number(std::string_view(line).substr(line.find_first_of("0123456789"))).value_or(0));
  auto consider = [&](const fs::path& limit_file, const fs::path& used_file) {
    auto limit = number(first_line(limit_file));
    auto used = number(first_line(used_file));
    if (limit && used && *limit - *used < available.count)
      available = {std::max<std::int64_t>(0, *limit - *used)};
  };
  for (const fs::path& folder : control_groups(root, ""))
    consider(folder / "memory.max", folder / "memory.current");
  for (const fs::path& folder : control_groups(root, "memory"))
    consider(folder / "memory.limit_in_bytes", folder / "memory.usage_in_bytes");
  return available;
}

}  // namespace ako::host
