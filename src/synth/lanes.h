// SPDX-License-Identifier: Apache-2.0
// The loops round a body that works on lanes.
#pragma once

#include <string>
#include <vector>

#include "synth/printer.h"

namespace ako::synth {

/// The support function that folds a vector into one value.
const char* fold_of(ReduceOp);

/// Calls `function(index, span, accumulators…)`: several vectors at a time with an accumulator each (named
/// with the copy's number at the end), then one, then what is left of the row.
void lane_loops(Printer&, const Range&, const std::string& index, const std::string& function,
                const std::vector<std::string>& accumulators);

}  // namespace ako::synth
