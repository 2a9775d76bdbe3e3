// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/random.h"

namespace ako {
namespace {

TEST(Printable, LeavesOrdinaryTextAlone) {
  for (std::string text : {"", "plain", "three → online", "naïve 漢字 🚀", "T=4096,D=4096"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, TakesTheTeethOutOfControlCharacters) {
  EXPECT_EQ(printable("a\x1b[31mb\r\nc\x7f"), "a [31mb  c ");
  EXPECT_EQ(printable("a\u202Eb\u2066c\u2028d\u009be"), "a b c d e");
  EXPECT_EQ(printable("a\nb\tc\r", true), "a\nb\tc ");
}

TEST(Printable, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(printable("a\xff"
                      "b"),
            "a\uFFFDb");
  EXPECT_EQ(printable("\xc0\x80"), "\uFFFD\uFFFD") << "overlong";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD") << "surrogate";
  EXPECT_EQ(printable("\xe6\xbc"), "\uFFFD\uFFFD") << "cut short";
  EXPECT_EQ(printable("\xf5\x80\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD") << "beyond U+10FFFF";
}

TEST(Printable, OfAnyBytesIsStable) {
  Random random(1, 2);
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (std::uint64_t n = random.below(12); n > 0; --n) text += static_cast<char>(random.below(256));
    std::string once = printable(text);
    EXPECT_EQ(printable(once), once);
    for (char c : once) EXPECT_FALSE(static_cast<unsigned char>(c) < 0x20);
  }
}

TEST(MarkdownCell, EscapesWhatTablesAndLinksAreMadeOf) {
  EXPECT_EQ(markdown_cell("a|b"), "a\\|b");
  EXPECT_EQ(markdown_cell("[x](y) <b> `c`\n# d"), "\\[x\\](y) \\<b\\> \\`c\\` \\# d");
}

TEST(EditDistance, CountsSlipsOfTheFingers) {
  EXPECT_EQ(edit_distance("optimize", "optimize"), 0);
  EXPECT_EQ(edit_distance("optimise", "optimize"), 1);
  EXPECT_EQ(edit_distance("otpimize", "optimize"), 1) << "neighbours swapped";
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}

TEST(Closest, SuggestsOnlyWhatIsNear) {
  std::vector<std::string> names{"softmax", "matmul", "rmsnorm"};
  EXPECT_EQ(closest("sofmax", names), "softmax");
  EXPECT_EQ(closest("attention", names), "");
}

TEST(ShellQuote, MakesWordsSafeToPaste) {
  EXPECT_EQ(shell_quote("a/b-c_1.yaml"), "a/b-c_1.yaml");
  EXPECT_EQ(shell_quote("a b"), "'a b'");
  EXPECT_EQ(shell_quote("it's $HOME"), "'it'\\''s $HOME'");
  EXPECT_EQ(shell_quote(""), "''");
}

TEST(UtcNow, IsADateAndATime) {
  EXPECT_EQ(utc_now().size(), 19u);
  EXPECT_EQ(utc_now()[10], ' ');
  EXPECT_EQ(utc_minute().size(), 16u);
  EXPECT_EQ(utc_date().size(), 10u);
}

}  // namespace
}  // namespace ako
