// SPDX-License-Identifier: Apache-2.0
// What there is to choose for a problem on the host.
#pragma once

#include "synth/program.h"
#include "synth/schedule.h"

namespace ako::synth {

/// What of a problem decides which knobs it has.
struct Traits {
  bool wide = false;            // fp64 arithmetic
  bool contraction = false;     // a statement that packed panels apply to
  bool pairs = false;           // … whose operands are plain bf16
  bool attention = false;       // a group that sweeps over keys once
  bool keeps = false;           // a reduction and a later statement evaluate the same function
  bool recomputes = false;      // elementwise temporaries could be computed where they are read
  bool transcendental = false;  // functions with polynomial forms
  bool exponential = false;     // … of which exp has a shorter one
  bool divides = false;
  bool rounds = false;  // to bf16
  bool passes = false;  // more than one loop over a row
};
Traits traits_of(const Problem&);

ScheduleSpace make_space(const Problem&, const TargetFacts&);

}  // namespace ako::synth
