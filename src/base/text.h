// SPDX-License-Identifier: Apache-2.0
// Text from outside (file names, agents' words, compilers' messages) on its way to a terminal or a document.
#pragma once

#include <string>
#include <string_view>

namespace ako {

/// Harmless on a terminal and in a document: bytes that are not UTF-8 become U+FFFD; control characters,
/// escape sequences' introducers, bidirectional overrides and line separators become a space (`keep_lines`:
/// newlines and tabs stay). Everything else is untouched.
std::string printable(std::string_view, bool keep_lines = false);
/// printable(), on one line, with Markdown's own characters escaped: a table cell or a heading.
std::string markdown_cell(std::string_view);
/// The nearest of `names` by edit distance, when near enough to be a slip of the fingers; else empty.
template <class Names>
std::string_view closest(std::string_view word, const Names& names);
/// Letters changed, put in, left out or swapped with their neighbour.
int edit_distance(std::string_view, std::string_view);
/// The words after shell quoting: safe to paste.
std::string shell_quote(std::string_view);

template <class Names>
std::string_view closest(std::string_view word, const Names& names) {
  int best = static_cast<int>(word.size()) / 3 + 1;
  std::string_view found;
  for (const auto& name : names)
    if (int distance = edit_distance(word, name); distance < best || (distance == best && found.empty())) {
      best = distance;
      found = name;
    }
  return found;
}

}  // namespace ako
