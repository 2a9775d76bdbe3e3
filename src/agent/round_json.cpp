// SPDX-License-Identifier: Apache-2.0
// Closed rounds as JSON, with everything that is needed to go on from them.
#include <fmt/format.h>

#include "agent/agent.h"
#include "judge/json_fields.h"

namespace ako {
namespace {

using nlohmann::json;
using namespace json_fields;

constexpr Bucket kBuckets[] = {Bucket::k1_kernel,    Bucket::k2_layout,       Bucket::k3_fusion,
                               Bucket::k4_data_flow, Bucket::w1_weight_cache, Bucket::w2_activation_cache,
                               Bucket::w3_memo};
constexpr RoundDecision kDecisions[] = {RoundDecision::baseline, RoundDecision::accepted,
                                        RoundDecision::accepted_trade_off, RoundDecision::rolled_back};

template <class Enum, std::size_t N>
Result<Enum> named(const Enum (&values)[N], const json& object, const char* key) {
  std::string name = text(object, key);
  for (Enum value : values)
    if (name_of(value) == name) return value;
  return fail(ErrorKind::corrupt, fmt::format("round record: {} is '{}'", key, name),
              "the record is damaged or from a newer version of ako");
}

json to_json(const Proposal& proposal) {
  json sweep = json::array();
  for (const Variant& variant : proposal.sweep)
    sweep.push_back({{"label", variant.label}, {"candidate", ako::to_json(variant.candidate)}});
  return {{"hypothesis", proposal.hypothesis},
          {"change", proposal.change},
          {"bucket", name_of(proposal.bucket)},
          {"expected_gain", number(proposal.expected_gain)},
          {"signal", proposal.signal},
          {"candidate", ako::to_json(proposal.candidate)},
          {"sweep", sweep},
          {"tag", proposal.tag}};
}

Result<Proposal> proposal_from(const json& object) {
  Proposal proposal;
  proposal.hypothesis = text(object, "hypothesis");
  proposal.change = text(object, "change");
  AKO_TRY(proposal.bucket, named(kBuckets, object, "bucket"));
  proposal.expected_gain = real(object, "expected_gain");
  proposal.signal = text(object, "signal");
  AKO_TRY(proposal.candidate, candidate_from_json(field(object, "candidate")));
  for (const json& one : field(object, "sweep")) {
    AKO_TRY(Candidate candidate, candidate_from_json(field(one, "candidate")));
    proposal.sweep.push_back({text(one, "label"), std::move(candidate)});
  }
  proposal.tag = text(object, "tag");
  return proposal;
}

json to_json(const SweepResult& result) {
  return {{"label", result.label},
          {"candidate", result.candidate.hex()},
          {"outcome", result.outcome},
          {"log_ratio", number(result.log_ratio)},
          {"estimate_us", number(result.estimate_us)}};
}

Result<SweepResult> sweep_result_from(const json& object) {
  SweepResult result{text(object, "label"),
                     {},
                     text(object, "outcome"),
                     real(object, "log_ratio"),
                     real(object, "estimate_us")};
  if (!Hash::parse(text(object, "candidate"), result.candidate))
    return fail(ErrorKind::corrupt, "round record: a sweep result does not name its candidate",
                "the record is damaged or from a newer version of ako");
  return result;
}

}  // namespace

json to_json(const RoundRecord& round) {
  json sweep = json::array();
  for (const SweepResult& result : round.sweep) sweep.push_back(to_json(result));
  return {{"number", round.number},
          {"parent", round.parent},
          {"proposal", to_json(round.proposal)},
          {"verdict", to_json(round.verdict)},
          {"confirmation", round.confirmation ? to_json(*round.confirmation) : json()},
          {"sweep", sweep},
          {"decision", name_of(round.decision)},
          {"reason", round.reason},
          {"score", number(round.score)},
          {"started", round.started},
          {"ended", round.ended},
          {"seconds", number(round.seconds)}};
}

Result<RoundRecord> round_from_json(const json& object) {
  if (!object.is_object())
    return fail(ErrorKind::corrupt, "a round record is not a JSON object", "the record is damaged");
  RoundRecord round;
  round.number = static_cast<int>(integer(object, "number"));
  round.parent = static_cast<int>(integer(object, "parent"));
  AKO_TRY(round.proposal, proposal_from(field(object, "proposal")));
  AKO_TRY(round.verdict, verdict_from_json(field(object, "verdict")));
  if (const json& confirmation = field(object, "confirmation"); !confirmation.is_null()) {
    AKO_TRY(round.confirmation, verdict_from_json(confirmation));
  }
  for (const json& one : field(object, "sweep")) {
    AKO_TRY(SweepResult result, sweep_result_from(one));
    round.sweep.push_back(std::move(result));
  }
  AKO_TRY(round.decision, named(kDecisions, object, "decision"));
  round.reason = text(object, "reason");
  round.score = real(object, "score");
  round.started = text(object, "started");
  round.ended = text(object, "ended");
  round.seconds = real(object, "seconds");
  return round;
}

}  // namespace ako
