// SPDX-License-Identifier: Apache-2.0
#include "judge/parallel.h"

#include <algorithm>
#include <thread>
#include <vector>

namespace ako {

int parallel_parts(std::int64_t count, std::int64_t grain) {
  std::int64_t wanted = count / std::max<std::int64_t>(grain, 1);
  if (wanted < 2) return 1;
  // Asked once: the C library opens a file of the kernel's to answer, 20 us.
  static const auto cores = static_cast<std::int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  return static_cast<int>(std::min(wanted, cores));
}

void parallel_ranges(std::int64_t count, std::int64_t grain,
                     const std::function<void(int, std::int64_t, std::int64_t)>& body) {
  int parts = parallel_parts(count, grain);
  std::vector<std::jthread> others;
  for (int part = 1; part < parts; ++part)
    others.emplace_back([&, part] { body(part, count * part / parts, count * (part + 1) / parts); });
  body(0, 0, count / parts);
}

}  // namespace ako
