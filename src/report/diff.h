// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ako {

/// One line of a comparison of two texts.
struct DiffLine {
  enum class Kind : char { same = ' ', removed = '-', added = '+' } kind = Kind::same;
  std::string text;
  friend bool operator==(const DiffLine&, const DiffLine&) = default;
};

/// The shortest line-by-line edit from `before` to `after` (Myers, "An O(ND) difference algorithm", 1986).
/// Texts that differ in more than 4000 lines are given as removed whole and added whole.
std::vector<DiffLine> diff_lines(std::string_view before, std::string_view after);

/// Only the changed lines and `context` lines around them; "…" lines of Kind::same stand for what was left
/// out.
std::vector<DiffLine> shorten(const std::vector<DiffLine>&, int context);

}  // namespace ako
