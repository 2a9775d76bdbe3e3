// SPDX-License-Identifier: Apache-2.0
// Support code on vectors: loads, stores, reductions over lanes, elementary functions.
#pragma once

#include <set>
#include <string>

namespace ako::synth {

std::set<std::string> vector_support_needs(const std::string& name);
std::string vector_support_source(const std::string& name, const std::string& real, int lanes);
/// The vector types; everything above builds on them.
std::string vector_types_source(const std::string& real, int lanes);

}  // namespace ako::synth
