// SPDX-License-Identifier: Apache-2.0
// An Agent proposes; it sees a Situation and returns a Proposal. It never measures and never decides.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/tip.h"
#include "judge/verdict.h"
#include "problem/cost.h"
#include "profile/bottleneck.h"
#include "synth/schedule.h"
#include "target/facts.h"

namespace ako {

enum class Bucket : std::uint8_t { k1_kernel, k2_layout, k3_fusion, k4_data_flow, w1_weight_cache, w2_activation_cache, w3_memo };
std::string_view name_of(Bucket);  // "K1" …

/// Variants of the same code: one round (rule R1).
struct Variant {
  std::string label;                // "tile_m=64 tile_n=16"
  Candidate candidate;
};

struct Proposal {
  std::string hypothesis;           // "The row maximum and the sum each stream the row again; an online form reads it once."
  std::string change;               // "passes: three → online"
  Bucket bucket = Bucket::k1_kernel;
  double expected_gain = 0;         // fraction of time saved, 0.1 = 10 %
  std::string signal;               // what would confirm it
  Candidate candidate;              // the one proposed, or the first of the sweep
  std::vector<Variant> sweep;       // empty: a single change
  std::string tag;                  // the agent's own note (search: the schedule), stored with the round
};

enum class RoundDecision : std::uint8_t { baseline, accepted, accepted_trade_off, rolled_back };
std::string_view name_of(RoundDecision);  // "BASELINE", "ACCEPTED", "ACCEPTED (trade-off)", "ROLLED BACK"

struct SweepResult {
  std::string label;
  Hash candidate;
  std::string outcome;              // name_of(Outcome)
  double log_ratio = 0;             // against the incumbent, screened
  double estimate_us = 0;           // geometric mean over shapes
};

/// A closed round.
struct RoundRecord {
  int number = 0;                   // 1 is the baseline
  int parent = 0;                   // the accepted round it started from; 0 for the baseline
  Proposal proposal;
  Verdict verdict;                  // of the winner of the sweep, or of the candidate
  std::optional<Verdict> confirmation;
  std::vector<SweepResult> sweep;
  RoundDecision decision = RoundDecision::rolled_back;
  std::string reason;               // why this decision, a sentence
  double score = 0;                 // baseline time / this one's time, geometric mean over the level's shapes
  std::string started, ended;       // "YYYY-MM-DD HH:MM:SS" UTC
  double seconds = 0;
};

struct Budget {
  double seconds_left = 0;
  int rounds_left = 0;
};

struct Situation {
  const Problem& problem;
  const TargetFacts& target;
  Language language;
  const RoundRecord& incumbent;
  std::span<const RoundRecord> history;  // all closed rounds, oldest first
  Bottleneck bottleneck;
  Budget left;
};

class Agent {
 public:
  virtual ~Agent() = default;
  virtual std::string name() const = 0;
  /// The first candidate: what everything is compared with.
  virtual Result<Proposal> baseline(const Problem&, const TargetFacts&, Language) = 0;
  /// ErrorKind::not_found: nothing left to propose.
  virtual Result<Proposal> propose(const Situation&) = 0;
  /// Told of what earlier campaigns learned, before anything else.
  virtual void advise(std::span<const Tip>) {}
  /// Told of every closed round, also of those of an earlier run when a campaign resumes.
  virtual void learn(const RoundRecord&) {}
};

struct AgentOptions {
  std::uint64_t seed = 1;
};
/// "search" now. One line per agent in agent.cpp.
Result<std::unique_ptr<Agent>> make_agent(std::string_view name, const AgentOptions&);

nlohmann::json to_json(const RoundRecord&);
Result<RoundRecord> round_from_json(const nlohmann::json&);

}  // namespace ako
