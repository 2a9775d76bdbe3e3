// SPDX-License-Identifier: Apache-2.0
#include "synth/schedule.h"

#include <fmt/format.h>

namespace ako {

std::string Schedule::text() const {
  std::string result;
  for (const auto& [name, value] : knobs)
    result += fmt::format("{}{}={}", result.empty() ? "" : " ", name, value);
  return result;
}

Result<Schedule> parse_schedule(std::string_view text) {
  Schedule schedule;
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == ','; };
  std::size_t at = 0;
  while (at < text.size()) {
    if (is_space(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && !is_space(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == word.size()) {
      return fail(ErrorKind::invalid_input, fmt::format("'{}' is not a knob's setting", word),
                  "write name=value, several separated by spaces: \"threads=2 vector=16\"");
    }
    if (!schedule.knobs.emplace(word.substr(0, equals), word.substr(equals + 1)).second) {
      return fail(ErrorKind::invalid_input,
                  fmt::format("the knob '{}' is set twice", word.substr(0, equals)));
    }
    at = end;
  }
  return schedule;
}

const Knob* ScheduleSpace::find(std::string_view name) const {
  for (const Knob& knob : knobs) {
    if (knob.name == name) return &knob;
  }
  return nullptr;
}

}  // namespace ako
