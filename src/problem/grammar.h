// SPDX-License-Identifier: Apache-2.0
// The grammar of the math language: statements and expressions from text. docs/problems.md describes it.
#pragma once

#include <optional>
#include <vector>

#include "problem/lexer.h"
#include "problem/syntax.h"

namespace ako {

/// All statements that could be read; a mistake skips to the end of its statement and goes to the
/// diagnostics.
std::vector<SyntaxStatement> parse_math(const SourceText&, Diagnostics&);
/// One expression, the whole text.
std::optional<Syntax> parse_expression(const SourceText&, Diagnostics&);

}  // namespace ako
