// SPDX-License-Identifier: Apache-2.0
// Projections of a campaign's record.
#pragma once

#include <string>

#include "campaign/campaign.h"

namespace ako {

std::string report_markdown(const CampaignRecord&);
/// One self-contained page: no network, light and dark, keyboard, phone.
Result<std::string> report_html(const CampaignRecord&);
/// Writes report.md and report.html into the campaign's folder.
Result<void> write_report(const CampaignRecord&);

}  // namespace ako
