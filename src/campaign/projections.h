// SPDX-License-Identifier: Apache-2.0
// The files of a campaign's folder that people and tools read: all made from the record, all made again when
// missing.
#pragma once

#include "campaign/append_log.h"
#include "campaign/campaign.h"
#include "campaign/records.h"

namespace ako {

/// Brings every projection up to the record: manifest.yaml, problem.yaml, logs, rounds/, best/.
Result<void> write_projections(const CampaignRecord&, const Problem&, CampaignStore&);

// ---- the texts, pure ----
std::string optimize_log_header(const CampaignRecord&);
std::vector<LogEntry> optimize_log_entries(const CampaignRecord&, const Problem&);
std::string trend_log_header();
std::vector<LogEntry> trend_log_entries(const CampaignRecord&, const Problem&);
std::string round_summary(const CampaignRecord&, const Problem&, const RoundRecord&);

}  // namespace ako
