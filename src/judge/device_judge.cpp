// SPDX-License-Identifier: Apache-2.0
#include "judge/device_judge.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/files.h"
#include "judge/device_audit.h"
#include "judge/judge.h"

namespace ako {
namespace {

constexpr double kCheapShape = 2e7;  // reference operations: cheap enough to check beyond the level asked for
constexpr std::size_t kCheapShapes = 3;

Error first_mistake(const std::vector<Error>& errors) {
  return errors.empty() ? Error{ErrorKind::invalid_input, "the input is wrong", {}} : errors.front();
}

Result<Problem> understand_request(const JudgeRequest& request) {
  if (!request.library.empty())
    return fail(ErrorKind::unsupported, "no library is timed on this target yet",
                "libraries are timed on the host");
  auto problem = parse_problem(request.problem_text, request.problem_path);
  if (!problem) return std::unexpected(first_mistake(problem.error()));
  if (!request.shapes.empty()) {
    auto chosen = with_shapes(*problem, request.shapes);
    if (!chosen) return std::unexpected(first_mistake(chosen.error()));
    problem = std::move(*chosen);
  }
  for (const auto* candidate : {&request.candidate, request.incumbent ? &*request.incumbent : nullptr})
    if (candidate)
      if (auto plan = check_plan(candidate->plan, *problem, candidate->tunables); !plan)
        return std::unexpected(first_mistake(plan.error()));
  return std::move(*problem);
}

/// Code read once, and believed only while it has the hash it was compiled to.
Result<std::string> code_of(const Artifact& artifact) {
  AKO_TRY(auto code, read_file(artifact.code));
  if (hash_text(code) != artifact.code_hash)
    return fail(ErrorKind::corrupt, "a code object in the compile cache is not what was compiled",
                "remove the cache folder ($AKO_CACHE_DIR) and try again");
  return code;
}

}  // namespace

struct DeviceJudge::State {
  std::unique_ptr<gpu::Device> device;
  std::vector<std::unique_ptr<Toolchain>> toolchains;
  std::optional<DeviceKernels> kernels;
  std::optional<DeviceLandings> landings;  // gone before the device
  std::optional<DeviceReference> reference;
  TargetFacts facts;
  Noise noise;
  bool context_lost = false;

  struct Compiled {
    Artifact artifact;
    std::string code;
  };
  Judged<Compiled> compile(const Candidate&, const Problem&, Side);
  Judged<std::vector<std::pair<const Shape*, DeviceChecked>>> check(DeviceBench&, const JudgeRequest&,
                                                                    const DeviceContender&,
                                                                    std::uint64_t seed);
  Judged<void> stages(const JudgeRequest&, const Problem&, DeviceBench&, Verdict&);
  Judged<void> time(const JudgeRequest&, DeviceBench&, const DeviceContender&,
                    std::vector<std::pair<const Shape*, DeviceChecked>>, Verdict&);
};

Judged<DeviceJudge::State::Compiled> DeviceJudge::State::compile(const Candidate& candidate,
                                                                 const Problem& problem, Side side) {
  AKO_JUDGED(auto* toolchain, choose_toolchain(toolchains, candidate.language, facts.id));
  AKO_JUDGED(auto built, toolchain->build(candidate, problem, facts));
  if (auto* artifact = std::get_if<Artifact>(&built)) {
    AKO_JUDGED(auto code, code_of(*artifact));
    return Compiled{std::move(*artifact), std::move(code)};
  }
  const auto& failure = std::get<CompileFailure>(built);
  if (side == Side::incumbent)
    return std::unexpected(
        Outcome(InfrastructureError{"the incumbent does not compile any more: " + failure.log}));
  if (failure.timed_out) return std::unexpected(Outcome(TimedOut{"compile", Seconds(60), ""}));
  return std::unexpected(Outcome(CompileError{failure.log}));
}

/// The level's shapes and a few small ones beyond it, cheapest first.
Judged<std::vector<std::pair<const Shape*, DeviceChecked>>> DeviceJudge::State::check(
    DeviceBench& bench, const JudgeRequest& request, const DeviceContender& who, std::uint64_t seed) {
  auto level = shapes_of_level(bench.problem, request.level);
  std::vector<std::pair<double, const Shape*>> order;
  for (const auto* shape : level) order.emplace_back(reference_work(bench.problem, *shape), shape);
  std::size_t extra = 0;
  for (const auto& shape : bench.problem.shapes) {
    double work = reference_work(bench.problem, shape);
    bool listed = std::find(level.begin(), level.end(), &shape) != level.end();
    if (!listed && work < kCheapShape && extra < kCheapShapes) order.emplace_back(work, &shape), ++extra;
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::map<const Shape*, DeviceChecked> seen;
  for (const auto& [work, shape] : order) {
    bench.progress("check " + shape->label);
    auto checked = check_on_device(bench, who, *shape, seed, shape == order.front().second);
    if (!checked) return std::unexpected(checked.error());
    seen[shape] = *checked;
  }
  std::vector<std::pair<const Shape*, DeviceChecked>> result;
  for (const auto* shape : level) result.emplace_back(shape, seen[shape]);
  return result;
}

Judged<void> DeviceJudge::State::time(const JudgeRequest& request, DeviceBench& bench,
                                      const DeviceContender& candidate,
                                      std::vector<std::pair<const Shape*, DeviceChecked>> shapes,
                                      Verdict& verdict) {
  std::optional<Compiled> other;
  std::optional<DeviceContender> incumbent;
  if (request.incumbent) {
    auto compiled = compile(*request.incumbent, bench.problem, Side::incumbent);
    if (!compiled) return std::unexpected(compiled.error());
    other = std::move(*compiled);
    incumbent.emplace(
        DeviceContender{*request.incumbent, std::as_bytes(std::span(other->code)), Side::incumbent});
    if (request.trusted_incumbent_check) {
      auto fine = check(bench, request, *incumbent, verdict.seed ^ 0x696e63);
      if (!fine)
        return std::unexpected(
            Outcome(InfrastructureError{"the incumbent itself is not correct: " + to_text(fine.error())}));
    }
  }
  DeviceTimingRequest timing{std::move(shapes),
                             request.effort,
                             request.time_budget,
                             request.time_limit,
                             verdict.seed ^ 0x74696d696e67,
                             noise};
  auto timed = time_on_device(bench, candidate, incumbent ? &*incumbent : nullptr, timing);
  if (!timed) return std::unexpected(timed.error());
  verdict.timings = std::move(timed->timings);
  verdict.against_incumbent = timed->comparison;
  if (timed->comparison) verdict.against_incumbent->confirmed = request.confirm;
  return {};
}

Judged<void> DeviceJudge::State::stages(const JudgeRequest& request, const Problem& problem,
                                        DeviceBench& bench, Verdict& verdict) {
  Stopwatch watch;
  double mark = 0;
  auto lap = [&] { return watch.elapsed().count() - std::exchange(mark, watch.elapsed().count()); };
  bench.progress("audit");
  if (auto rejected = audit_device_sources(request.candidate.sources))
    return std::unexpected(Outcome(*rejected));
  verdict.spent.audit_s += lap();
  bench.progress("compile");
  auto compiled = compile(request.candidate, problem, Side::candidate);
  verdict.spent.compile_s += lap();
  if (!compiled) return std::unexpected(compiled.error());
  verdict.artifact = compiled->artifact;
  DeviceContender candidate{request.candidate, std::as_bytes(std::span(compiled->code)), Side::candidate};
  double reference_before = verdict.spent.reference_s;
  auto checked = check(bench, request, candidate, verdict.seed);
  verdict.spent.check_s += lap() - (verdict.spent.reference_s - reference_before);
  if (!checked) return std::unexpected(checked.error());
  if (request.effort == Effort::check) {
    for (const auto& [shape, one] : *checked) {
      ShapeTiming timing;
      timing.shape = shape->label;
      timing.core = shape->core;
      timing.representative = shape->representative;
      timing.error_db = one.error_db;
      verdict.timings.push_back(std::move(timing));
    }
    return {};
  }
  reference_before = verdict.spent.reference_s;
  auto timed = time(request, bench, candidate, std::move(*checked), verdict);
  verdict.spent.time_s += lap() - (verdict.spent.reference_s - reference_before);
  return timed;
}

DeviceJudge::DeviceJudge(std::unique_ptr<State> state) : state_(std::move(state)) {}
DeviceJudge::~DeviceJudge() = default;

Result<std::unique_ptr<DeviceJudge>> DeviceJudge::create(const gpu::Driver& driver,
                                                         const gpu::DeviceInfo& info,
                                                         std::vector<std::unique_ptr<Toolchain>> toolchains,
                                                         std::vector<std::string> reference_command) {
  auto state = std::make_unique<State>();
  AKO_RESULT(state->device, gpu::Device::open(driver, info));
  state->facts = gpu::look_up(info);
  state->toolchains = std::move(toolchains);
  AKO_TRY(auto kernels, DeviceKernels::load(*state->device, state->toolchains, state->facts));
  state->kernels.emplace(std::move(kernels));
  if (!state->facts.fact("copy_bandwidth_bytes_per_s")) {
    AKO_RESULT(state->facts, gpu::measure(*state->device));
  }
  state->landings.emplace();
  state->reference.emplace(std::move(reference_command));
  state->reference->warm_up();
  state->noise = load_noise(state->facts.device);
  return std::unique_ptr<DeviceJudge>(new DeviceJudge(std::move(state)));
}

Result<Verdict> DeviceJudge::judge(const JudgeRequest& request, const JudgeClient::Progress& given_progress,
                                   std::stop_token stop) {
  Stopwatch watch;
  JudgeClient::Progress nothing = [](std::string_view) {};
  const auto& progress = given_progress ? given_progress : nothing;
  AKO_TRY(Problem problem, understand_request(request));
  Verdict verdict;
  for (int attempt = 0; attempt < 2; ++attempt) {
    auto notes = std::move(verdict.notes);
    verdict = Verdict{};
    verdict.notes = std::move(notes);
    verdict.candidate = request.candidate.id();
    verdict.problem = problem.id;
    if (request.incumbent) verdict.incumbent = request.incumbent->id();
    verdict.target = state_->facts.id;
    verdict.trust = Trust::device_only;
    verdict.seed = request.seed ? request.seed : secret_seed();
    DeviceBench bench{*state_->device,
                      *state_->kernels,
                      *state_->landings,
                      *state_->reference,
                      problem,
                      state_->facts,
                      progress,
                      stop,
                      verdict.spent,
                      verdict.notes,
                      state_->context_lost};
    auto done = state_->stages(request, problem, bench, verdict);
    verdict.outcome = done ? Outcome(Correct{}) : done.error();
    auto* failure = std::get_if<InfrastructureError>(&verdict.outcome);
    if (!failure || state_->context_lost || stop.stop_requested()) break;
    if (attempt == 0) verdict.notes.push_back("tried again after: " + failure->reason);
  }
  verdict.spent.total_s = watch.elapsed().count();
  return verdict;
}

const TargetFacts& DeviceJudge::facts() const { return state_->facts; }

}  // namespace ako
