// SPDX-License-Identifier: Apache-2.0
// What device code has no business doing under the `kernel` contract: telling the time, allocating, printing,
// launching. Early, clear reasons; the defence is the arrangement (device_stage.h).
#pragma once

#include <optional>

#include "judge/audit.h"

namespace ako {

std::optional<Rejected> audit_device_sources(const std::vector<SourceFile>&);

}  // namespace ako
