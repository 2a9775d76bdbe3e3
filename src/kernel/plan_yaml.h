// SPDX-License-Identifier: Apache-2.0
// The YAML form of launch plans, inside of other documents too.
#pragma once

#include <string>
#include <vector>

#include "kernel/launch_plan.h"
#include "kernel/yaml_reader.h"

namespace ako {

/// The plan's own keys of `map`; other keys are the caller's to check.
LaunchPlan read_plan(const YAML::Node& map, YamlReader&);
const std::vector<std::string>& plan_keys();

}  // namespace ako
