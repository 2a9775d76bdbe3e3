// SPDX-License-Identifier: Apache-2.0
// Theory of operation. campaign.db holds closed rounds, at most one open round, and the phase. The engine
// keeps a CampaignRecord in memory that is always equal to what is committed: a step first commits, then
// updates the record, then the projections. A process that dies leaves an open round at worst, which the next
// run discards; the agent's knowledge is rebuilt by telling it all closed rounds, so that it goes on as if
// nothing had happened.
#include "campaign/engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "campaign/budget.h"
#include "campaign/experience.h"
#include "campaign/inquiry.h"
#include "campaign/library.h"
#include "campaign/projections.h"
#include "campaign/round.h"
#include "judge/check.h"
#include "judge/judge.h"
#include "problem/reference_python.h"

namespace ako {
namespace {

constexpr int agent_tries = 3;
/// Refused proposals in a row (rules broken without a measurement) after which the agent is taken to be
/// stuck.
constexpr int patience = 12;

/// Of judging all shapes over judging the representative ones.
double work_ratio(const Problem& problem) {
  auto work = [&](Level level) {
    double sum = 0;
    for (const Shape* shape : shapes_of_level(problem, level)) sum += reference_work(problem, *shape);
    return sum;
  };
  double quick = work(Level::quick);
  return quick > 0 ? work(Level::full) / quick : 1;
}

class Engine {
 public:
  Engine(CampaignStore& store, const EngineParts& parts, CampaignRecord record, Problem problem,
         JudgeRequest common)
      : store_(store),
        parts_(parts),
        record_(std::move(record)),
        problem_(std::move(problem)),
        spending_(record_.seconds, parts_.clock),
        inquiry_(parts_.judge, std::move(common), parts_.stop,
                 [this](std::string_view stage) { stage_reached(stage); }) {
    look_for_library();
    record_.full_over_quick = work_ratio(problem_);
  }

  Result<CampaignRecord> run() {
    Result<void> result = steps();
    record_.seconds = spending_.seconds();
    if (!result) {
      // Best effort: a second failure must not hide the first.
      (void)store_.discard_open_round(record_.seconds);
      if (!inquiry_.stopped()) return std::unexpected(result.error());
      tell(Event::Kind::note, "stopped; everything up to the last closed round is kept");
    }
    return record_;
  }

 private:
  Result<void> steps() {
    if (record_.phase == Phase::done) return project();
    AKO_CHECK(prepare());
    if (record_.rounds.empty()) {
      AKO_CHECK(read_tips());
      AKO_CHECK(baseline());
    }
    AKO_TRY(std::string reason, optimize());
    AKO_CHECK(validate(reason));
    AKO_CHECK(compare_with_library());
    AKO_CHECK(enter(Phase::report));
    return end(reason);
  }

  // ---- phases ----

  Result<void> prepare() {
    AKO_TRY(std::optional<OpenRound> torn, store_.open_round());
    if (torn) {
      AKO_CHECK(store_.discard_open_round(record_.seconds));
      tell(Event::Kind::note, fmt::format("round {} was interrupted and starts again", torn->number));
    }
    if (record_.rounds.empty()) AKO_CHECK(enter(Phase::prepare_environment));
    record_.facts = parts_.judge.facts();
    record_.trust = parts_.judge.trust();
    record_.machine = record_.facts.device;
    AKO_CHECK(store_.set_environment(record_.facts, record_.trust, record_.machine));
    if (!record_.rounds.empty()) parts_.agent.advise(record_.tips);
    for (const RoundRecord& round : record_.rounds) parts_.agent.learn(round);
    return project();
  }

  /// Tips are a help: a campaign goes on without them.
  Result<void> read_tips() {
    AKO_CHECK(enter(Phase::read_historical_tips));
    if (parts_.memories.recall) {
      auto tips = parts_.memories.recall(record_, problem_);
      if (tips)
        record_.tips = std::move(*tips);
      else
        tell(Event::Kind::note,
             fmt::format("tips of earlier campaigns cannot be read: {}", tips.error().what));
    }
    AKO_CHECK(store_.set_tips(record_.tips));
    AKO_CHECK(project());
    parts_.agent.advise(record_.tips);
    if (record_.tips.empty()) return {};
    tell(Event::Kind::note, fmt::format("{} tip{} of earlier campaigns; the first: {}", record_.tips.size(),
                                        record_.tips.size() == 1 ? "" : "s", to_text(record_.tips.front())));
    return {};
  }

  void keep_tips() {
    if (!parts_.memories.keep) return;
    if (auto kept = parts_.memories.keep(tips_of(record_, problem_)); !kept)
      tell(Event::Kind::note, fmt::format("this campaign's tips cannot be kept: {}", kept.error().what));
  }

  Result<void> baseline() {
    AKO_TRY(Proposal proposal, first_proposal());
    AKO_CHECK(begin(1, proposal.hypothesis.empty() ? "baseline" : proposal.hypothesis));
    BaselineOrigin origin{record_.given_baseline.has_value(), record_.manifest.kernel_source,
                          record_.manifest.problem};
    // A user's kernel is judged on every shape before anything is built on it.
    if (!origin.given && record_.manifest.budget_seconds > 0 && record_.full_over_quick > 1)
      origin.quick_suffices = [this](const Verdict& quick) {
        return quick_baseline_suffices(record_, quick);
      };
    Result<RoundRecord> round =
        run_baseline(std::move(proposal), origin, baseline_seconds(record_.manifest), inquiry_);
    // An internal error is ako's own bad kernel where there is a judgement, else a failure of the judge.
    bool judged = !round && !inquiry_.take_judgements().empty();
    bool hopeless = !round && (round.error().kind == ErrorKind::invalid_input ||
                               (round.error().kind == ErrorKind::internal && judged));
    if (hopeless && !inquiry_.stopped()) {
      AKO_CHECK(store_.discard_open_round(spending_.seconds()));
      AKO_CHECK(end(round.error().what));
    }
    if (!round) return std::unexpected(round.error());
    return close(std::move(*round));
  }

  Result<Proposal> first_proposal() {
    if (!record_.given_baseline) {
      auto proposal = parts_.agent.baseline(problem_, record_.facts, language());
      if (!proposal && proposal.error().kind == ErrorKind::unsupported)
        return fail(ErrorKind::invalid_input, fmt::format("no first kernel: {}", proposal.error().what),
                    "give one to start from: --baseline FILE");
      return proposal;
    }
    Proposal given;
    given.hypothesis = "The kernel that was given is what everything is compared with.";
    given.change = "none";
    given.signal = "it is correct on every shape";
    given.candidate = *record_.given_baseline;
    return given;
  }

  /// Rounds until there is a reason to end, which it returns.
  Result<std::string> optimize() {
    int refused = 0;
    while (true) {
      const RoundRecord& incumbent = *best_round(record_);
      Achieved best = achieved(problem_, record_.facts, widest_verdict(incumbent));
      if (std::string reason = reason_to_end(record_, best, spending_.seconds()); !reason.empty())
        return reason;
      AKO_TRY(std::optional<Proposal> proposal, ask_agent(incumbent));
      if (!proposal) return "the agent has nothing left to propose";
      AKO_TRY(bool done, one_round(std::move(*proposal), incumbent));
      if (!done)
        return fmt::format("budget of {:g} s spent; a last round did not fit",
                           record_.manifest.budget_seconds);
      refused = std::holds_alternative<Rejected>(record_.rounds.back().verdict.outcome) &&
                        record_.rounds.back().verdict.spent.total_s == 0
                    ? refused + 1
                    : 0;
      if (refused == patience) return fmt::format("the agent broke the rules {} times in a row", patience);
    }
  }

  /// False: the budget ended it.
  Result<bool> one_round(Proposal proposal, const RoundRecord& incumbent) {
    int number = record_.rounds.back().number + 1;
    AKO_CHECK(begin(number, proposal.hypothesis));
    RoundSetting setting{number, incumbent, record_.rounds, left(),
                         [this](Level level) { return round_limits(record_, spending_.seconds(), level); }};
    auto round = run_round(std::move(proposal), setting, inquiry_);
    if (!round && inquiry_.out_of_time()) {
      (void)inquiry_.take_judgements();
      open_ = 0;
      AKO_CHECK(store_.discard_open_round(spending_.seconds()));
      return false;
    }
    if (!round) return std::unexpected(round.error());
    AKO_CHECK(close(std::move(*round)));
    return true;
  }

  /// nullopt: nothing left to propose.
  Result<std::optional<Proposal>> ask_agent(const RoundRecord& incumbent) {
    Situation situation{problem_,       record_.facts,
                        language(),     incumbent,
                        record_.rounds, bottleneck_of(problem_, record_.facts, widest_verdict(incumbent)),
                        left()};
    tell(Event::Kind::stage, "the agent is thinking");
    for (int attempt = 1;; ++attempt) {
      Result<Proposal> proposal = parts_.agent.propose(situation);
      if (proposal) return std::move(*proposal);
      const Error& error = proposal.error();
      if (error.kind == ErrorKind::not_found) return std::nullopt;
      if (error.kind != ErrorKind::unavailable || attempt == agent_tries)
        return fail(error.kind, fmt::format("the agent '{}' failed: {}", parts_.agent.name(), error.what),
                    error.advice);
    }
  }

  /// The headline: best against baseline directly, all shapes, fresh processes. A kernel that fails here,
  /// after two verdicts in its favour, is passed over for the one it was built on.
  Result<void> validate(std::string& reason) {
    const RoundRecord* best = best_round(record_);
    if (best->number == 1) return {};
    AKO_CHECK(enter(Phase::validate));
    while (best->number != 1) {
      AKO_TRY(bool standing, validated(*best));
      if (standing) break;
      reason += fmt::format("; round {} did not pass the final verification", best->number);
      best = round_numbered(best->parent);
    }
    return {};
  }

  /// False: not right after all.
  Result<bool> validated(const RoundRecord& best) {
    if (confirmation_suffices(record_, best, spending_.seconds())) {
      Verdict same = *best.confirmation;
      same.notes.push_back(
          fmt::format("the confirmation of round {}, made against the baseline over all shapes: no time was "
                      "left for another",
                      best.number));
      verifications_.push_back({"final", fmt::format("round-{}", best.number), same});
    } else {
      auto asked = verify(best);
      if (!asked && inquiry_.out_of_time()) {
        note_validation(best, Validation::Result::not_made, "the budget left no time for it");
        return true;
      }
      if (!asked) return std::unexpected(asked.error());
      for (Judgement& judgement : inquiry_.take_judgements()) verifications_.push_back(std::move(judgement));
    }
    const Verdict& verdict = verifications_.back().verdict;
    std::string outcome = !verdict.correct() ? to_text(verdict.outcome)
                          : verdict.against_incumbent
                              ? speedup_text(*verdict.against_incumbent) + " the speed of the baseline"
                              : "correct";
    note_validation(best, verdict.correct() ? Validation::Result::passed : Validation::Result::failed,
                    outcome);
    return verdict.correct();
  }

  void note_validation(const RoundRecord& best, Validation::Result result, const std::string& outcome) {
    record_.validations.push_back({best.number, result, outcome});
    tell(Event::Kind::note, fmt::format("final verification of round {}: {}", best.number, outcome));
  }

  Result<void> verify(const RoundRecord& best) {
    Inquiry::Question question{"final", fmt::format("round-{}", best.number), best.proposal.candidate,
                               &record_.rounds.front().proposal.candidate};
    question.level = Level::full;
    question.confirm = true;
    question.time_budget = final_seconds(record_);
    question.limits = final_limits(record_, spending_.seconds());
    AKO_CHECK(inquiry_.ask(question));
    return {};
  }

  Result<void> compare_with_library() {
    LibraryComparison comparison{why_no_library_, {}};
    if (record_.library_applies) {
      AKO_TRY(comparison, time_library(library_, best_after_validation()->proposal.candidate, record_,
                                       spending_.seconds(), inquiry_));
    }
    if (!comparison.verdict)
      tell(Event::Kind::note, fmt::format("no library was timed: {}", comparison.reason));
    AKO_CHECK(store_.set_library(comparison));
    record_.library = std::move(comparison);
    return {};
  }

  const RoundRecord* best_after_validation() const {
    if (verifications_.empty() || !verifications_.back().verdict.correct()) return best_round(record_);
    for (const RoundRecord& round : record_.rounds)
      if (round.verdict.candidate == verifications_.back().verdict.candidate) return &round;
    return best_round(record_);
  }

  // ---- steps: commit, remember, project ----

  Result<void> enter(Phase phase) {
    AKO_CHECK(store_.set_phase(phase, spending_.seconds()));
    record_.phase = phase;
    tell(Event::Kind::phase, std::string(name_of(phase)));
    return {};
  }

  Result<void> begin(int number, const std::string& hypothesis) {
    started_ = utc_now();
    round_start_ = spending_.seconds();
    AKO_CHECK(store_.begin_round(number, started_));
    record_.phase = number == 1 ? Phase::baseline : Phase::optimize;
    open_ = number;
    tell(Event::Kind::round_started, hypothesis);
    return {};
  }

  Result<void> close(RoundRecord round) {
    round.started = started_;
    round.ended = utc_now();
    round.seconds = spending_.seconds() - round_start_;
    std::vector<Judgement> judgements = inquiry_.take_judgements();
    AKO_CHECK(store_.close_round(round, judgements, spending_.seconds()));
    record_.phase = Phase::analyze;
    record_.rounds.push_back(std::move(round));
    record_.seconds = spending_.seconds();
    AKO_CHECK(project());
    const RoundRecord& closed = record_.rounds.back();
    parts_.agent.learn(closed);
    tell(Event::Kind::round_ended, closed.reason, &closed);
    open_ = 0;
    return {};
  }

  Result<void> end(const std::string& termination) {
    AKO_CHECK(store_.finish(termination, verifications_, record_.validations, spending_.seconds()));
    record_.phase = Phase::done;
    record_.termination = termination;
    record_.seconds = spending_.seconds();
    if (!verifications_.empty() && verifications_.back().verdict.correct())
      record_.final_verdict = verifications_.back().verdict;
    AKO_CHECK(project());
    keep_tips();
    tell(Event::Kind::finished, termination);
    return {};
  }

  Result<void> project() { return write_projections(record_, problem_, store_); }

  // ---- small things ----

  void look_for_library() {
    if (!parts_.library) return;
    auto library = parts_.library(problem_);
    record_.library_applies = library.has_value();
    library_ = library.value_or("");
    if (!library) why_no_library_ = library.error().what;
  }

  Language language() const { return language_from(record_.manifest.target_lang).value_or(Language::cpp); }
  Budget left() const { return budget_left(record_, spending_.seconds()); }
  const RoundRecord* round_numbered(int number) const {
    for (const RoundRecord& round : record_.rounds)
      if (round.number == number) return &round;
    return nullptr;
  }

  void stage_reached(std::string_view stage) { tell(Event::Kind::stage, std::string(stage)); }
  void tell(Event::Kind kind, const std::string& text, const RoundRecord* round = nullptr) {
    if (!parts_.listener) return;
    const RoundRecord* best = best_round(record_);
    parts_.listener({kind, text, open_, round, left(), best ? best->score : 1});
  }

  CampaignStore& store_;
  const EngineParts& parts_;
  CampaignRecord record_;
  Problem problem_;
  Spending spending_;
  Inquiry inquiry_;
  int open_ = 0;
  std::string started_;
  double round_start_ = 0;
  std::vector<Judgement> verifications_;
  std::string library_, why_no_library_ = "none was asked for";
};

/// Where the problem came from, or its copy in the campaign's folder when its Python file is no longer there.
/// The original first: a reference may import what lies beside it.
std::filesystem::path problem_file(const CampaignRecord& record, const std::filesystem::path& original) {
  auto problem = parse_problem(record.problem_text, original);
  std::error_code code;
  if (!problem || !problem->python_reference || std::filesystem::exists(python_file(*problem), code))
    return original;
  return std::filesystem::absolute(record.folder / "problem.yaml", code);
}

}  // namespace

bool failed_validation(const CampaignRecord& record, int round) {
  auto failed = [round](const Validation& one) {
    return one.round == round && one.result == Validation::Result::failed;
  };
  return std::ranges::any_of(record.validations, failed);
}

const RoundRecord* best_round(const CampaignRecord& record) {
  const RoundRecord* best = nullptr;
  for (const RoundRecord& round : record.rounds) {
    if (round.decision == RoundDecision::rolled_back) continue;
    if (record.final_verdict && round.verdict.candidate == record.final_verdict->candidate) return &round;
    if (!failed_validation(record, round.number)) best = &round;
  }
  return best;
}

Result<CampaignRecord> run_engine(CampaignStore& store, const EngineParts& parts) {
  AKO_TRY(CampaignRecord record, store.load());
  AKO_TRY(std::filesystem::path original, store.problem_path());
  std::filesystem::path path = problem_file(record, original);
  auto problem = parse_problem(record.problem_text, path);
  bool own_shapes = record.manifest.target_shapes.find('=') != std::string::npos;
  if (problem && own_shapes) problem = with_shapes(*problem, record.manifest.target_shapes);
  if (!problem) return std::unexpected(problem.error().front());
  JudgeRequest common;
  common.problem_text = record.problem_text;
  common.problem_path = path.string();
  if (own_shapes) common.shapes = record.manifest.target_shapes;
  return Engine(store, parts, std::move(record), std::move(*problem), std::move(common)).run();
}

}  // namespace ako
