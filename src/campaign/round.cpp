// SPDX-License-Identifier: Apache-2.0
#include "campaign/round.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "campaign/budget.h"

namespace ako {
namespace {

/// A sweep of more variants than this is screened in rungs, each with the better half of the one before.
constexpr std::size_t one_rung = 8;
/// A variant that looks this much slower after screening is not worth a decision.
constexpr double hopeless_log_ratio = 0.03;

// ---- rules that need no measurement ----

Verdict refused(const Candidate& candidate, std::string rule, std::string reason) {
  Verdict verdict;
  verdict.candidate = candidate.id();
  verdict.outcome = Rejected{std::move(rule), std::move(reason), ""};
  return verdict;
}

/// The round in which this very candidate was measured; 0: in none.
int measured_in(const Hash& candidate, std::span<const RoundRecord> history) {
  for (const RoundRecord& round : history) {
    if (round.verdict.candidate == candidate) return round.number;
    for (const SweepResult& result : round.sweep)
      if (result.candidate == candidate) return round.number;
  }
  return 0;
}

std::optional<Verdict> refusal(const Proposal& proposal, const RoundSetting& setting) {
  if (proposal.bucket == Bucket::w2_activation_cache || proposal.bucket == Bucket::w3_memo)
    return refused(
        proposal.candidate, "R11",
        fmt::format("bucket {} remembers results between calls; in real use the inputs are new each time",
                    name_of(proposal.bucket)));
  if (!proposal.sweep.empty()) return std::nullopt;
  if (int round = measured_in(proposal.candidate.id(), setting.history))
    return refused(proposal.candidate, "R1",
                   fmt::format("nothing changed: this very candidate was measured in round {}", round));
  return std::nullopt;
}

// ---- sweeps ----

struct Screened {
  const Variant* variant = nullptr;
  Verdict verdict;
  double log_ratio = 0;  // mean over the rungs it took part in
  int rungs = 0;
  bool alive() const { return verdict.correct(); }
};

double geometric_mean_us(const Verdict& verdict) {
  double sum = 0;
  for (const ShapeTiming& timing : verdict.timings)
    sum += std::log(std::max(timing.candidate_median_us, 1e-6));
  return verdict.timings.empty() ? 0 : std::exp(sum / static_cast<double>(verdict.timings.size()));
}

Result<void> screen(Screened& one, const RoundSetting& setting, Inquiry& inquiry) {
  Inquiry::Question question{"screen", one.variant->label, one.variant->candidate,
                             &setting.incumbent.proposal.candidate};
  question.effort = Effort::screen;
  question.time_budget = screen_seconds(setting.left, widest_verdict(setting.incumbent));
  question.limits = setting.limits(Level::quick);
  AKO_TRY(one.verdict, inquiry.ask(question));
  double now = log_ratio_of(one.verdict).value_or(0);
  one.log_ratio = (one.log_ratio * one.rungs + now) / (one.rungs + 1);
  ++one.rungs;
  return {};
}

/// Wrong ones last, then by speed.
bool better(const Screened& a, const Screened& b) {
  if (a.alive() != b.alive()) return a.alive();
  return a.log_ratio < b.log_ratio;
}

/// Every variant once; while many are left, the better half again. Best first.
Result<std::vector<Screened>> screen_all(const Proposal& proposal, const RoundSetting& setting,
                                         Inquiry& inquiry) {
  std::vector<Screened> field;
  for (const Variant& variant : proposal.sweep) field.push_back({&variant, {}, 0, 0});
  std::size_t standing = field.size();
  while (true) {
    for (std::size_t i = 0; i < standing; ++i)
      if (field[i].rungs == 0 || field[i].alive()) AKO_CHECK(screen(field[i], setting, inquiry));
    std::stable_sort(field.begin(), field.begin() + static_cast<std::ptrdiff_t>(standing), better);
    if (standing <= one_rung) return field;
    standing = (standing + 1) / 2;
  }
}

std::vector<SweepResult> sweep_results(const Proposal& proposal, const std::vector<Screened>& field) {
  std::vector<SweepResult> results;  // in the proposal's order, which is the order of the knob's values
  for (const Variant& variant : proposal.sweep)
    for (const Screened& one : field)
      if (one.variant == &variant)
        results.push_back({variant.label, one.verdict.candidate, std::string(name_of(one.verdict.outcome)),
                           one.log_ratio, geometric_mean_us(one.verdict)});
  return results;
}

std::string outcomes_text(const std::vector<Screened>& field) {
  std::map<std::string, int> counts;
  for (const Screened& one : field) ++counts[std::string(name_of(one.verdict.outcome))];
  std::string text;
  for (const auto& [outcome, count] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, outcome);
  return text;
}

// ---- the round ----

Result<void> decide(RoundRecord& round, const RoundSetting& setting, Inquiry& inquiry) {
  const Candidate& incumbent = setting.incumbent.proposal.candidate;
  Inquiry::Question question{"decide", "", round.proposal.candidate, &incumbent};
  const Verdict& timed = widest_verdict(setting.incumbent);
  question.time_budget = comparison_seconds(setting.left, timed, Level::quick);
  question.limits = setting.limits(Level::quick);
  AKO_TRY(round.verdict, inquiry.ask(question));
  if (deserves_confirmation(round.verdict)) {
    // Stricter than asking for the full level only of small or risky gains: every acceptance has been right
    // and fast on every shape, in new processes, on inputs from new seeds.
    question.kind = "confirm";
    question.level = Level::full;
    question.confirm = true;
    question.time_budget = comparison_seconds(setting.left, timed, Level::full);
    question.limits = setting.limits(Level::full);
    AKO_TRY(round.confirmation, inquiry.ask(question));
    if (round.confirmation->against_incumbent) round.confirmation->against_incumbent->confirmed = true;
  }
  Ruling ruling = rule(round.verdict, round.confirmation);
  round.decision = ruling.decision;
  round.reason = ruling.reason;
  return {};
}

/// Chained over accepted rounds: each link is a ratio of two kernels timed in one sitting, so that the
/// machine's drift between sittings does not enter.
double score_of(const RoundRecord& round, const RoundRecord& incumbent) {
  const Verdict& verdict =
      round.confirmation && round.confirmation->correct() ? *round.confirmation : round.verdict;
  auto log_ratio = verdict.correct() ? log_ratio_of(verdict) : std::nullopt;
  return log_ratio ? incumbent.score * std::exp(-*log_ratio) : 0;
}

/// True: the round is over without a decision by timing.
Result<bool> settle_sweep(RoundRecord& round, const RoundSetting& setting, Inquiry& inquiry) {
  AKO_TRY(std::vector<Screened> field, screen_all(round.proposal, setting, inquiry));
  round.sweep = sweep_results(round.proposal, field);
  const Screened& winner = field.front();
  round.verdict = winner.verdict;
  round.proposal.candidate = winner.variant->candidate;
  std::string tried = fmt::format("{} variants ({})", field.size(), outcomes_text(field));
  if (!winner.alive()) {
    round.reason = fmt::format("of {} none was right: {}", tried, to_text(winner.verdict.outcome));
    return true;
  }
  if (winner.log_ratio > hopeless_log_ratio) {
    round.reason = fmt::format("of {} the best, {}, took {:.1f} % longer than the incumbent when screened",
                               tried, winner.variant->label, 100 * std::expm1(winner.log_ratio));
    return true;
  }
  return false;
}

/// Why there is no campaign on this first kernel, and who can mend that.
Error no_baseline(const Outcome& outcome, const BaselineOrigin& origin) {
  std::string found = to_text(outcome);
  if (origin.given)
    return {
        ErrorKind::invalid_input,
        fmt::format("the baseline {}does not stand: {}", origin.file.empty() ? "" : origin.file + " ", found),
        fmt::format("a campaign needs a first kernel that is right; look at it by: ako check {} --problem {} "
                    "--full",
                    origin.file.empty() ? "FILE" : shell_quote(origin.file), shell_quote(origin.problem))};
  bool own_fault = std::holds_alternative<CompileError>(outcome) ||
                   std::holds_alternative<Crashed>(outcome) || std::holds_alternative<Rejected>(outcome);
  if (own_fault)
    return {ErrorKind::internal, fmt::format("the baseline that ako wrote does not stand: {}", found),
            "this is a fault of ako, not of the problem: please report it with the problem file; meanwhile a "
            "kernel of your own can be the start: --baseline FILE"};
  return {ErrorKind::invalid_input, fmt::format("the baseline that ako wrote does not stand: {}", found),
          "check the problem's math, shapes and tolerance; a kernel of your own can be the start: --baseline "
          "FILE"};
}

}  // namespace

Result<RoundRecord> run_round(Proposal proposal, const RoundSetting& setting, Inquiry& inquiry) {
  RoundRecord round;
  round.number = setting.number;
  round.parent = setting.incumbent.number;
  round.proposal = std::move(proposal);
  if (auto verdict = refusal(round.proposal, setting)) {
    round.verdict = *verdict;
    round.reason = to_text(round.verdict.outcome);
    return round;
  }
  bool settled = false;
  if (!round.proposal.sweep.empty()) {
    AKO_TRY(settled, settle_sweep(round, setting, inquiry));
  }
  if (!settled) AKO_CHECK(decide(round, setting, inquiry));
  round.score = score_of(round, setting.incumbent);
  return round;
}

Result<RoundRecord> run_baseline(Proposal proposal, const BaselineOrigin& origin, Seconds time_budget,
                                 Inquiry& inquiry) {
  RoundRecord round;
  round.number = 1;
  round.proposal = std::move(proposal);
  Inquiry::Question question{"decide", "baseline", round.proposal.candidate};
  question.time_budget = time_budget;
  bool enough = false;
  if (origin.quick_suffices) {
    AKO_TRY(round.verdict, inquiry.ask(question));
    enough = !round.verdict.correct() || origin.quick_suffices(round.verdict);
    if (enough)
      round.verdict.notes.push_back("judged on the representative shapes alone: the budget is short");
  }
  if (!enough) {
    question.level = Level::full;
    AKO_TRY(round.verdict, inquiry.ask(question));
  }
  if (!round.verdict.correct()) return std::unexpected(no_baseline(round.verdict.outcome, origin));
  round.decision = RoundDecision::baseline;
  round.reason = "the first kernel, which everything is compared with";
  round.score = 1;
  return round;
}

}  // namespace ako
