// SPDX-License-Identifier: Apache-2.0
// Support code on vectors: loads, stores, reductions over lanes, elementary functions.
#pragma once

#include <set>
#include <string>

#include "problem/problem.h"

namespace ako::synth {

/// Functions with a vector form of their own, in fp32; sigmoid is made from exp.
bool has_polynomial(Op);

std::set<std::string> vector_support_needs(const std::string& name);
std::string vector_support_source(const std::string& name, const std::string& real, int lanes);
/// The vector types; everything above builds on them.
std::string vector_types_source(const std::string& real, int lanes);

}  // namespace ako::synth
