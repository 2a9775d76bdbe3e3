// SPDX-License-Identifier: Apache-2.0
#include "agent/search/features.h"

#include <algorithm>

namespace ako {
namespace {

bool is_categorical(const Knob& knob) { return knob.structural && knob.values.size() > 2; }

}  // namespace

std::string value_of(const Schedule& schedule, const std::string& knob) {
  auto found = schedule.knobs.find(knob);
  return found == schedule.knobs.end() ? std::string() : found->second;
}

int place_of(const Knob& knob, const Schedule& schedule) {
  auto found = std::ranges::find(knob.values, value_of(schedule, knob.name));
  return found == knob.values.end() ? -1 : static_cast<int>(found - knob.values.begin());
}

std::size_t feature_count(const ScheduleSpace& space) {
  std::size_t count = 0;
  for (const Knob& knob : space.knobs) count += is_categorical(knob) ? knob.values.size() : 1;
  return count;
}

std::vector<double> features_of(const ScheduleSpace& space, const Schedule& schedule) {
  std::vector<double> features;
  for (const Knob& knob : space.knobs) {
    int place = place_of(knob, schedule);
    if (is_categorical(knob)) {
      for (int value = 0; value < static_cast<int>(knob.values.size()); ++value)
        features.push_back(value == place ? 1 : 0);
    } else {
      features.push_back(knob.values.size() > 1 ? static_cast<double>(std::max(place, 0)) /
                                                      static_cast<double>(knob.values.size() - 1)
                                                : 0);
    }
  }
  return features;
}

Schedule schedule_of(const ScheduleSpace& space, const Point& point) {
  Schedule schedule;
  for (std::size_t i = 0; i < space.knobs.size(); ++i)
    schedule.knobs[space.knobs[i].name] = space.knobs[i].values[static_cast<std::size_t>(point[i])];
  return schedule;
}

std::optional<Point> point_of(const ScheduleSpace& space, const Schedule& schedule) {
  Point point;
  for (const Knob& knob : space.knobs) {
    point.push_back(place_of(knob, schedule));
    if (point.back() < 0) return std::nullopt;
  }
  return point;
}

Space space_of(const ScheduleSpace& schedules) {
  Space space;
  for (const Knob& knob : schedules.knobs) space.parameters.push_back({knob.name, knob.values, {}});
  space.valid = [&schedules](const Point& point) {
    return !schedules.invalid || schedules.invalid(schedule_of(schedules, point)).empty();
  };
  return space;
}

}  // namespace ako
