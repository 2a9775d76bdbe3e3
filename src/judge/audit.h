// SPDX-License-Identifier: Apache-2.0
// The first stage: a static look at what a kernel has no business doing. It gives early, clear reasons; it is
// not the defence. What it misses meets the sandbox, the outside clock and the check of timed outputs
// (docs/judge.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "judge/verdict.h"

namespace ako {

/// Sources of the `module` contract in C or C++. Comments and string literals may say anything.
std::optional<Rejected> audit_sources(const std::vector<SourceFile>&);
/// What the built object wants from libraries: names as imported_symbols gives them.
std::optional<Rejected> audit_imports(const std::vector<std::string>& imported);

/// One token of C or C++ as far as an audit needs: identifiers, literals, single punctuation characters.
/// Comments are gone, continued lines joined; adjacent to none of the preprocessor's work.
struct CppToken {
  enum class Kind : std::uint8_t { identifier, text, punctuation } kind = Kind::punctuation;
  std::string text;  // of a literal: its content without quotes
  int line = 1;
};
std::vector<CppToken> cpp_tokens(std::string_view source);

}  // namespace ako
