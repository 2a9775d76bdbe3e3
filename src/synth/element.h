// SPDX-License-Identifier: Apache-2.0
// How an element type looks in emitted C++.
#pragma once

#include <set>
#include <string>

#include "problem/scalar_type.h"

namespace ako::synth {

struct Element {
  std::string storage = "float";  // the C type of a tensor's elements
  std::string decode;             // support function from storage to float; empty: converts by itself
  std::string encode;             // … and back, rounding to nearest even
  bool packed = false;  // several elements share a byte: decode(pointer, i), encode(pointer, i, value)
};

Element element_of(ScalarType);
std::string c_type_of_scalar(ScalarType);

/// C++ source of a support function by name, without what it needs itself. Empty: unknown.
std::string support_source(const std::string& name, const std::string& real, int lanes);
/// What a support function calls.
std::set<std::string> support_needs(const std::string& name, const std::string& real);

}  // namespace ako::synth
