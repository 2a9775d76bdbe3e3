// SPDX-License-Identifier: Apache-2.0
// What is known of knobs by name, before anything is measured. To teach the agent a new knob, add its lines
// here; one without lines works too, by its own `meaning` and `relieves`.
#pragma once

#include <string_view>

namespace ako {

/// How much log time a knob tends to be worth; 0: nothing is known.
double lore_prior(std::string_view knob);

/// Why one would set the knob to this named value, with {from}, {to}, {cores} and {bits} to be filled in; may
/// be empty.
std::string_view lore_of_value(std::string_view knob, std::string_view value);

/// Why one would raise or lower a size, or try it both ways.
enum class Direction : signed char { lower = -1, either = 0, raise = 1 };
std::string_view lore_of_size(std::string_view knob, Direction);

}  // namespace ako
