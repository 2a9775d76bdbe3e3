// SPDX-License-Identifier: Apache-2.0
// What `optimize` and `resume` share: running a campaign with progress and Ctrl-C, its report, and the last
// words.
#pragma once

#include <filesystem>

#include "campaign/campaign.h"
#include "cli/cli.h"

namespace ako {

/// Runs it, writes report.md and report.html, prints the result; the exit status.
int run_and_report(const std::filesystem::path& folder, const Context&);

/// One JSON document about a campaign (docs/commands.md).
nlohmann::json campaign_json(const CampaignRecord&);
/// "2.41× (2.38–2.45×) the speed of the baseline", or why there is no such figure.
std::string headline(const CampaignRecord&);
/// What goes on with it: "ako resume FOLDER".
std::string resume_command(const std::filesystem::path& folder);
/// After a budget that was too little: what took it, and the command that gives more. Empty: it was enough.
std::string budget_advice(const CampaignRecord&);
/// "0.62× the speed of OpenBLAS 0.3.21, 2 threads", or why no library was timed.
std::string library_text(const LibraryComparison&);

}  // namespace ako
