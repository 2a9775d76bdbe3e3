// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "judge/check.h"
#include "judge/pattern.h"

namespace ako {
namespace {

// Reference operations below which waking threads costs more than they save.
constexpr double kThreadsPay = 2e6;

/// The name of the input that the output repeats byte for byte, if any.
std::string copied_input(const Problem& problem, const Layout& layout, const TensorBuffer& output,
                         std::span<const std::byte> got, std::span<const std::span<const std::byte>> inputs) {
  std::size_t position = 0;
  for (const auto& tensor : layout.tensors) {
    if (tensor.role == TensorRole::output) continue;
    auto storage = inputs[position++];
    bool same = tensor.type == output.type && storage.size() == got.size() && !got.empty() &&
                std::memcmp(storage.data(), got.data(), got.size()) == 0;
    if (same) return problem.tensor(tensor.tensor).name;
  }
  return {};
}

}  // namespace

double OutputJudge::declared_rms(TensorId tensor) const {
  auto found = declared_rms_.find(tensor);
  return found == declared_rms_.end() ? 0 : found->second;
}

Wrong OutputJudge::explain(const TensorBuffer& tensor, const Bounds& bounds, const OutputCheck& check,
                           std::span<const double> expected, std::span<const std::byte> got,
                           std::span<const std::span<const std::byte>> inputs) const {
  std::vector<double> values(expected.size());
  decode_array(tensor.type, got, values);
  auto wrong = wrong_elements(tensor.type, bounds, expected, values);
  auto count = std::count(wrong.begin(), wrong.end(), true);
  Wrong result;
  result.shape = shape_.label;
  result.tensor = problem_.tensor(tensor.tensor).name;
  if (check.worst >= 0) result.index = index_of(check.worst, tensor.extents);
  result.expected = check.expected;
  result.got = check.got;
  result.metric = check.metric;
  result.fraction = expected.empty() ? 0 : static_cast<double>(count) / static_cast<double>(expected.size());
  result.pattern =
      explain_pattern(tensor.extents, expected, values, wrong,
                      still_poison(tensor.type, got, static_cast<std::int64_t>(expected.size())));
  if (auto input = copied_input(problem_, layout_, tensor, got, inputs); !input.empty())
    result.pattern = "a copy of " + input;
  return result;
}

Judged<OutputJudge::Finding> OutputJudge::judge(InputStyle style,
                                                std::span<const std::span<const std::byte>> inputs,
                                                host::SharedBuffers& outputs, int slot, bool when_timed,
                                                Spent& spent) {
  Stopwatch watch;
  auto evaluated = reference_.evaluate(shape_, inputs, work_ < kThreadsPay ? 1 : 0);
  spent.reference_s += watch.elapsed().count();
  if (!evaluated) return infrastructure(evaluated.error());
  if (style != InputStyle::declared && !std::all_of(evaluated->begin(), evaluated->end(), all_finite))
    return Finding{.dropped = true};
  Finding finding{.error_db = std::numeric_limits<double>::max()};
  std::size_t position = 0;
  for (const auto& tensor : layout_.tensors) {
    if (tensor.role == TensorRole::input) continue;
    const auto& expected = (*evaluated)[position++];
    if (style == InputStyle::declared) declared_rms_.try_emplace(tensor.tensor, root_mean_square(expected));
    auto bounds = bounds_for(problem_, problem_.tensor(tensor.tensor), style, declared_rms_[tensor.tensor]);
    std::span<const std::byte> got = outputs.bytes(slot, tensor.buffer);
    auto check = compare_output(tensor.type, bounds, expected, got);
    if (!check.ok) {
      auto wrong = explain(tensor, bounds, check, expected, got, inputs);
      wrong.style = name_of(style);
      wrong.when_timed = when_timed;
      return std::unexpected(Outcome(std::move(wrong)));
    }
    if (!expected.empty()) finding.error_db = std::min(finding.error_db, check.snr_db);
  }
  return finding;
}

}  // namespace ako
