// SPDX-License-Identifier: Apache-2.0
#include "judge/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "problem/cost.h"

namespace ako {
namespace {

// Reference operations per shape; about 0.1 s on two cores. A case costs one evaluation.
constexpr double kBudget = 1.5e8;
constexpr std::size_t kDeclaredSeeds = 3;
// Two slots put the guard page after the buffer in one launch and before it in the next; large shapes have
// one slot.
constexpr std::int64_t kTwoSlots = 64 << 20;

struct CheckBench {
  Layout layout;
  FreshInputs fresh;
  std::optional<host::SharedBuffers> inputs;
  SideBuffers side;
  int slots;
  Seconds shortest{1e9};  // launch

  host::SharedBuffers* inputs_or_null() { return inputs ? &*inputs : nullptr; }
};

Judged<host::BatchTime> launch(host::RunGuest& guest, int slot, const CheckRequest& request) {
  AKO_JUDGED(auto ran, guest.run(std::span(&slot, 1)));
  if (auto* fault = std::get_if<host::GuestFault>(&ran))
    return std::unexpected(outcome_of(*fault, request.side, "check", request.shape.label, request.options));
  return std::get<host::BatchTime>(ran);
}

Outcome red_zone(const CheckRequest& request, InputStyle style, std::string words) {
  Wrong wrong;
  wrong.shape = request.shape.label;
  wrong.style = name_of(style);
  wrong.tensor = "memory outside the buffers was changed";
  wrong.pattern = "red zone: " + std::move(words);
  return wrong;
}

std::vector<std::byte> copy_outputs(CheckBench& bench, int slot) {
  std::vector<std::byte> all;
  for (std::size_t i = 0; i < bench.layout.outputs.size(); ++i) {
    auto bytes = bench.side.outputs().bytes(slot, i);
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

/// Runs the same inputs once more and says whether the outputs came out the same, bit for bit.
Judged<bool> repeats(host::RunGuest& guest, CheckBench& bench, int slot, const CheckRequest& request) {
  auto before = copy_outputs(bench, slot);
  bench.side.poison(std::span(&slot, 1));
  bench.fresh.load_inouts(bench.side.outputs(), slot);
  if (auto ran = launch(guest, slot, request); !ran) return std::unexpected(ran.error());
  return before == copy_outputs(bench, slot);
}

Judged<OutputJudge::Finding> run_case(host::RunGuest& guest, CheckBench& bench, OutputJudge& outputs,
                                      const CheckCase& one, int slot, const CheckRequest& request,
                                      Spent& spent) {
  bench.fresh.generate(bench.inputs_or_null(), slot, one.style, request.seed, one.stream);
  bench.side.poison(std::span(&slot, 1));
  bench.fresh.load_inouts(bench.side.outputs(), slot);
  auto ran = launch(guest, slot, request);
  if (!ran) return std::unexpected(ran.error());
  bench.shortest = std::min(bench.shortest, Seconds(ran->wall));
  if (auto words = bench.side.damage(slot)) return std::unexpected(red_zone(request, one.style, *words));
  return outputs.judge(one.style, bench.fresh.storage(bench.inputs_or_null(), slot), bench.side.outputs(),
                       slot, false, spent);
}

}  // namespace

double reference_work(const Problem& problem, const Shape& shape) {
  auto cost = cost_of(problem, shape);
  double elements = 0;
  for (TensorId id : kernel_tensors(problem))
    elements += static_cast<double>(element_count(problem, problem.tensor(id), shape));
  return cost.flops + 20 * cost.transcendental + 8 * elements;
}

std::vector<CheckCase> plan_checks(const Problem& problem, const Shape& shape, std::uint64_t seed,
                                   bool alone) {
  auto styles = check_styles(problem);
  std::erase(styles, InputStyle::declared);
  Random random(seed, 0x636865636b);
  std::shuffle(styles.begin(), styles.end(), random);
  std::vector<CheckCase> cases{{InputStyle::declared, 0}};
  for (auto style : styles) cases.push_back({style, cases.size()});
  for (std::size_t i = 1; i < kDeclaredSeeds; ++i) cases.push_back({InputStyle::declared, cases.size()});
  auto affordable = static_cast<std::size_t>(kBudget / std::max(reference_work(problem, shape), 1.0));
  cases.resize(std::clamp<std::size_t>(affordable, alone ? 2 : 1, cases.size()));
  return cases;
}

Judged<Checked> check_shape(host::RunGuest& guest, const CheckRequest& request, Spent& spent,
                            std::vector<std::string>& notes) {
  Layout layout = lay_out(request.problem, request.shape);
  int slots = (layout.slot_inputs + layout.slot_outputs).count <= kTwoSlots ? 2 : 1;
  AKO_JUDGED(auto inputs, create_inputs(layout, slots));
  AKO_JUDGED(auto side,
             SideBuffers::create(request.problem, request.shape, request.candidate, layout, slots));
  CheckBench bench{layout, FreshInputs(request.problem, request.shape, layout, request.seed),
                   std::move(inputs), std::move(side), slots};
  if (auto attached = bench.side.attach(guest, bench.inputs_or_null(), request.side, "check",
                                        request.shape.label, request.options);
      !attached)
    return std::unexpected(attached.error());

  OutputJudge outputs(request.problem, request.shape, bench.layout, request.reference);
  Checked checked{std::numeric_limits<double>::max(), Seconds(1e9)};
  int slot = 0;
  bool first = true;
  for (const auto& one : plan_checks(request.problem, request.shape, request.seed, request.alone)) {
    auto finding = run_case(guest, bench, outputs, one, slot, request, spent);
    if (!finding) return std::unexpected(finding.error());
    if (finding->dropped) {
      notes.push_back(fmt::format("inputs {} not used on {}: their exact result is not finite",
                                  name_of(one.style), request.shape.label));
    } else if (one.style == InputStyle::declared) {
      checked.error_db = std::min(checked.error_db, finding->error_db);
    }
    if (first) {
      auto same = repeats(guest, bench, slot, request);
      if (!same) return std::unexpected(same.error());
      if (!*same) notes.push_back("results differ from run to run on " + request.shape.label);
      first = false;
    }
    slot = (slot + 1) % bench.slots;
  }
  checked.launch = bench.shortest;
  return checked;
}

}  // namespace ako
