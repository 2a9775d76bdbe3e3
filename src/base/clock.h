// SPDX-License-Identifier: Apache-2.0
// The one clock for people (UTC) and the one stopwatch (monotonic).
#pragma once

#include <chrono>
#include <string>

#include "base/units.h"

namespace ako {

/// "2026-11-21 12:30:05", UTC.
std::string utc_now();
/// "2026-11-21 12:30"
inline std::string utc_minute() { return utc_now().substr(0, 16); }
/// "2026-11-21"
inline std::string utc_date() { return utc_now().substr(0, 10); }

class Stopwatch {
 public:
  Seconds elapsed() const { return std::chrono::steady_clock::now() - start_; }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace ako
