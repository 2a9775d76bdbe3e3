// SPDX-License-Identifier: Apache-2.0
// C++'s operator precedences, for parentheses only where they are needed.
#pragma once

#include <string>

#include "synth/printer.h"

namespace ako::synth::precedence {

inline constexpr int unary = 90, product = 80, sum = 70, comparison = 60, equality = 55, bits = 50,
                     conjunction = 40, disjunction = 35, choice = 20;

/// The text, in parentheses when it binds more loosely than its place wants.
inline std::string wrap(const Text& text, int least) {
  return text.precedence < least ? "(" + text.text + ")" : text.text;
}

}  // namespace ako::synth::precedence
