// SPDX-License-Identifier: Apache-2.0
// The loop of a campaign, with everything outside it passed in: who judges, who proposes, what time it is.
#pragma once

#include "campaign/campaign.h"
#include "campaign/records.h"

namespace ako {

/// Whoever answers questions about candidates: the judge's process, or a fake one in tests.
class Arbiter {
 public:
  virtual ~Arbiter() = default;
  virtual Result<Verdict> judge(const JudgeRequest&, const JudgeClient::Progress&) = 0;
  virtual const TargetFacts& facts() const = 0;
  virtual Trust trust() const = 0;
};

/// What earlier campaigns left, and where this one leaves its own.
struct Memories {
  std::function<Result<std::vector<Tip>>(const CampaignRecord&, const Problem&)> recall;
  std::function<Result<void>(std::span<const Tip>)> keep;
};

struct EngineParts {
  Arbiter& judge;
  Agent& agent;
  std::function<double()> clock;  // seconds, monotonic
  Listener listener;
  std::function<bool()> stop;
  Memories memories = {};  // empty functions: none
  /// The name of the baseline library to time beside the best kernel, or why there is none; empty: none.
  std::function<Result<std::string>(const Problem&)> library = {};
};

/// Goes on where `store` stands until the campaign ends or the user stops it (the record's termination is
/// then empty). Errors leave a campaign that can be resumed, but for a wrong baseline, which ends it.
Result<CampaignRecord> run_engine(CampaignStore& store, const EngineParts&);

/// The round whose kernel is the best that stands: the final verdict's candidate, else the last accepted that
/// did not fail its validation; nullptr before the baseline is closed.
const RoundRecord* best_round(const CampaignRecord&);

}  // namespace ako
