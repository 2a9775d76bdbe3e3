// SPDX-License-Identifier: Apache-2.0
// What `ako doctor` says of GPUs: drivers, devices, who holds them, what compiles for them.
#pragma once

#include "cli/doctor_checks.h"

namespace ako {

void check_gpus(std::vector<Check>&);

}  // namespace ako
