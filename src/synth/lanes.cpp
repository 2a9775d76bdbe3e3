// SPDX-License-Identifier: Apache-2.0
#include "synth/lanes.h"

namespace ako::synth {

const char* fold_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return "v_sum";
    case ReduceOp::prod:
      return "v_prod";
    case ReduceOp::max:
      return "v_max";
    default:
      return "v_min";
  }
}

/// for (; d + 64 <= D; d += 64) { pass(d, …); pass(d + 16, …); … }
void lane_loops(Printer& printer, const Range& range, const std::string& index, const std::string& function,
                const std::vector<std::string>& accumulators) {
  Code& code = printer.code();
  const int lanes = printer.choices().lanes, unroll = printer.choices().unroll;
  const auto [lower, upper] = printer.bounds(range);
  const auto call = [&](const std::string& at, const std::string& span, int copy) {
    std::string text = fmt::format("{}({}, {}", function, at, span);
    for (const std::string& accumulator : accumulators) text += fmt::format(", {}{}", accumulator, copy);
    code.line("{});", text);
  };
  code.line("int64_t {} = {};", index, lower);
  if (unroll > 1) {
    code.open("for (; {0} + {1} <= {2}; {0} += {1})", index, lanes * unroll, upper);
    for (int copy = 0; copy < unroll; ++copy) {
      call(copy == 0 ? index : fmt::format("{} + {}", index, copy * lanes), "whole{}", copy);
    }
    code.close();
  }
  code.open("for (; {0} + {1} <= {2}; {0} += {1})", index, lanes, upper);
  call(index, "whole{}", 0);
  code.close();
  code.line("if ({0} < {1}) {2};", index, upper, [&] {
    std::string text = fmt::format("{}({}, part{{int({} - {})}}", function, index, upper, index);
    for (const std::string& accumulator : accumulators) text += fmt::format(", {}0", accumulator);
    return text + ")";
  }());
}

}  // namespace ako::synth
