// SPDX-License-Identifier: Apache-2.0
// What both reports show, computed once from the record.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "campaign/campaign.h"
#include "problem/problem.h"

namespace ako {

/// One shape: baseline against best.
struct ShapeLine {
  std::string label;
  bool core = false, representative = false;
  double flops = 0, bytes = 0, intensity = 0;
  double roof_us = 0;  // 0: unknown
  std::string roof_bound;
  double baseline_us = 0, best_us = 0;  // 0: not timed
  double speedup = 0;
  Interval speedup_interval;
  double efficiency = 0;  // roof_us / best_us, 0: unknown
  std::vector<double> baseline_samples_us, best_samples_us;
  // A baseline library, timed interleaved with the best kernel in a sitting of their own.
  double library_us = 0;     // 0: not timed
  double library_ratio = 0;  // the best kernel's speed over the library's
  Interval library_interval;
  std::vector<double> library_samples_us;
  bool paired = false;  // both timed interleaved in one sitting (the final verification)
};

struct Headline {
  double speedup = 1;
  std::optional<Interval> interval;
  std::string basis;  // where the number comes from, a sentence
};

struct ReportData {
  Problem problem;
  std::vector<ShapeLine> shapes;
  Headline headline;
  std::string library;                     // "OpenBLAS 0.3.21, 2 threads", or empty
  std::string no_library;                  // why no library was timed, or empty
  int baseline_round = 0, best_round = 0;  // numbers; 0: none
  int accepted = 0, rolled_back = 0;
};

/// Errors: the record's problem text no longer parses (a damaged record).
Result<ReportData> report_data(const CampaignRecord&);
const RoundRecord* find_round(const CampaignRecord&, int number);
/// The first source of a round's candidate, for diffs and display.
std::string source_of(const RoundRecord&);

/// The page's data: docs/report.md describes it.
nlohmann::json to_json(const CampaignRecord&, const ReportData&);

}  // namespace ako
