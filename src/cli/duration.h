// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/error.h"
#include "base/units.h"

namespace ako {

/// "60", "60s", "5m", "1.5h", "250ms"; more than nothing. Error: invalid_input.
Result<Seconds> parse_duration(std::string_view);
/// "45 s", "2 min 05 s", "1 h 02 min".
std::string duration_text(double seconds);

}  // namespace ako
