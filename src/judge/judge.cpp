// SPDX-License-Identifier: Apache-2.0
#include "judge/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <map>

#include "base/clock.h"
#include "judge/audit.h"
#include "judge/cancellation.h"
#include "judge/contest_timing.h"
#include "judge/library.h"
#include "target/host/host.h"
#include "toolchain/host/elf_symbols.h"
#include "toolchain/toolchain.h"

namespace ako {
namespace {

using host::GuestFault;
using host::RunGuest;

constexpr double kSmallShape = 2e7;  // reference operations: cheap enough to check beyond the level asked for
constexpr std::size_t kExtraShapes = 3;

struct Warm {
  Hash artifact;
  RunGuest guest;
};

/// Everything one judgement needs, once the request is understood.
struct Trial {
  const JudgeRequest& request;
  const Problem& problem;
  const JudgeClient::Progress& progress;
  std::uint64_t seed;
  Verdict& verdict;
  const std::stop_token& stop;
  const host::GuestOptions& options;  // of the candidate's guest
};

/// Of no use but to end the stages: after a stop nobody looks at the verdict.
Judged<void> unless_stopped(const Trial& trial) {
  if (trial.stop.stop_requested()) return std::unexpected(Outcome(InfrastructureError{"cancelled"}));
  return {};
}

Error first_of(const std::vector<Error>& errors) {
  return errors.empty() ? Error{ErrorKind::invalid_input, "the input is wrong", {}} : errors.front();
}

Result<Problem> read_problem(const JudgeRequest& request) {
  auto problem = parse_problem(request.problem_text, request.problem_path);
  if (!problem) return std::unexpected(first_of(problem.error()));
  if (!request.shapes.empty()) {
    auto chosen = with_shapes(*problem, request.shapes);
    if (!chosen) return std::unexpected(first_of(chosen.error()));
    problem = std::move(*chosen);
  }
  return std::move(*problem);
}

Result<void> check_plans(const JudgeRequest& request, const Problem& problem) {
  for (const auto* candidate : {&request.candidate, request.incumbent ? &*request.incumbent : nullptr})
    if (candidate)
      if (auto plan = check_plan(candidate->plan, problem, candidate->tunables); !plan)
        return std::unexpected(first_of(plan.error()));
  return {};
}

/// A request with the library's call as its candidate, and what that one's guest is given.
struct LibraryRequest {
  JudgeRequest request;
  LibraryInstallation installation;
};

Result<LibraryRequest> with_library(const JudgeRequest& request, const Problem& problem, int threads) {
  AKO_TRY(auto library, choose_library(request.library));
  LibraryRequest result{request, {}};
  AKO_TRY(result.request.candidate, library->kernel(problem));
  AKO_TRY(result.installation, library->find(threads));
  return result;
}

std::optional<Rejected> audit_artifact(const Artifact& artifact) {
  auto imported = imported_symbols(artifact.code);
  if (!imported) return std::nullopt;  // the loader will say what is wrong with the file
  return audit_imports({imported->begin(), imported->end()});
}

}  // namespace

std::vector<const Shape*> shapes_of_level(const Problem& problem, Level level) {
  std::vector<const Shape*> chosen;
  for (const auto& shape : problem.shapes)
    if (level == Level::full || shape.representative) chosen.push_back(&shape);
  if (chosen.empty())
    for (const auto& shape : problem.shapes) chosen.push_back(&shape);
  return chosen;
}

struct Judge::State {
  TargetFacts facts;
  host::GuestOptions options;
  std::vector<std::unique_ptr<Toolchain>> toolchains;
  std::map<Hash, std::shared_ptr<Reference>> references;
  std::optional<Warm> incumbent;
  ReleaseMeter release{host::GuestOptions{}};
  std::optional<CacheEvictor> evictor;
  Noise noise;
  Trust trust = Trust::isolated;

  Result<std::shared_ptr<Reference>> reference(const Problem&);
  Judged<Artifact> compile(const Candidate&, const Problem&, Side);
  Judged<RunGuest> start(const Artifact&, Side, const host::GuestOptions&);
  Judged<RunGuest*> warm_incumbent(const Trial&);
  Judged<std::vector<TimedShape>> check(const Trial&, RunGuest&, const Candidate&, const Reference&, Side);
  Judged<void> stages(const Trial&);
  Judged<void> time(const Trial&, RunGuest&, const Reference&, std::span<const TimedShape>);
};

Result<std::shared_ptr<Reference>> Judge::State::reference(const Problem& problem) {
  AKO_TRY(Hash key, reference_key(problem));
  if (auto found = references.find(key); found != references.end()) return found->second;
  AKO_TRY(auto loaded, Reference::load(problem));
  auto kept = std::make_shared<Reference>(std::move(loaded));
  references.emplace(key, kept);
  return kept;
}

Judged<Artifact> Judge::State::compile(const Candidate& candidate, const Problem& problem, Side side) {
  AKO_JUDGED(auto* toolchain, choose_toolchain(toolchains, candidate.language, facts.id));
  AKO_JUDGED(auto built, toolchain->build(candidate, problem, facts));
  if (auto* artifact = std::get_if<Artifact>(&built)) return std::move(*artifact);
  const auto& failure = std::get<CompileFailure>(built);
  if (side == Side::incumbent)
    return std::unexpected(
        Outcome(InfrastructureError{"the incumbent does not compile any more: " + failure.log}));
  if (failure.timed_out) return std::unexpected(Outcome(TimedOut{"compile", Seconds(60), ""}));
  return std::unexpected(Outcome(CompileError{failure.log}));
}

Judged<RunGuest> Judge::State::start(const Artifact& artifact, Side side, const host::GuestOptions& given) {
  AKO_JUDGED(auto started, RunGuest::start(artifact, given));
  if (auto* fault = std::get_if<GuestFault>(&started))
    return std::unexpected(outcome_of(*fault, side, "load", "", given));
  return std::get<RunGuest>(std::move(started));
}

/// The incumbent's guest stays warm from one judgement to the next; a confirmation wants a fresh one.
Judged<RunGuest*> Judge::State::warm_incumbent(const Trial& trial) {
  auto artifact = compile(*trial.request.incumbent, trial.problem, Side::incumbent);
  if (!artifact) return std::unexpected(artifact.error());
  bool usable =
      incumbent && incumbent->artifact == artifact->id && incumbent->guest.alive() && !trial.request.confirm;
  if (!usable) {
    incumbent.reset();
    auto guest = start(*artifact, Side::incumbent, options);
    if (!guest) return std::unexpected(guest.error());
    incumbent.emplace(Warm{artifact->id, std::move(*guest)});
  }
  return &incumbent->guest;
}

/// Checks the level's shapes and a few small ones beyond it, cheapest first. Returns what was learnt of the
/// level's.
Judged<std::vector<TimedShape>> Judge::State::check(const Trial& trial, RunGuest& guest,
                                                    const Candidate& candidate, const Reference& reference,
                                                    Side side) {
  auto level = shapes_of_level(trial.problem, trial.request.level);
  std::vector<std::pair<double, const Shape*>> order;
  for (const auto* shape : level) order.emplace_back(reference_work(trial.problem, *shape), shape);
  std::size_t extra = 0;
  for (const auto& shape : trial.problem.shapes) {
    bool listed = std::find(level.begin(), level.end(), &shape) != level.end();
    double work = reference_work(trial.problem, shape);
    if (!listed && work < kSmallShape && extra < kExtraShapes) order.emplace_back(work, &shape), ++extra;
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });

  std::map<const Shape*, Checked> seen;
  for (const auto& [work, shape] : order) {
    if (auto go_on = unless_stopped(trial); !go_on) return std::unexpected(go_on.error());
    trial.progress("check " + shape->label);
    bool alone = shape == order.front().second;
    CheckRequest one{trial.problem, *shape, candidate, reference, trial.seed, alone, side, options};
    auto checked = check_shape(guest, one, trial.verdict.spent, trial.verdict.notes);
    if (!checked) return std::unexpected(checked.error());
    seen[shape] = *checked;
  }
  std::vector<TimedShape> result;
  for (const auto* shape : level) result.push_back({shape, seen[shape]});
  return result;
}

Judged<void> Judge::State::time(const Trial& trial, RunGuest& guest, const Reference& reference,
                                std::span<const TimedShape> shapes) {
  RunGuest* other = nullptr;
  if (trial.request.incumbent) {
    auto warm = warm_incumbent(trial);
    if (!warm) return std::unexpected(warm.error());
    other = *warm;
    if (trial.request.trusted_incumbent_check) {
      auto fine = check(trial, *other, *trial.request.incumbent, reference, Side::incumbent);
      if (!fine)
        return std::unexpected(
            Outcome(InfrastructureError{"the incumbent itself is not correct: " + to_text(fine.error())}));
    }
  }
  if (!evictor) evictor.emplace(facts.last_level_cache());
  Contest contest{trial.problem, reference,
                  options,       trial.request.candidate,
                  &guest,        trial.request.incumbent ? &*trial.request.incumbent : nullptr,
                  other,         release,
                  *evictor};
  TimingRequest request{
      shapes, trial.request.effort, trial.request.time_budget, trial.seed ^ 0x74696d696e67, facts,
      noise,  trial.progress,       trial.request.time_limit};
  auto timed = time_contest(contest, request, trial.verdict.spent, trial.verdict.notes);
  if (!timed) return std::unexpected(timed.error());
  trial.verdict.timings = std::move(timed->timings);
  trial.verdict.against_incumbent = timed->comparison;
  if (timed->comparison) trial.verdict.against_incumbent->confirmed = trial.request.confirm;
  return {};
}

Judged<void> Judge::State::stages(const Trial& trial) {
  Verdict& verdict = trial.verdict;
  Stopwatch watch;
  double mark = 0;
  auto lap = [&] {
    double now = watch.elapsed().count(), passed = now - mark;
    mark = now;
    return passed;
  };
  trial.progress("audit");
  if (auto rejected = audit_sources(trial.request.candidate.sources))
    return std::unexpected(Outcome(*rejected));
  verdict.spent.audit_s += lap();

  trial.progress("compile");
  // The reference of a new problem is compiled meanwhile; afterwards it is at hand.
  auto expected = std::async(std::launch::async, [&] { return reference(trial.problem); });
  auto artifact = compile(trial.request.candidate, trial.problem, Side::candidate);
  verdict.spent.compile_s += lap();
  auto loaded = expected.get();
  verdict.spent.reference_s += lap();
  if (!artifact) return std::unexpected(artifact.error());
  verdict.artifact = *artifact;
  if (auto go_on = unless_stopped(trial); !go_on) return go_on;
  if (!loaded) return infrastructure(loaded.error());
  if (auto rejected = audit_artifact(*artifact)) return std::unexpected(Outcome(*rejected));
  verdict.spent.audit_s += lap();

  auto guest = start(*artifact, Side::candidate, trial.options);
  if (!guest) return std::unexpected(guest.error());
  verdict.trust = guest->trust();
  double reference_before = verdict.spent.reference_s;
  auto checked = check(trial, *guest, trial.request.candidate, **loaded, Side::candidate);
  verdict.spent.check_s += lap() - (verdict.spent.reference_s - reference_before);
  if (!checked) return std::unexpected(checked.error());
  if (trial.request.effort == Effort::check) {
    for (const auto& one : *checked) {
      ShapeTiming timing;
      timing.shape = one.shape->label;
      timing.core = one.shape->core;
      timing.representative = one.shape->representative;
      timing.error_db = one.checked.error_db;
      verdict.timings.push_back(std::move(timing));
    }
    return {};
  }
  if (auto go_on = unless_stopped(trial); !go_on) return go_on;
  reference_before = verdict.spent.reference_s;
  auto timed = time(trial, *guest, **loaded, *checked);
  verdict.spent.time_s += lap() - (verdict.spent.reference_s - reference_before);
  return timed;
}

Judge::Judge(std::unique_ptr<State> state) : state_(std::move(state)) {}
Judge::~Judge() = default;

Result<std::unique_ptr<Judge>> Judge::create(const TargetId& target, int threads) {
  if (target != "host")
    return fail(ErrorKind::unsupported, "there is no target \"" + target + "\"",
                "this version judges on \"host\"");
  auto state = std::make_unique<State>();
  state->facts = host::look_up();
  state->options.threads = threads;
  state->release = ReleaseMeter(state->options);
  state->toolchains = find_toolchains(target);
  state->noise = load_noise(state->facts.device);
  state->trust = confinement().full() ? Trust::isolated : Trust::unconfined;
  AKO_CHECK(choose_toolchain(state->toolchains, Language::cpp, target));
  return std::unique_ptr<Judge>(new Judge(std::move(state)));
}

namespace {

/// A plain nest on a busy machine reaches some hundred million operations a second; a large product must not
/// be taken for a kernel that hangs.
Seconds limit_of(const Problem& problem) {
  constexpr double slowest = 1e8;  // operations a second
  double work = 0;
  for (const Shape& shape : problem.shapes) work = std::max(work, reference_work(problem, shape));
  return Seconds(std::clamp(work / slowest, host::GuestOptions{}.batch_limit.count(), 60.0));
}

}  // namespace

Result<Verdict> Judge::judge(const JudgeRequest& given, const JudgeClient::Progress& given_progress,
                             std::stop_token stop) {
  Stopwatch watch;
  KillsChildrenOnStop watchdog(stop);
  JudgeClient::Progress nothing = [](std::string_view) {};
  const auto& progress = given_progress ? given_progress : nothing;
  AKO_TRY(Problem problem, read_problem(given));
  std::optional<LibraryRequest> library;
  if (!given.library.empty()) {
    AKO_TRY(library, with_library(given, problem, state_->options.threads));
  }
  const JudgeRequest& request = library ? library->request : given;
  state_->options.batch_limit = limit_of(problem);
  host::GuestOptions candidate_options = state_->options;
  if (library) candidate_options.preload = library->installation.preload;
  AKO_CHECK(check_plans(request, problem));
  // What is wrong with somebody's Python is an error of the request, and no failure of the machine.
  if (problem.python_reference) AKO_CHECK(state_->reference(problem));
  Verdict verdict;
  for (int attempt = 0; attempt < 2; ++attempt) {
    auto notes = std::move(verdict.notes);
    verdict = Verdict{};
    verdict.notes = attempt == 0 ? std::vector<std::string>{} : std::move(notes);
    verdict.candidate = request.candidate.id();
    verdict.problem = problem.id;
    if (library) verdict.library = library->installation.version;
    if (request.incumbent) verdict.incumbent = request.incumbent->id();
    verdict.target = state_->facts.id;
    verdict.trust = state_->trust;
    verdict.seed = request.seed ? request.seed : secret_seed();
    auto done = state_->stages({request, problem, progress, verdict.seed, verdict, stop, candidate_options});
    verdict.outcome = done ? Outcome(Correct{}) : done.error();
    auto* failure = std::get_if<InfrastructureError>(&verdict.outcome);
    if (!failure && !stop.stop_requested()) break;
    state_->incumbent.reset();
    state_->release = ReleaseMeter(state_->options);
    if (problem.python_reference) state_->references.clear();  // its process may have died
    if (stop.stop_requested()) break;
    verdict.notes.push_back("tried again after: " + failure->reason);
  }
  verdict.spent.total_s = watch.elapsed().count();
  return verdict;
}

const TargetFacts& Judge::facts() const { return state_->facts; }
Trust Judge::trust() const { return state_->trust; }

}  // namespace ako
