// SPDX-License-Identifier: Apache-2.0
// The rows of campaign.db. Every method that writes is one transaction: a process killed at any moment leaves
// the state before it or the state after it.
#pragma once

#include <span>

#include "campaign/campaign.h"
#include "store/database.h"

namespace ako {

/// One answer of the judge, kept with its raw samples.
struct Judgement {
  std::string kind;   // "check", "screen", "decide", "confirm", "final"
  std::string label;  // of the variant
  Verdict verdict;
};

struct OpenRound {
  int number = 0;
  std::string started;
};

class CampaignStore {
 public:
  /// Writes everything a campaign starts with; `folder` exists. Error: conflict when it holds a campaign
  /// already.
  static Result<CampaignStore> create(const std::filesystem::path& folder, const Manifest&,
                                      const std::string& problem_text,
                                      const std::filesystem::path& problem_path);
  /// Errors: not_found when the folder holds no campaign.
  static Result<CampaignStore> open(const std::filesystem::path& folder, OpenMode);

  Result<CampaignRecord> load();
  Result<std::filesystem::path> problem_path();
  Result<std::vector<Judgement>> judgements(int round);
  Result<std::optional<OpenRound>> open_round();

  Result<void> set_phase(Phase, double seconds);
  Result<void> set_environment(const TargetFacts&, Trust, const std::string& machine);
  Result<void> set_baseline(const Candidate&);
  /// The tips this campaign goes by, whatever later campaigns add.
  Result<void> set_tips(std::span<const Tip>);
  Result<void> set_manifest(const Manifest&);
  Result<void> set_library(const LibraryComparison&);
  /// Opens the budget of a finished campaign again: no termination, no final verdict, no library, phase
  /// ANALYZE.
  Result<void> reopen();
  Result<void> begin_round(int number, const std::string& started);
  /// Stores the record and all judgements, ends the open round, moves the phase on: all or nothing.
  Result<void> close_round(const RoundRecord&, std::span<const Judgement>, double seconds);
  Result<void> discard_open_round(double seconds);
  /// The last of `verifications`, when its candidate is right, becomes the final verdict.
  /// `validations`: all, the earlier ones too.
  Result<void> finish(const std::string& termination, std::span<const Judgement> verifications,
                      std::span<const Validation> validations, double seconds);

 private:
  explicit CampaignStore(Database database, std::filesystem::path folder)
      : database_(std::move(database)), folder_(std::move(folder)) {}
  Result<void> put(std::string_view key, std::string_view value);
  Result<std::optional<std::string>> get(std::string_view key);
  Result<void> put_seconds(double seconds);
  Result<void> add_judgement(int round, const Judgement&);
  Result<std::string> pack(const nlohmann::json&);
  Result<nlohmann::json> unpack(const std::string& text);

  Database database_;
  std::filesystem::path folder_;
};

}  // namespace ako
