// SPDX-License-Identifier: Apache-2.0
// The stages of the cascade return a value or the outcome that ends the judgement.
#pragma once

#include <expected>
#include <string>

#include "judge/verdict.h"
#include "target/host/run_guest.h"

namespace ako {

template <class T>
using Judged = std::expected<T, Outcome>;

/// Whose guest misbehaved: an incumbent's fault is the infrastructure's, never the candidate's.
enum class Side : std::uint8_t { candidate, incumbent };

std::unexpected<Outcome> infrastructure(const Error&);
Outcome outcome_of(const host::GuestFault&, Side, const std::string& stage, const std::string& shape,
                   const host::GuestOptions&);

}  // namespace ako

/// AKO_JUDGED(auto x, f()): x is the value of the Result f(), or the enclosing Judged function ends with an
/// infrastructure error.
#define AKO_JUDGED(declaration, expression) \
  AKO_JUDGED_(AKO_CONCAT(ako_judged_, __LINE__), declaration, expression)
#define AKO_JUDGED_(temporary, declaration, expression)     \
  auto temporary = (expression);                            \
  if (!temporary) return infrastructure(temporary.error()); \
  declaration = std::move(*temporary)
/// AKO_CHECK_JUDGED(f()): as AKO_JUDGED for a Result<void>.
#define AKO_CHECK_JUDGED(expression)                                                            \
  do {                                                                                          \
    if (auto ako_check_ = (expression); !ako_check_) return infrastructure(ako_check_.error()); \
  } while (false)
