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

/// Whose the first kernel is: what its failure is blamed on.
struct BaselineOrigin {
  bool given = false;
  std::string file;  // of a given one; may be empty
  std::string problem;
  /// After its verdict on the representative shapes: do they suffice? Empty: it is judged on all at once.
  std::function<bool(const Verdict&)> quick_suffices = {};
};
/// The first round: all shapes, where the budget has room for them, timed alone. A kernel that does not stand
/// is invalid_input, but internal where the agent's own does not even build or run.
Result<RoundRecord> run_baseline(Proposal, const BaselineOrigin&, Seconds time_budget, Inquiry&);

}  // namespace ako
