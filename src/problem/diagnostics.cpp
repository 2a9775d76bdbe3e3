// SPDX-License-Identifier: Apache-2.0
#include "problem/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

namespace ako {
namespace {

constexpr std::size_t most_errors = 20;
constexpr std::size_t widest_excerpt = 160;

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// Blanks as wide as `text` looks: tabs stay tabs, a UTF-8 sequence is one column.
std::string blanks(std::string_view text) {
  std::string pad;
  for (char byte : text)
    if (!continues_character(byte)) pad += byte == '\t' ? '\t' : ' ';
  return pad;
}

/// Damerau-Levenshtein distance with adjacent transpositions.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

}  // namespace

std::string_view line_of(std::string_view text, int line) {
  std::size_t begin = 0;
  for (int at = 1; at < line; ++at) {
    std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) return {};
    begin = end + 1;
  }
  std::string_view rest = text.substr(begin);
  rest = rest.substr(0, rest.find('\n'));
  while (rest.ends_with('\r')) rest.remove_suffix(1);
  return rest;
}

std::string Diagnostics::excerpt(const Spot& spot) const {
  std::string_view line = line_of(source_, spot.line);
  if (spot.line <= 0 || line.empty()) return {};
  std::size_t start =
      std::min<std::size_t>(static_cast<std::size_t>(std::max(spot.column, 1) - 1), line.size());
  std::size_t cut = 0;  // of a very long line, the part about the mistake is shown
  if (line.size() > widest_excerpt && start > widest_excerpt / 2) cut = start - widest_excerpt / 2;
  while (cut > 0 && cut < line.size() && continues_character(line[cut])) --cut;
  std::string_view shown = line.substr(cut, widest_excerpt);
  std::size_t length =
      std::clamp<std::size_t>(static_cast<std::size_t>(std::max(spot.length, 1)), 1,
                              std::max<std::size_t>(1, shown.size() - std::min(shown.size(), start - cut)));
  std::string caret = "^" + std::string(length - 1, '~');
  return fmt::format("    {}\n    {}{}", shown, blanks(shown.substr(0, start - cut)), caret);
}

void Diagnostics::add(const Spot& spot, std::string what, std::string advice) {
  Error error{ErrorKind::invalid_input, std::move(what), std::move(advice)};
  error.place = Place{file_, std::max(spot.line, 0), std::max(spot.column, 0)};
  error.excerpt = excerpt(spot);
  errors_.push_back(std::move(error));
}

std::vector<Error> Diagnostics::take() {
  auto key = [](const Error& error) { return std::tuple(error.place->line, error.place->column); };
  std::stable_sort(errors_.begin(), errors_.end(),
                   [&](const Error& a, const Error& b) { return key(a) < key(b); });
  auto same = [&](const Error& a, const Error& b) { return key(a) == key(b) && a.what == b.what; };
  errors_.erase(std::unique(errors_.begin(), errors_.end(), same), errors_.end());
  if (errors_.size() > most_errors) errors_.resize(most_errors);
  return std::move(errors_);
}

std::string closest(std::string_view name, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t nearest = std::max<std::size_t>(1, std::min<std::size_t>(name.size() / 3, 3)) + 1;
  if (name.size() > 64) return best;
  for (const std::string& candidate : candidates) {
    std::size_t distance = edit_distance(name, candidate);
    if (distance < nearest && distance < candidate.size()) {
      nearest = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates,
                         std::string otherwise) {
  std::string near = closest(name, candidates);
  return near.empty() ? std::move(otherwise) : fmt::format("did you mean `{}`?", near);
}

}  // namespace ako
