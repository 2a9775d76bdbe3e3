// SPDX-License-Identifier: Apache-2.0
// A Campaign: the chain of rounds for one problem, target and language, in a folder of its own (layout:
// docs/campaigns.md). campaign.db in that folder is the truth; every other file there is a projection of it
// or an append-only log.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "agent/agent.h"
#include "agent/tip.h"
#include "judge/client.h"

namespace ako {

/// manifest.yaml; keys, order and defaults as in docs/campaigns.md (Primus-Turbo's names).
struct Manifest {
  std::string target_op, target_backend = "CPP", target_lang = "CPP", target_gpu = "host";
  std::string execution_mode = "workspace", project_skill;
  std::string performance_target;  // "", ">500 TFLOPS", ">60% peak"
  std::string primary_metric = "Forward TFLOPS";
  std::string target_shapes = "all", kernel_source, test_command, benchmark_command, quick_command;
  std::string representative_shapes;
  bool git_commit = false;
  std::string git_branch = "none";
  int max_iterations = 0;  // 0: null
  std::string created;     // "YYYY-MM-DD HH:MM"
  // ako's own keys
  std::string problem;  // path, or text of the problem file kept in the folder
  std::string agent = "search";
  double budget_seconds = 0;     // 0: none
  double target_efficiency = 0;  // fraction of roofline, 0: none
  std::uint64_t seed = 1;
  std::map<std::string, std::string> unknown;  // kept as read
};
Parsed<Manifest> parse_manifest(std::string_view yaml, const std::string& file);
std::string to_yaml(const Manifest&);

enum class Phase : std::uint8_t {
  define_target,
  prepare_environment,
  read_historical_tips,
  baseline,
  analyze,
  optimize,
  validate,
  report,
  done
};
std::string_view name_of(Phase);  // "DEFINE_TARGET" …

struct Event {
  enum class Kind : std::uint8_t {
    phase,
    round_started,
    stage,
    round_ended,
    note,
    finished
  } kind = Kind::note;
  std::string text;  // phase: its name; round_started: the hypothesis; stage: what is being done
  int number = 0;    // of the round, 0 outside one
  const RoundRecord* round = nullptr;  // round_ended
  Budget left;
  double best_score = 1;
};
using Listener = std::function<void(const Event&)>;

/// Of an accepted kernel against the baseline at the end (phase VALIDATE).
struct Validation {
  enum class Result : std::uint8_t { passed, failed, not_made };
  int round = 0;
  Result result = Result::not_made;
  std::string outcome;  // a sentence
};

std::string_view name_of(Validation::Result);  // "PASS", "FAIL", "NOT MADE"

/// The best kernel beside a baseline library, all shapes, in one sitting after everything else.
struct LibraryComparison {
  std::string reason;              // why there are no times, a sentence; empty: there are
  std::optional<Verdict> verdict;  // the library is the candidate, the best kernel the incumbent
};

/// Everything a report needs; read from campaign.db alone.
struct CampaignRecord {
  std::filesystem::path folder;
  Manifest manifest;
  std::string problem_text;
  TargetFacts facts;
  Trust trust = Trust::isolated;
  std::string ako_version, machine;
  Phase phase = Phase::define_target;
  std::vector<RoundRecord> rounds;
  std::optional<Verdict>
      final_verdict;  // best (candidate) against baseline (incumbent), full level, after the last round
  std::optional<Candidate> given_baseline;   // a kernel of the user's to start from
  std::vector<Tip> tips;                     // of earlier campaigns, as they were when this one began
  std::vector<Validation> validations;       // in the order made
  std::optional<LibraryComparison> library;  // none while the campaign is open
  bool library_applies = false;  // one computes this problem: time is kept back for it; not stored
  double full_over_quick = 1;    // work on all shapes over that on the representative ones; not stored
  std::string termination;       // "T1 target reached", "budget of 60 s spent" …, empty while open
  double seconds = 0;            // spent in all, over resumes
};
/// An accepted kernel that was not right when it was validated.
bool failed_validation(const CampaignRecord&, int round);
Result<CampaignRecord> read_campaign(const std::filesystem::path& folder);

/// Makes the folder and its database; refuses a folder that holds a campaign already. `baseline`: the kernel
/// to start from; none: the agent's own.
Result<std::filesystem::path> create_campaign(const Manifest&, const Problem&,
                                              const std::filesystem::path& workspace,
                                              const std::optional<Candidate>& baseline = std::nullopt);
/// Runs to the end, or goes on where it was. One process at a time per folder (OwnerLock).
/// `stop` is asked between steps: the user pressed Ctrl-C.
Result<CampaignRecord> run_campaign(const std::filesystem::path& folder, const Listener&,
                                    const std::function<bool()>& stop);

/// More budget for a campaign that has ended or was stopped: 0 leaves a limit as it is; `seconds` and
/// `rounds` are added to what was spent, and a limit of the other kind that is spent is lifted. Errors:
/// conflict while a process runs it; invalid_input when it ended before its first kernel.
Result<void> extend_campaign(const std::filesystem::path& folder, double seconds, int rounds);

struct CampaignSummary {
  std::filesystem::path folder;
  std::string op, target, created, phase;
  int rounds = 0, accepted = 0;
  double best_score = 1;
};
/// Campaigns under agent/workspace of the current folder (or `workspace`), newest first; damaged ones are
/// listed with their error as phase.
std::vector<CampaignSummary> list_campaigns(const std::filesystem::path& workspace);

}  // namespace ako
