// SPDX-License-Identifier: Apache-2.0
#include "report/record_fixture.h"

#include <cmath>

namespace ako::testing {
namespace {

constexpr const char* kProblem = R"(problem: scale
summary: Twice the input.
dims: {N: elements}
tensors:
  x: {type: f32, shape: [N]}
  y: {type: f32, shape: [N]}
math: |
  y[i] = x[i] * 2.0
shapes:
  - {N: 1048576, core: true, representative: true}
  - {N: 1000}
tolerance: {snr_db: 100}
)";

const std::string kHostile =
    "\"'&<b>x</b></script><script>document.title='pwned'</script>`|\n\x01\xff\xfe /*DATA*/ /*SCRIPT*/";

ShapeTiming timing(const std::string& shape, double candidate_us, double incumbent_us) {
  ShapeTiming t;
  t.shape = shape;
  for (int i = 0; i < 16; ++i) {
    t.candidate_us.push_back(candidate_us * (1 + 0.01 * (i % 5)));
    if (incumbent_us > 0) t.incumbent_us.push_back(incumbent_us * (1 + 0.01 * (i % 3)));
  }
  t.candidate_median_us = candidate_us * 1.02;
  t.incumbent_median_us = incumbent_us * 1.01;
  t.log_ratio = incumbent_us > 0 ? std::log(candidate_us / incumbent_us) : 0;
  t.log_ratio_interval = {t.log_ratio - 0.02, t.log_ratio + 0.02};
  t.error_db = 140;
  return t;
}

RoundRecord make_round(int number, int parent, RoundDecision decision, double us, double incumbent_us,
                       const std::string& text) {
  RoundRecord round;
  round.number = number;
  round.parent = parent;
  round.decision = decision;
  round.reason = "Reason " + text;
  round.score = 400 / us;
  round.seconds = 1.5;
  round.started = "2026-01-02 03:04:05";
  round.proposal.hypothesis = "Hypothesis " + text;
  round.proposal.change = "Change " + text;
  round.proposal.candidate.sources = {
      {"scale.cpp", "// round " + std::to_string(number) + "\n" + text + "\nint x;\n"}};
  round.verdict.candidate = round.proposal.candidate.id();
  round.verdict.outcome = Correct{};
  round.verdict.notes = {text};
  round.verdict.timings = {timing("N=1048576", us, incumbent_us),
                           timing("N=1000", us / 1000, incumbent_us / 1000)};
  if (incumbent_us > 0) {
    Comparison comparison;
    comparison.log_ratio = std::log(us / incumbent_us);
    comparison.bound = {comparison.log_ratio - 0.01, comparison.log_ratio + 0.01};
    comparison.blocks = 16;
    comparison.clarity = us < incumbent_us ? Clarity::faster : Clarity::slower;
    round.verdict.against_incumbent = comparison;
  }
  return round;
}

}  // namespace

CampaignRecord example_record(bool hostile) {
  const std::string text = hostile ? kHostile : "text";
  CampaignRecord record;
  record.folder = "scale_cpp_host_20260102";
  record.problem_text = kProblem;
  record.facts.id = "host";
  record.facts.device = hostile ? kHostile : "Example CPU";
  record.facts.compute_units = 2;
  record.facts.facts["copy_bandwidth_bytes_per_s"] = {2e10, "measured " + text};
  record.facts.facts["peak_flops_f32"] = {2e11, "measured"};
  record.ako_version = "0.0.0-test";
  record.machine = text;
  record.manifest.created = "2026-01-02 03:04";
  record.termination = "T1 target reached " + text;
  record.seconds = 12;
  record.rounds.push_back(make_round(1, 0, RoundDecision::baseline, 400, 0, text));
  record.rounds.push_back(make_round(2, 1, RoundDecision::accepted, 100, 400, text));
  record.rounds.push_back(make_round(3, 2, RoundDecision::rolled_back, 110, 100, text));
  record.rounds[1].sweep = {{text, Hash{}, "correct", std::log(0.5), 200}, {"b", Hash{}, "wrong", 0, 0}};
  record.final_verdict = make_round(0, 0, RoundDecision::accepted, 100, 400, text).verdict;
  record.final_verdict->candidate = record.rounds[1].verdict.candidate;
  return record;
}

}  // namespace ako::testing
