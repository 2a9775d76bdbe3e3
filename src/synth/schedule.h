// SPDX-License-Identifier: Apache-2.0
// A Schedule: how a kernel computes what the problem says, as named knobs. A ScheduleSpace: the knobs that
// make sense for a problem on a target. synthesize() turns a schedule into readable source.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/candidate.h"
#include "problem/cost.h"
#include "target/facts.h"

namespace ako {

/// Values are text: "16", "on", "online". Ordered by name, so equal schedules have equal text.
struct Schedule {
  std::map<std::string, std::string> knobs;
  std::string text() const;  // "threads=2 tile_m=64 vector=16": --schedule's form
  friend auto operator<=>(const Schedule&, const Schedule&) = default;
};
Result<Schedule> parse_schedule(std::string_view text);

struct Knob {
  std::string name;                 // "vector"
  std::string meaning;              // "SIMD lanes of the innermost loop"
  std::vector<std::string> values;  // in an order in which neighbours are similar
  bool structural = false;  // changes the algorithm's shape (a hypothesis of its own), not a size (a sweep)
  std::string relieves;     // which roof or cost it works on: "memory", "compute", "latency", "overhead"
};

struct ScheduleSpace {
  Pattern pattern = Pattern::other;
  std::vector<Knob> knobs;
  Schedule naive;  // the plain nest: the baseline every problem has
  Schedule start;  // the first guess from target facts
  const Knob* find(std::string_view name) const;
  /// Some combinations mean nothing: the reason, or empty.
  std::function<std::string(const Schedule&)> invalid;
};

/// For a language and target. Errors: unsupported (says what is).
Result<ScheduleSpace> schedule_space(const Problem&, const TargetFacts&, Language);

/// Readable source with its schedule in the head comment, and its launch plan. Works for every shape of the
/// problem. Error: invalid_input for an unknown knob or value (with a suggestion), or an invalid combination.
Result<Candidate> synthesize(const Problem&, const Schedule&, const TargetFacts&, Language);

}  // namespace ako
