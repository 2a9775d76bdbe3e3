// SPDX-License-Identifier: Apache-2.0
// Support code on vectors: loads, stores, reductions over lanes, elementary functions.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "problem/problem.h"

namespace ako::synth {

/// Source of a support function, and what it calls itself.
struct VectorPiece {
  std::set<std::string> needs;
  std::string_view text;
};
using VectorPieces = std::map<std::string, VectorPiece, std::less<>>;

const VectorPieces& memory_pieces();           // vector_memory.cpp
const VectorPieces& polynomial_pieces();       // polynomials.cpp
const VectorPieces& wide_polynomial_pieces();  // polynomials_wide.cpp
/// Text that depends on the width; empty: none of theirs.
std::string memory_source(const std::string& name, const std::string& real, int lanes);
std::string polynomial_source(const std::string& name, bool wide, int lanes);

/// Functions with a vector form of their own, in fp32; sigmoid is made from exp.
bool has_polynomial(Op);

std::set<std::string> vector_support_needs(const std::string& name, bool wide);
std::string vector_support_source(const std::string& name, const std::string& real, int lanes);
/// The vector types; everything above builds on them.
std::string vector_types_source(const std::string& real, int lanes);

}  // namespace ako::synth
