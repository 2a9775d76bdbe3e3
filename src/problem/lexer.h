// SPDX-License-Identifier: Apache-2.0
// Tokens of the math language, each with its place in the problem file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "problem/diagnostics.h"

namespace ako {

/// A piece of the problem file: its lines are lines of the file from `line` on, all shifted to `column`.
struct SourceText {
  std::string text;
  int line = 1;
  int column = 1;
};

enum class TokenKind : std::uint8_t { name, integer, real, symbol, newline, end };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;  // into the SourceText
  Spot spot;
};

/// Always ends with an `end` token. A newline token stands where a statement may end: outside brackets and
/// not after an operator or comma. Mistakes (stray characters, unbalanced brackets) go to the diagnostics.
std::vector<Token> tokenize(const SourceText&, Diagnostics&);

}  // namespace ako
