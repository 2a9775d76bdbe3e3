// SPDX-License-Identifier: Apache-2.0
// A whole translation unit from a program, its layout and its choices.
#pragma once

#include <string>

#include "kernel/candidate.h"
#include "synth/choices.h"
#include "synth/groups.h"

namespace ako::synth {

/// An extent in the launch plan's notation, which knows dims by their names in the problem.
std::string plan_text(const Program&, ExprId);

/// `head`: the comment that opens the file, without slashes.
Candidate write_kernel(const Problem&, Program, const Layout&, const Choices&, const std::string& head);

}  // namespace ako::synth
