// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <ctime>

namespace ako {

std::string utc_now() {
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  return text;
}

}  // namespace ako
