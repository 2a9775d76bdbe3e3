// SPDX-License-Identifier: Apache-2.0
// A tip: what one round of an earlier campaign taught, kept per device, operator and backend.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ako {

struct Tip {
  std::string target, op, pattern, backend, language, device;  // where it was learned
  std::string campaign;                                        // name of its folder
  int round = 0;
  std::string time;                 // "YYYY-MM-DD HH:MM:SS" UTC
  bool accepted = false;            // and it stood in the final verification
  std::string change;               // "passes: separate → merged"
  std::optional<double> log_ratio;  // log(time with the change / time without), timed together
  std::string context, signal, takeaway, applicability;  // sentences
};

}  // namespace ako
