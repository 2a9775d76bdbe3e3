// SPDX-License-Identifier: Apache-2.0
// The agent `tune`: tries the values that a given kernel's plan lists for its tunables, and changes nothing
// else. For kernels that no schedule stands for: one's own, and those of problems without math.
#pragma once

#include <memory>

#include "agent/agent.h"

namespace ako {

std::unique_ptr<Agent> make_tune_agent();

}  // namespace ako
