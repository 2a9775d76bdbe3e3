// SPDX-License-Identifier: Apache-2.0
#include "report/diff.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace ako {
namespace {

std::string side(const std::vector<DiffLine>& lines, DiffLine::Kind kind) {
  std::string text;
  for (const DiffLine& line : lines)
    if (line.kind == DiffLine::Kind::same || line.kind == kind) text += line.text + "\n";
  return text;
}

int changes(const std::vector<DiffLine>& lines) {
  return static_cast<int>(std::count_if(
      lines.begin(), lines.end(), [](const DiffLine& line) { return line.kind != DiffLine::Kind::same; }));
}

/// Edits of the shortest script, by the longest common subsequence: the slow obvious way.
int shortest(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1, 0));
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j)
      common[i][j] =
          a[i - 1] == b[j - 1] ? common[i - 1][j - 1] + 1 : std::max(common[i - 1][j], common[i][j - 1]);
  return static_cast<int>(a.size() + b.size()) - 2 * common[a.size()][b.size()];
}

TEST(DiffLines, RebuildsBothTextsWithTheFewestEdits) {
  Random random(3);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<int> a, b;
    std::string before, after;
    for (std::uint64_t i = random.below(12); i > 0; --i) a.push_back(static_cast<int>(random.below(4)));
    for (std::uint64_t i = random.below(12); i > 0; --i) b.push_back(static_cast<int>(random.below(4)));
    for (int v : a) before += std::to_string(v) + "\n";
    for (int v : b) after += std::to_string(v) + "\n";
    auto lines = diff_lines(before, after);
    EXPECT_EQ(side(lines, DiffLine::Kind::removed), before);
    EXPECT_EQ(side(lines, DiffLine::Kind::added), after);
    EXPECT_EQ(changes(lines), shortest(a, b));
  }
}

TEST(DiffLines, HandlesEmptyTexts) {
  EXPECT_TRUE(diff_lines("", "").empty());
  EXPECT_EQ(diff_lines("", "x\n"), (std::vector<DiffLine>{{DiffLine::Kind::added, "x"}}));
}

TEST(Shorten, KeepsContextAndMarksWhatItLeftOut) {
  auto lines = shorten(diff_lines("1\n2\n3\n4\n5\n", "1\n2\n3\n4\nfive\n"), 1);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0].text, "…");
  EXPECT_EQ(lines[1].text, "4");
}

}  // namespace
}  // namespace ako
