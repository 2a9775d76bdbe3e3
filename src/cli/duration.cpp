// SPDX-License-Identifier: Apache-2.0
#include "cli/duration.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/text.h"

namespace ako {

Result<Seconds> parse_duration(std::string_view text) {
  double value = 0;
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  double scale = unit.empty() || unit == "s"    ? 1
                 : unit == "ms"                 ? 1e-3
                 : unit == "m" || unit == "min" ? 60
                 : unit == "h"                  ? 3600
                                                : 0;
  if (code != std::errc() || scale == 0 || !std::isfinite(value) || value <= 0 || value * scale > 1e9)
    return fail(ErrorKind::invalid_input, fmt::format("'{}' is no duration", printable(text)),
                "write 90s, 10m or 1.5h");
  return Seconds(value * scale);
}

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds)) return "no limit";
  auto whole = static_cast<long>(std::lround(std::max(0.0, seconds)));
  if (whole < 100) return fmt::format("{} s", whole);
  if (whole < 6000) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace ako
