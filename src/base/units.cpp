// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <fmt/format.h>

namespace ako {

std::string to_text(Microseconds time) {
  double us = time.count();
  if (us < 1) return fmt::format("{:.3g} ns", us * 1e3);
  if (us < 1e3) return fmt::format("{:.3g} us", us);
  if (us < 1e6) return fmt::format("{:.3g} ms", us / 1e3);
  return us < 1e9 ? fmt::format("{:.3g} s", us / 1e6) : fmt::format("{:.0f} s", us / 1e6);
}

std::string to_text(Bytes size) {
  double count = static_cast<double>(size.count);
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (count >= 1024 && unit < 4) {
    count /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", size.count) : fmt::format("{:.1f} {}", count, units[unit]);
}

}  // namespace ako
