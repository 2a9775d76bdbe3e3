// SPDX-License-Identifier: Apache-2.0
// What a campaign may still spend, and when it ends (rule R10).
#pragma once

#include <functional>
#include <optional>

#include "campaign/campaign.h"
#include "campaign/metrics.h"
#include "judge/client.h"

namespace ako {

/// Seconds are counted over all runs of a campaign.
class Spending {
 public:
  Spending(double before, std::function<double()> clock)
      : before_(before), clock_(std::move(clock)), start_(clock_()) {}
  double seconds() const { return before_ + clock_() - start_; }

 private:
  double before_;
  std::function<double()> clock_;
  double start_;
};

/// Kept back for the final verification, and for a baseline library when one computes the problem. Nothing
/// for the verification while only the baseline stands: the first kernel that is accepted was confirmed
/// against it.
double reserved_seconds(const CampaignRecord&);
/// For rounds: what is left after the reserve; infinite and INT_MAX where there is no limit.
Budget budget_left(const CampaignRecord&, double spent);
/// Timing budget of one comparison with a kernel timed as in `incumbent` (all shapes, or the representative
/// ones): a share of what is left, but never less than the judge's minimum of blocks takes, without which it
/// can only answer "ambiguous".
Seconds comparison_seconds(const Budget&, const Verdict& incumbent, Level);
/// May the agent's own baseline, judged on the representative shapes, stand on these alone for now? So where
/// all shapes would take more than their share of the budget, and no target asks for them. The first
/// confirmation judges them.
bool quick_baseline_suffices(const CampaignRecord&, const Verdict& quick);
/// Of the baseline, which is timed alone and decides nothing.
Seconds baseline_seconds(const Manifest&);
Seconds screen_seconds(const Budget&, const Verdict& incumbent);
/// Of the final verification, against the baseline on all shapes.
Seconds final_seconds(const CampaignRecord&);

/// Of the best kernel beside a baseline library.
Seconds library_seconds(const Manifest&);

/// What a judgement may take at most; 0: no limit.
struct Limits {
  Seconds time{0};  // timing ends, with what is known by then
  Seconds wall{0};  // the judgement is given up
};
Limits round_limits(const CampaignRecord&, double spent, Level);
Limits final_limits(const CampaignRecord&, double spent);
/// None: there is no time left for the library.
std::optional<Limits> library_limits(const CampaignRecord&, double spent);
/// Too little is left for a final verification of this round, and its confirmation was made against the
/// baseline itself, over all shapes in fresh processes: it says the same.
bool confirmation_suffices(const CampaignRecord&, const RoundRecord& best, double spent);

/// The reason to end, in words with the rule's number ("T1 …"), or empty. `best`: of the incumbent, over its
/// shapes.
std::string reason_to_end(const CampaignRecord&, const Achieved& best, double spent);

}  // namespace ako
