// SPDX-License-Identifier: Apache-2.0
#include "cli/campaign_run.h"

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "campaign/engine.h"
#include "campaign/layout.h"
#include "campaign/ruling.h"
#include "cli/duration.h"
#include "cli/progress.h"
#include "report/report.h"

namespace ako {
namespace {

volatile std::sig_atomic_t interrupts = 0;

/// First Ctrl-C: the open question is cancelled and the campaign closed. Second: as if there were no handler;
/// the records bear it.
void on_interrupt(int signal) {
  interrupts = interrupts + 1;
  std::signal(signal, SIG_DFL);
}

class InterruptGuard {
 public:
  InterruptGuard() : int_(std::signal(SIGINT, on_interrupt)), term_(std::signal(SIGTERM, on_interrupt)) {}
  ~InterruptGuard() {
    std::signal(SIGINT, int_);
    std::signal(SIGTERM, term_);
  }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  void (*int_)(int);
  void (*term_)(int);
};

nlohmann::json interval_json(const Comparison& comparison) {
  // JSON has no infinity: a bound that too few blocks could not give is null.
  return {{"speedup", std::exp(-comparison.log_ratio)},
          {"low", std::exp(-comparison.bound.high)},
          {"high", std::exp(-comparison.bound.low)},
          {"confidence", 0.98},
          {"blocks", comparison.blocks}};
}

/// The library is the judgement's candidate, the best kernel its incumbent: the ratios are turned round.
nlohmann::json library_json(const LibraryComparison& library) {
  if (!library.verdict || !library.verdict->against_incumbent) return {{"reason", library.reason}};
  const Comparison& comparison = *library.verdict->against_incumbent;
  nlohmann::json json{
      {"name", library.verdict->library},      {"best_over_library", std::exp(comparison.log_ratio)},
      {"low", std::exp(comparison.bound.low)}, {"high", std::exp(comparison.bound.high)},
      {"blocks", comparison.blocks},           {"shapes", nlohmann::json::array()}};
  for (const ShapeTiming& timing : library.verdict->timings)
    json["shapes"].push_back({{"shape", timing.shape},
                              {"library_us", timing.candidate_median_us},
                              {"best_us", timing.incumbent_median_us},
                              {"best_over_library", std::exp(timing.log_ratio)},
                              {"low", std::exp(timing.log_ratio_interval.low)},
                              {"high", std::exp(timing.log_ratio_interval.high)}});
  return json;
}

void print_result(const CampaignRecord& record, const Context& context) {
  if (context.json) return print_json(campaign_json(record));
  Style style(context.color);
  const RoundRecord* best = best_round(record);
  fmt::print("\n{}\n", style.bold(headline(record)));
  auto line = [](std::string_view name, const std::string& value) {
    fmt::print("  {:<12} {}\n", name, printable(value));
  };
  line("ended",
       record.termination.empty() ? "not yet: " + resume_command(record.folder) : record.termination);
  line("rounds", fmt::format("{} in {}", record.rounds.size(), duration_text(record.seconds)));
  line("folder", record.folder.string());
  if (best)
    line("best kernel", fmt::format("{} (round {})", layout::best(record.folder).string(), best->number));
  if (record.library && record.library->verdict) line("library", library_text(*record.library));
  line("report", (record.folder / "report.html").string());
  if (std::string advice = budget_advice(record); !advice.empty()) fmt::print("\n{}\n", printable(advice, true));
}

/// A budget with which the rounds that did not fit would: a few times what the baseline took.
int ample_seconds(const RoundRecord& baseline) {
  constexpr int step = 30, least = 60;
  return std::max(least, step * static_cast<int>(std::ceil(4 * baseline.seconds / step)));
}

/// Whether a campaign that failed goes on when it is resumed.
bool resumable(const std::filesystem::path& folder, const Error& error) {
  if (error.kind == ErrorKind::invalid_input || error.kind == ErrorKind::corrupt ||
      error.kind == ErrorKind::not_found)
    return false;
  auto record = read_campaign(folder);
  return record && record->phase != Phase::done;
}

}  // namespace

std::string resume_command(const std::filesystem::path& folder) {
  return "ako resume " + shell_quote(folder.string());
}

std::string budget_advice(const CampaignRecord& record) {
  constexpr std::size_t few_rounds =
      3;  // more of them tried enough: the problem is hard, not the budget small
  const RoundRecord* best = best_round(record);
  if (!best || !record.termination.starts_with("budget of")) return {};
  const RoundRecord& baseline = record.rounds.front();
  bool unfit = record.termination.find("did not fit") != std::string::npos;
  bool nothing = best->number == baseline.number && record.rounds.size() <= few_rounds;
  std::string why;
  if (nothing)
    why = fmt::format("{:g} s were too few for this problem: judging the baseline took {:.1f} s{}",
                      record.manifest.budget_seconds, baseline.seconds,
                      unfit ? ", and a further round did not fit into the rest" : "");
  else if (unfit)
    why = "a last round did not fit into what was left of the budget";
  else
    return {};
  return fmt::format("{}\ngo on by: {} --budget {}s", why, resume_command(record.folder),
                     ample_seconds(baseline));
}

std::string headline(const CampaignRecord& record) {
  if (record.final_verdict && record.final_verdict->against_incumbent) {
    const Comparison& comparison = *record.final_verdict->against_incumbent;
    return fmt::format("{} the speed of the baseline", speedup_text(comparison));
  }
  if (record.rounds.empty()) return "nothing was measured";
  const RoundRecord* best = best_round(record);
  if (best->number == 1) return "no kernel was accepted over the baseline";
  return fmt::format(
      "{:.2f}× faster than the baseline so far (chained over rounds, not yet verified in one sitting)",
      best->score);
}

nlohmann::json campaign_json(const CampaignRecord& record) {
  nlohmann::json rounds = nlohmann::json::array();
  for (const RoundRecord& round : record.rounds)
    rounds.push_back({{"number", round.number},
                      {"parent", round.parent},
                      {"decision", name_of(round.decision)},
                      {"outcome", name_of(round.verdict.outcome)},
                      {"score", round.score},
                      {"hypothesis", round.proposal.hypothesis},
                      {"change", round.proposal.change},
                      {"reason", round.reason},
                      {"candidate", round.verdict.candidate.hex()},
                      {"seconds", round.seconds}});
  nlohmann::json json{{"folder", record.folder.string()},
                      {"op", record.manifest.target_op},
                      {"target", record.manifest.target_gpu},
                      {"phase", name_of(record.phase)},
                      {"termination", record.termination},
                      {"trust", name_of(record.trust)},
                      {"seconds", record.seconds},
                      {"rounds", rounds},
                      {"headline", headline(record)},
                      {"report", (record.folder / "report.html").string()}};
  if (const RoundRecord* best = best_round(record))
    json["best"] = {{"round", best->number},
                    {"candidate", best->verdict.candidate.hex()},
                    {"folder", layout::best(record.folder).string()},
                    {"score", best->score}};
  json["validations"] = nlohmann::json::array();
  for (const Validation& one : record.validations)
    json["validations"].push_back(
        {{"round", one.round}, {"result", name_of(one.result)}, {"outcome", one.outcome}});
  json["tips_read"] = record.tips.size();
  if (std::string advice = budget_advice(record); !advice.empty()) json["advice"] = advice;
  if (record.final_verdict && record.final_verdict->against_incumbent)
    json["final"] = interval_json(*record.final_verdict->against_incumbent);
  if (record.library) json["library"] = library_json(*record.library);
  return json;
}

std::string library_text(const LibraryComparison& library) {
  if (!library.verdict || !library.verdict->against_incumbent)
    return fmt::format("no library was timed: {}", library.reason);
  const Comparison& comparison = *library.verdict->against_incumbent;
  return fmt::format("{:.2f}× the speed of {}{}", std::exp(comparison.log_ratio), library.verdict->library,
                     comparison.clarity == Clarity::ambiguous ? " (within noise)" : "");
}

int run_and_report(const std::filesystem::path& folder, const Context& context) {
  Result<CampaignRecord> record;
  {
    InterruptGuard guard;
    ProgressLine progress(context);
    record = run_campaign(
        folder, [&](const Event& event) { progress.show(event); }, [] { return interrupts > 0; });
  }
  if (!record) {
    Error error = record.error();
    if (resumable(folder, error))
      error.advice += fmt::format("{}nothing was lost; go on by: {}", error.advice.empty() ? "" : "; ",
                                  resume_command(folder));
    return complain(context, error);
  }
  Result<void> report = write_report(*record);
  print_result(*record, context);
  if (!report)
    return complain(Context{false, context.quiet, context.color, context.terminal, 0}, report.error());
  if (record->termination.empty()) {
    if (!context.json) fmt::print("\ninterrupted; go on by: {}\n", resume_command(folder));
    return exit_code::interrupted;
  }
  return exit_code::fine;
}

}  // namespace ako
