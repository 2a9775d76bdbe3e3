// SPDX-License-Identifier: Apache-2.0
// One round: one hypothesis, one change, one verdict, one decision.
#pragma once

#include "campaign/inquiry.h"
#include "campaign/ruling.h"

namespace ako {

struct RoundSetting {
  int number = 0;
  const RoundRecord& incumbent;
  std::span<const RoundRecord> history;
  Budget left;
  std::function<Limits(Level)> limits;  // as of now
};

/// Runs a proposal through the judge and rules on it. number, parent, score and the rest of the record are
/// filled but for its times of day. A sweep's winner takes the place of proposal.candidate. Errors:
/// infrastructure, or the user's wish to stop.
Result<RoundRecord> run_round(Proposal, const RoundSetting&, Inquiry&);

/// The first round: full level, timed alone. Error invalid_input when the baseline is not correct.
Result<RoundRecord> run_baseline(Proposal, Seconds time_budget, Inquiry&);

}  // namespace ako
