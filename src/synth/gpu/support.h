// SPDX-License-Identifier: Apache-2.0
// Functions that emitted kernels call beside those of the device header.
#pragma once

#include <set>
#include <string>

namespace ako::synth::gpu {

/// The source of all that is named and of what it calls, in an order that compiles.
std::string support_source(const std::set<std::string>& needs);

}  // namespace ako::synth::gpu
