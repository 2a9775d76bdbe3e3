// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/clock.h"
#include "judge/device_contest.h"

namespace ako {
namespace {

constexpr std::size_t kCases = 5;
constexpr double kDeviceBudget = 2e12;  // reference operations of one shape, where a device evaluates them
constexpr double kRepeatWork = 1e9;     // larger cases are not repeated to see whether results differ
constexpr std::int64_t kLargeInputs = 32 << 20;  // bytes
constexpr std::int64_t kLargeCase = 96 << 20;    // inputs and outputs: a case less
constexpr std::int64_t kHugeCase = 384LL << 20;  // two less; every timed launch is looked at as well
constexpr Seconds kLaunchLimit{5};

Judged<std::vector<Launched>> run_once(DeviceBench& bench, DeviceStage& stage, const DeviceProgram& program,
                                       const InputsWanted& inputs, const DeviceContender& who,
                                       const Shape& shape) {
  auto ran = stage.run({program, {inputs}, 0, false, kLaunchLimit});
  if (!ran)
    return std::unexpected(outcome_of(ran.error(), who.side, "check", shape.label, bench.context_lost));
  return std::move(*ran);
}

std::int64_t bytes_of(const Problem& problem, const Shape& shape, bool outputs_too) {
  std::int64_t sum = 0;
  for (TensorId id : kernel_tensors(problem))
    if (const Tensor& tensor = problem.tensor(id); outputs_too || tensor.role != TensorRole::output)
      sum += storage_bytes(tensor.type, element_count(problem, tensor, shape)).count;
  return sum;
}
std::int64_t input_bytes(const Problem& problem, const Shape& shape) {
  return bytes_of(problem, shape, false);
}
std::int64_t case_bytes(const Problem& problem, const Shape& shape) { return bytes_of(problem, shape, true); }

/// Declared values first; then every second case a style of chance, if any, else other seeds. Where inputs
/// are large, one style has to do: values in a style are made by processors and copied, which takes ten times
/// as long as making declared ones on the device.
std::vector<CheckCase> cases_of(const DeviceBench& bench, const Shape& shape, std::uint64_t seed,
                                bool alone) {
  auto planned = plan_checks(bench.problem, shape, seed, alone);
  if (planned.size() >= kCases || !bench.reference.on_device(bench.problem)) return planned;
  auto affordable =
      static_cast<std::size_t>(kDeviceBudget / std::max(reference_work(bench.problem, shape), 1.0));
  auto styles = check_styles(bench.problem);
  Random random(seed, 0x7374796c65);
  std::shuffle(styles.begin() + 1, styles.end(), random);  // the first is `declared`
  const auto size = case_bytes(bench.problem, shape);
  const std::size_t most = kCases - (size > kLargeCase) - (size > kHugeCase);
  std::vector<CheckCase> cases;
  const std::size_t last_style = input_bytes(bench.problem, shape) > kLargeInputs ? 2 : styles.size();
  std::size_t style = 1;
  for (std::size_t i = 0; i < std::clamp<std::size_t>(affordable, std::min(planned.size(), most), most); ++i)
    cases.push_back(
        {i % 2 && style < std::min(last_style, styles.size()) ? styles[style++] : InputStyle::declared, i});
  return cases;
}

Outcome red_zone(const Shape& shape, InputStyle style, std::string words) {
  Wrong wrong;
  wrong.shape = shape.label;
  wrong.style = name_of(style);
  wrong.tensor = "memory outside the buffers was changed";
  wrong.pattern = "red zone: " + std::move(words);
  return wrong;
}

Hash hash_of(const Launched& launched) {
  Hasher hasher("outputs");
  for (const auto& output : launched.outputs) hasher.add(output.bytes);
  return hasher.finish();
}

}  // namespace

Outcome outcome_of(const gpu::Fault& fault, Side side, const std::string& stage, const std::string& shape,
                   bool& context_lost) {
  using Kind = gpu::Fault::Kind;
  context_lost |= fault.context_lost;
  if (fault.kind == Kind::device || fault.kind == Kind::other)
    return InfrastructureError{"the device: " + fault.reason};
  if (side == Side::incumbent)
    return InfrastructureError{"the incumbent failed in " + stage + " on " + shape + ": " + fault.reason};
  switch (fault.kind) {
    case Kind::endless:
      return TimedOut{stage, kLaunchLimit, shape};
    case Kind::out_of_memory:
      return OutOfMemory{{}, shape};
    case Kind::refused:
    case Kind::no_such_kernel:
      return Rejected{"launch-plan", fault.reason, ""};
    case Kind::wrong_code:
      return Rejected{"code-object", fault.reason, ""};
    default:
      return Crashed{0, fmt::format("{} ({})", name_of(fault.kind), fault.reason), shape};
  }
}

Judged<DeviceProgram> load_program(DeviceBench& bench, const DeviceContender& who, const Shape& shape) {
  DeviceProgram program;
  AKO_JUDGED(program.plan, bind_plan(bench.problem, shape, who.candidate));
  auto failed = [&](const gpu::Fault& fault) {
    return std::unexpected(outcome_of(fault, who.side, "load", shape.label, bench.context_lost));
  };
  auto module = bench.device.load(who.image);
  if (!module) return failed(module.error());
  program.module = std::move(*module);
  for (const auto& launch : program.plan.launches) {
    auto kernel = program.module.kernel(launch.kernel);
    if (!kernel) return failed(kernel.error());
    program.kernels.push_back(std::move(*kernel));
  }
  return program;
}

Judged<DeviceChecked> check_on_device(DeviceBench& bench, const DeviceContender& who, const Shape& shape,
                                      std::uint64_t seed, bool alone) {
  AKO_JUDGED(auto plan, bind_plan(bench.problem, shape, who.candidate));
  auto stage = DeviceStage::create(bench.device, bench.kernels, bench.landings, bench.problem, shape,
                                   plan.total(), 1, seed);
  if (!stage)
    return std::unexpected(outcome_of(stage.error(), who.side, "check", shape.label, bench.context_lost));
  DeviceVerifier verifier(bench.problem, shape);
  DeviceChecked checked{std::numeric_limits<double>::max(), Microseconds(1e12)};
  bool first = true;
  for (const auto& one : cases_of(bench, shape, seed, alone)) {
    if (bench.stop.stop_requested()) return std::unexpected(Outcome(InfrastructureError{"cancelled"}));
    InputsWanted inputs{one.style, seed, one.stream};
    auto program = load_program(bench, who, shape);
    if (!program) return std::unexpected(program.error());
    bench.reference.ask_ahead(bench.problem, shape, inputs);
    auto ran = run_once(bench, *stage, *program, inputs, who, shape);
    if (!ran) return std::unexpected(ran.error());
    const Launched& launched = ran->front();
    checked.launch = std::min(checked.launch, launched.duration);
    if (launched.damage) return std::unexpected(red_zone(shape, one.style, *launched.damage));
    Stopwatch watch;
    auto expected = bench.reference.expected(bench.problem, shape, inputs);
    bench.spent.reference_s += watch.elapsed().count();
    if (!expected) return infrastructure(expected.error());
    auto finding = verifier.against_truth(program->plan, launched.outputs, *expected, one.style, false);
    if (!finding) return std::unexpected(finding.error());
    if (finding->dropped)
      bench.notes.push_back(fmt::format("inputs {} not used on {}: their exact result is not finite",
                                        name_of(one.style), shape.label));
    else if (one.style == InputStyle::declared)
      checked.error_db = std::min(checked.error_db, finding->error_db);
    if (first && reference_work(bench.problem, shape) < kRepeatWork) {
      Hash before = hash_of(launched);
      auto again = run_once(bench, *stage, *program, inputs, who, shape);
      if (!again) return std::unexpected(again.error());
      if (before != hash_of(again->front()))
        bench.notes.push_back("results differ from run to run on " + shape.label);
      first = false;
    }
  }
  return checked;
}

}  // namespace ako
