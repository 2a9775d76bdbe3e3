// SPDX-License-Identifier: Apache-2.0
// The sentences and tables of logs/ and rounds/round-N/summary.md (sections and columns: docs/campaigns.md).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "campaign/engine.h"
#include "campaign/experience.h"
#include "campaign/metrics.h"
#include "campaign/projections.h"
#include "campaign/ruling.h"

namespace ako {
namespace {

/// Three to six significant digits, whatever the size: a 2-core machine is at 0.0005 TFLOPS, a GPU at 1500.
std::string tflops(double flops_per_s) {
  return flops_per_s > 0 ? fmt::format("{:.4g}", flops_per_s * 1e-12) : "-";
}

std::string paragraph(std::string_view text) { return text.empty() ? "-" : printable(text); }

std::string level_of(const RoundRecord& round) {
  if (round.number == 1) {
    bool all = std::ranges::all_of(round.verdict.timings, &ShapeTiming::representative);
    return all ? "quick: the representative shapes" : "full";
  }
  return round.confirmation ? "quick, then full in fresh processes with new seeds" : "quick";
}

std::string change_against(const RoundRecord& round) {
  const Verdict& verdict = widest_verdict(round);
  if (!verdict.against_incumbent) return "-";
  return speedup_text(*verdict.against_incumbent);
}

std::string result_table(const CampaignRecord& record, const Problem& problem, const RoundRecord& round) {
  std::string text =
      "| Shape | Result | Time | TFLOPS | GB/s | Of roof | Delta vs incumbent "
      "|\n|---|---|---:|---:|---:|---:|---:|\n";
  const Verdict& verdict = widest_verdict(round);
  for (const ShapeTiming& timing : verdict.timings) {
    Verdict alone;
    alone.timings = {timing};
    Achieved achieved_here = achieved(problem, record.facts, alone);
    std::string delta =
        timing.incumbent_us.empty() ? "-" : fmt::format("{:+.2f} %", 100 * std::expm1(-timing.log_ratio));
    text += fmt::format(
        "| {} | PASS | {} | {} | {:.2f} | {} | {} |\n", markdown_cell(timing.shape),
        to_text(Microseconds(timing.candidate_median_us)), tflops(achieved_here.flops_per_s),
        achieved_here.bytes_per_s * 1e-9,
        achieved_here.efficiency > 0 ? fmt::format("{:.0f} %", 100 * achieved_here.efficiency) : "-", delta);
  }
  if (verdict.timings.empty())
    text += fmt::format("| all | {} | - | - | - | - | - |\n", markdown_cell(to_text(verdict.outcome)));
  return text;
}

std::string sweep_table(const RoundRecord& round) {
  if (round.sweep.empty()) return {};
  std::string text =
      "\nVariants, screened against the incumbent:\n\n| Variant | Result | Delta vs incumbent "
      "|\n|---|---|---:|\n";
  for (const SweepResult& result : round.sweep)
    text += fmt::format(
        "| {} | {} | {} |\n", markdown_cell(result.label), result.outcome,
        result.outcome == "correct" ? fmt::format("{:+.2f} %", 100 * std::expm1(-result.log_ratio)) : "-");
  return text;
}

std::string notes_of(const RoundRecord& round) {
  std::string text;
  for (const std::string& note : widest_verdict(round).notes)
    text += (text.empty() ? "" : "; ") + printable(note);
  return text.empty() ? "-" : text;
}

std::string rollback_analysis(const RoundRecord& round) {
  if (round.decision != RoundDecision::rolled_back) return {};
  std::string actual = "not timed";
  if (auto log_ratio = log_ratio_of(round.verdict); log_ratio && round.verdict.correct())
    actual = fmt::format("{:+.1f} % of the time", 100 * std::expm1(*log_ratio));
  return fmt::format(
      "\n## Rollback Analysis\n\n- Change: {}\n- Expected: {:.1f} % of the time saved\n- Actual: {}\n- Why "
      "it was rolled back: {}\n",
      paragraph(round.proposal.change), 100 * round.proposal.expected_gain, actual, paragraph(round.reason));
}

std::string termination_check(const CampaignRecord& record) {
  auto met = [&](std::string_view rule) { return record.termination.starts_with(rule) ? "yes" : "no"; };
  bool other = !record.termination.starts_with("T");
  return fmt::format(
      "- T1 target reached: {}\n- T2 acceptable hardware efficiency: {}\n- T3 max_iterations: {}\n- T4 the "
      "user asked: {}\n"
      "- Other: {}\n- Ended by: {}\n",
      met("T1"), met("T2"), met("T3"), met("T4"), other ? "yes" : "no", paragraph(record.termination));
}

/// A campaign may end, be given more budget and end again: the heading tells the ends apart.
std::string termination_heading(const CampaignRecord& record) {
  return fmt::format("## Termination Check (after round-{}: {})\n", record.rounds.size(),
                     paragraph(record.termination));
}

std::string final_section(const CampaignRecord& record) {
  const RoundRecord* best = best_round(record);
  std::string text =
      fmt::format("## Termination Check\n\n{}\n## Final Report\n\n", termination_check(record));
  int accepted = 0, rolled_back = 0;
  for (const RoundRecord& round : record.rounds) {
    accepted +=
        round.decision == RoundDecision::accepted || round.decision == RoundDecision::accepted_trade_off;
    rolled_back += round.decision == RoundDecision::rolled_back;
  }
  if (record.final_verdict && record.final_verdict->against_incumbent)
    text += fmt::format("- Best against baseline, timed together over all shapes: {}\n",
                        speedup_text(*record.final_verdict->against_incumbent));
  else
    text += "- No kernel was accepted over the baseline.\n";
  for (const Validation& one : record.validations)
    text += fmt::format("- Final verification of round {}: {} — {}\n", one.round, name_of(one.result),
                        paragraph(one.outcome));
  text += fmt::format("- Best: round {}\n- Rounds: {} ({} accepted, {} rolled back), {:.0f} s\n\n",
                      best ? best->number : 0, record.rounds.size(), accepted, rolled_back, record.seconds);
  std::string effective, ineffective, unclear;
  for (const RoundRecord& round : record.rounds) {
    if (round.number == 1) continue;
    std::string& list = !conclusive(round)                             ? unclear
                        : round.decision == RoundDecision::rolled_back ? ineffective
                                                                       : effective;
    list += fmt::format("- round-{}: {} ({})\n", round.number, paragraph(round.proposal.change),
                        paragraph(round.reason));
  }
  auto section = [&](std::string_view heading, const std::string& list) {
    text += fmt::format("### {}\n\n{}\n", heading, list.empty() ? "- none\n" : list);
  };
  section("Effective Directions", effective);
  section("Verified Ineffective Directions", ineffective);
  if (!unclear.empty()) section("Directions Without a Clear Answer", unclear);
  return text;
}

LogEntry tips_entry(const CampaignRecord& record) {
  LogEntry entry{"### Historical tips\n", "<!-- end of historical tips -->\n", ""};
  entry.text = entry.begin + "\n";
  for (const Tip& tip : record.tips) entry.text += fmt::format("- {}\n", paragraph(to_text(tip)));
  entry.text += entry.end + "\n";
  return entry;
}

}  // namespace

std::string optimize_log_header(const CampaignRecord& record) {
  const Manifest& manifest = record.manifest;
  return fmt::format(
      "# Optimization log: {} ({}, {})\n\n## Basic Information\n\n- Operator: {}\n- Backend: {}\n- Language: "
      "{}\n- Target: {}\n"
      "- Agent: {}\n- Created: {}\n\nTimes are UTC. Each entry is appended when its round is closed.\n\n## "
      "Optimization History\n\n",
      printable(manifest.target_op), printable(manifest.target_backend), printable(manifest.target_gpu),
      printable(manifest.target_op), printable(manifest.target_backend), printable(manifest.target_lang),
      printable(manifest.target_gpu), printable(manifest.agent), printable(manifest.created));
}

std::vector<LogEntry> optimize_log_entries(const CampaignRecord& record, const Problem& problem) {
  std::vector<LogEntry> entries;
  if (!record.tips.empty()) entries.push_back(tips_entry(record));
  for (const RoundRecord& round : record.rounds) {
    LogEntry entry;
    entry.begin = fmt::format("### round-{} ", round.number);
    entry.end = fmt::format("<!-- end of round-{} -->\n", round.number);
    entry.text = fmt::format(
        "{}— {}\n\n- Time: {}\n- Validation level: {}\n- Hypothesis: {}\n- Changes: {}\n- Result: {}\n- "
        "Test: {}\n"
        "- Decision: {} — {}\n- Notes: {}\n\n{}\n{}",
        entry.begin, name_of(round.decision), round.ended, level_of(round),
        paragraph(round.proposal.hypothesis), paragraph(round.proposal.change), change_against(round),
        printable(to_text(round.verdict.outcome)), name_of(round.decision), paragraph(round.reason),
        notes_of(round), result_table(record, problem, round), entry.end);
    entry.text += "\n";
    entries.push_back(std::move(entry));
  }
  if (!record.termination.empty()) {
    std::string heading = termination_heading(record);
    std::string mark = fmt::format("<!-- end of {} -->\n", heading.substr(3, heading.size() - 4));
    entries.push_back({heading, mark, final_section(record) + mark});
  }
  return entries;
}

std::string trend_log_header() {
  return "# Performance trend\n\n"
         "TFLOPS are geometric means over the shapes that were timed. `vs Baseline` chains ratios of kernels "
         "timed together.\n\n"
         "| Round | Status | Description | Fwd Avg TFLOPS | Fwd Peak TFLOPS | Bwd Avg TFLOPS | Bwd Peak "
         "TFLOPS | Combined Step "
         "TFLOPS | vs Baseline | Key Finding |\n|---:|---|---|---:|---:|---:|---:|---:|---|---|\n";
}

std::vector<LogEntry> trend_log_entries(const CampaignRecord& record, const Problem& problem) {
  std::vector<LogEntry> entries;
  for (const RoundRecord& round : record.rounds) {
    Achieved speed = achieved(problem, record.facts, widest_verdict(round));
    double gain = 100 * (round.score - 1);
    std::string against = round.number == 1 ? "—"
                          : round.score > 0 ? fmt::format("step {0:+.3f}%, fwd {0:+.3f}%, bwd -", gain)
                                            : "-";
    std::string mark = fmt::format("| {} |", round.number);
    std::string row = fmt::format("{} {} | {} | {} | {} | - | - | {} | {} | {} |\n", mark,
                                  name_of(round.decision), markdown_cell(round.proposal.change),
                                  tflops(speed.flops_per_s), tflops(speed.peak_flops_per_s),
                                  tflops(speed.flops_per_s), against, markdown_cell(round.reason));
    entries.push_back({mark, "\n" + mark, row});
  }
  return entries;
}

std::string round_summary(const CampaignRecord& record, const Problem& problem, const RoundRecord& round) {
  const Proposal& proposal = round.proposal;
  std::string text =
      fmt::format("# round-{}: {}\n\n## Hypothesis\n\n{}\n\n## Single change\n\n{}\n", round.number,
                  name_of(round.decision), paragraph(proposal.hypothesis), paragraph(proposal.change));
  if (!proposal.signal.empty())
    text += fmt::format("\nWhat would confirm it: {}\n", printable(proposal.signal));
  text += fmt::format(
      "\n## Results\n\n- Validation: {} to {} (UTC), {:.1f} s; level: {}\n- Compiler: {}\n- Candidate: `{}`, "
      "seed {}\n"
      "- Artifacts: kernel_snapshot/, artifacts/verdict.json, artifacts/judgements.json\n\n{}{}\n- "
      "Aggregate: {}\n",
      round.started, round.ended, round.seconds, level_of(round),
      paragraph(widest_verdict(round).artifact.compiler), round.verdict.candidate.hex(), round.verdict.seed,
      result_table(record, problem, round), sweep_table(round), change_against(round));
  text += fmt::format("\n## Decision\n\n{} — {}\n", name_of(round.decision), paragraph(round.reason));
  text += fmt::format("\n## Attribution\n\n{}\n",
                      paragraph(bottleneck_of(problem, record.facts, widest_verdict(round)).explanation));
  text += rollback_analysis(round);
  text += fmt::format("\n## Real-training transfer check\n\n- Bucket: {}\n- Cache key: none declared\n",
                      name_of(proposal.bucket));
  return text;
}

}  // namespace ako
