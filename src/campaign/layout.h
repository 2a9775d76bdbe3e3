// SPDX-License-Identifier: Apache-2.0
// Where things are in a campaign's folder, and how such a folder is named (docs/campaigns.md).
#pragma once

#include <filesystem>

#include "campaign/campaign.h"

namespace ako::layout {

inline std::filesystem::path database(const std::filesystem::path& folder) { return folder / "campaign.db"; }
inline std::filesystem::path lock(const std::filesystem::path& folder) { return folder / "owner.lock"; }
inline std::filesystem::path optimize_log(const std::filesystem::path& folder) {
  return folder / "logs/optimize.md";
}
inline std::filesystem::path trend_log(const std::filesystem::path& folder) {
  return folder / "logs/performance_trend.md";
}
inline std::filesystem::path best(const std::filesystem::path& folder) { return folder / "best"; }
std::filesystem::path round(const std::filesystem::path& folder, int number);

/// As one component of a path: lower case, letters that are awkward there replaced.
std::string path_word(std::string_view);

/// "softmax_cpp_host_20261121": <op>_<backend>_<gpu>_<date>, letters that are awkward in a path replaced.
std::string folder_name(const Manifest&, const std::string& date);
/// Makes a folder of that name that did not exist before: "…_2", "…_3" when it does.
Result<std::filesystem::path> make_folder(const Manifest&, const std::filesystem::path& workspace,
                                          const std::string& date);

}  // namespace ako::layout
