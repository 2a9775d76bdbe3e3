// SPDX-License-Identifier: Apache-2.0
// Tuning spaces that somebody measured exhaustively, for simulated tuning: an optimizer's question is
// answered from the record. Format: T4 JSON of the FAIR auto-tuning results schema
// (github.com/AutoTuningAssociation), plain or gzip.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "search/domain.h"

namespace ako {

struct RecordedSpace {
  std::string name;  // of the file, without "_T4.json.gz"
  Space space;       // enumerated: every configuration of the record, failed ones included
  std::unordered_map<Point, std::optional<double>, PointHash> costs;  // milliseconds; nullopt: it failed
  double optimum = 0;
};

/// Parameters in the record's order, without those of a single value; values ascending where they are
/// numbers. Errors: invalid_input (not T4 JSON, no configuration that worked), io.
Result<RecordedSpace> parse_recorded_space(std::string_view json, std::string name);
Result<RecordedSpace> load_recorded_space(const std::filesystem::path&);
/// Every *_T4.json and *_T4.json.gz of a folder, by name. Error: not_found when there is none.
Result<std::vector<std::filesystem::path>> list_recorded_spaces(const std::filesystem::path& folder);

}  // namespace ako
