// SPDX-License-Identifier: Apache-2.0
// The text of the judge's own kernels: inputs, poison, guards, hashes, projections.
#pragma once

#include <string_view>

namespace ako {

std::string_view device_judge_source();

}  // namespace ako
