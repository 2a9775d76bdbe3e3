// SPDX-License-Identifier: Apache-2.0
#include "report/diff.h"

#include <algorithm>

namespace ako {
namespace {

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    auto end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

constexpr int kMaximumEdits = 4000;

}  // namespace

std::vector<DiffLine> diff_lines(std::string_view before, std::string_view after) {
  const auto a = split(before), b = split(after);
  const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
  const int limit = std::min(n + m, kMaximumEdits);

  // furthest[d][k + d]: how far along `a` d edits reach on diagonal k (= x - y); kept for every d to walk
  // back.
  std::vector<std::vector<int>> furthest;
  auto reach = [&](int d, int k) {
    return furthest[static_cast<std::size_t>(d)][static_cast<std::size_t>(k + d)];
  };
  int edits = -1;
  for (int d = 0; d <= limit && edits < 0; ++d) {
    std::vector<int> row(static_cast<std::size_t>(2 * d + 1));
    for (int k = -d; k <= d; k += 2) {
      int x = 0;
      if (d > 0) {
        bool down = k == -d || (k != d && reach(d - 1, k - 1) < reach(d - 1, k + 1));
        x = down ? reach(d - 1, k + 1) : reach(d - 1, k - 1) + 1;
      }
      int y = x - k;
      while (x < n && y < m && y >= 0 && a[static_cast<std::size_t>(x)] == b[static_cast<std::size_t>(y)])
        ++x, ++y;
      row[static_cast<std::size_t>(k + d)] = x;
      if (x >= n && y >= m) edits = d;
    }
    furthest.push_back(std::move(row));
  }

  std::vector<DiffLine> lines;
  if (edits < 0) {
    for (auto line : a) lines.push_back({DiffLine::Kind::removed, std::string(line)});
    for (auto line : b) lines.push_back({DiffLine::Kind::added, std::string(line)});
    return lines;
  }
  int x = n, y = m;
  for (int d = edits; d >= 0; --d) {
    int k = x - y;
    bool down = d > 0 && (k == -d || (k != d && reach(d - 1, k - 1) < reach(d - 1, k + 1)));
    int start_x = d == 0 ? 0 : down ? reach(d - 1, k + 1) : reach(d - 1, k - 1) + 1;
    while (x > start_x) {
      lines.push_back({DiffLine::Kind::same, std::string(a[static_cast<std::size_t>(--x)])});
      --y;
    }
    if (d == 0) break;
    if (down) {
      lines.push_back({DiffLine::Kind::added, std::string(b[static_cast<std::size_t>(--y)])});
    } else {
      lines.push_back({DiffLine::Kind::removed, std::string(a[static_cast<std::size_t>(--x)])});
    }
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

std::vector<DiffLine> shorten(const std::vector<DiffLine>& lines, int context) {
  std::vector<bool> keep(lines.size(), false);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].kind == DiffLine::Kind::same) continue;
    std::size_t first = i >= static_cast<std::size_t>(context) ? i - static_cast<std::size_t>(context) : 0;
    std::size_t last = std::min(lines.size() - 1, i + static_cast<std::size_t>(context));
    for (std::size_t j = first; j <= last; ++j) keep[j] = true;
  }
  std::vector<DiffLine> kept;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (keep[i]) {
      kept.push_back(lines[i]);
    } else if (kept.empty() || kept.back().text != "…" || i == 0 || keep[i - 1]) {
      if (kept.empty() || kept.back().text != "…") kept.push_back({DiffLine::Kind::same, "…"});
    }
  }
  return kept;
}

}  // namespace ako
