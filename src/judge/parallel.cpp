// SPDX-License-Identifier: Apache-2.0
#include "judge/parallel.h"

#include <algorithm>
#include <thread>
#include <vector>

namespace ako {

int parallel_parts(std::int64_t count, std::int64_t grain) {
  auto cores = static_cast<std::int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  return static_cast<int>(std::clamp<std::int64_t>(count / std::max<std::int64_t>(grain, 1), 1, cores));
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
