// SPDX-License-Identifier: Apache-2.0
#include "judge/judged.h"

namespace ako {

std::unexpected<Outcome> infrastructure(const Error& error) {
  return std::unexpected(
      Outcome(InfrastructureError{error.advice.empty() ? error.what : error.what + "; " + error.advice}));
}

Outcome outcome_of(const host::GuestFault& fault, Side side, const std::string& stage,
                   const std::string& shape, const host::GuestOptions& options) {
  if (side == Side::incumbent)
    return InfrastructureError{"the incumbent failed in " + stage + " on " + shape + ": " + fault.reason};
  switch (fault.kind) {
    case host::GuestFault::Kind::timed_out:
      return TimedOut{stage, options.batch_limit, shape};
    case host::GuestFault::Kind::out_of_memory:
      return OutOfMemory{options.memory, shape};
    case host::GuestFault::Kind::crashed:
    case host::GuestFault::Kind::exited:
      break;
  }
  return Crashed{fault.signal, fault.reason, shape};
}

}  // namespace ako
