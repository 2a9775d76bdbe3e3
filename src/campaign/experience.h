// SPDX-License-Identifier: Apache-2.0
// What campaigns leave for later ones: tips in historical_experience/tips.db, and the same as
// <gpu>/<op>/<backend>/tips.md for people (Primus-Turbo's layout).
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "agent/tip.h"
#include "campaign/campaign.h"

namespace ako {

/// Of the workspace that a campaign lives in: beside a folder called "workspace", inside of any other.
std::filesystem::path experience_folder(const std::filesystem::path& workspace);

/// What the closed rounds teach: what was accepted with its measured gain, what failed and how. Refused and
/// unclear rounds teach nothing.
std::vector<Tip> tips_of(const CampaignRecord&, const Problem&);

/// Tips of other campaigns for the same target, language and pattern: those of the same operator first, then
/// the newest; at most forty. None when nothing was ever kept.
Result<std::vector<Tip>> recall_tips(const std::filesystem::path& experience, const CampaignRecord&,
                                     const Problem&);
/// All that are kept, newest first.
Result<std::vector<Tip>> all_tips(const std::filesystem::path& experience);
/// Keeps a campaign's tips; told twice of a round, it keeps the later word.
Result<void> keep_tips(const std::filesystem::path& experience, std::span<const Tip>);

/// "1.320× faster: passes: separate → merged (softmax, round 4 of softmax_cpp_host_20261121)".
std::string to_text(const Tip&);

}  // namespace ako
