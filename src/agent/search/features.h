// SPDX-License-Identifier: Apache-2.0
// Schedules as numbers for the cost model, and as points for the optimizers.
#pragma once

#include "search/optimizer.h"
#include "synth/schedule.h"

namespace ako {

/// One feature per size knob (its place in the knob's list, scaled to [0, 1]); one per value of a structural
/// knob that has more than two.
std::vector<double> features_of(const ScheduleSpace&, const Schedule&);
std::size_t feature_count(const ScheduleSpace&);

/// The schedule space for an optimizer: valid where space.invalid says nothing.
Space space_of(const ScheduleSpace&);
Schedule schedule_of(const ScheduleSpace&, const Point&);
/// nullopt: the schedule has a value that is not in the space.
std::optional<Point> point_of(const ScheduleSpace&, const Schedule&);

/// Place of the schedule's value in the knob's list, or -1.
int place_of(const Knob&, const Schedule&);
std::string value_of(const Schedule&, const std::string& knob);

}  // namespace ako
