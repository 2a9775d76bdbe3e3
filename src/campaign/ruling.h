// SPDX-License-Identifier: Apache-2.0
// The decision over a round, mechanical: from the judge's verdicts alone (rule R3; docs/campaigns.md).
#pragma once

#include <optional>
#include <string>

#include "agent/agent.h"

namespace ako {

/// log(candidate time / incumbent time) over the verdict's shapes; nullopt when nothing was compared.
std::optional<double> log_ratio_of(const Verdict&);
/// The confirmation when there is a correct one (all shapes), else the round's verdict.
const Verdict& widest_verdict(const RoundRecord&);
/// "1.42× (1.38–1.46×)": the speedup of a comparison with its interval.
std::string speedup_text(const Comparison&);

/// After the deciding verdict: does it deserve a confirmation at the full level in fresh processes?
bool deserves_confirmation(const Verdict& decided);

/// Was what a round says found out? Not so of a rolled-back one that was too close or too volatile to call,
/// that was only screened, or whose first gain was not confirmed; nor of one refused without a measurement.
bool conclusive(const RoundRecord&);

struct Ruling {
  RoundDecision decision = RoundDecision::rolled_back;
  std::string reason;  // a sentence
};
/// `confirmation`: at the full level, fresh processes, new seeds; absent when `decided` did not deserve one.
/// Accepted only when both say "faster" with their confidence, both find the outputs right, and no core shape
/// regressed by 5 % or more. "Trade-off" when some shape is slower with confidence.
Ruling rule(const Verdict& decided, const std::optional<Verdict>& confirmation);

}  // namespace ako
