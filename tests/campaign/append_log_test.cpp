// SPDX-License-Identifier: Apache-2.0
#include "campaign/append_log.h"

#include <gtest/gtest.h>

#include "base/files.h"

namespace ako {
namespace {

const std::string header = "# Log\n\n| a | b |\n";
const std::vector<LogEntry> rows{{"| 1 |", "\n| 1 |", "| 1 | one |\n"},
                                 {"| 2 |", "\n| 2 |", "| 2 | two |\n"}};
const std::vector<LogEntry> sections{
    {"### round-1 ", "<!-- end 1 -->\n", "### round-1 first\n\ntext\n\n<!-- end 1 -->\n\n"},
    {"### round-2 ", "<!-- end 2 -->\n", "### round-2 second\n\n### inner\n<!-- end 2 -->\n\n"}};

std::string whole(const std::vector<LogEntry>& entries) {
  std::string text = header;
  for (const LogEntry& entry : entries) text += entry.text;
  return text;
}

TEST(AppendLog, HealsWhereverItWasTorn) {
  for (const auto& entries : {rows, sections}) {
    std::string full = whole(entries);
    for (std::size_t cut = 0; cut <= full.size(); ++cut) {
      std::string healed = synced_log(full.substr(0, cut), header, entries);
      // A blank line after an end mark may be missing: it separates, it says nothing.
      auto squeezed = [](std::string text) {
        for (std::size_t at; (at = text.find("\n\n")) != std::string::npos;) text.erase(at, 1);
        return text;
      };
      EXPECT_EQ(squeezed(healed), squeezed(full)) << "cut at " << cut;
      EXPECT_EQ(synced_log(healed, header, entries), healed) << "stable, cut at " << cut;
    }
  }
}

TEST(AppendLog, AppendsOnlyWhatIsMissing) {
  std::string one = whole({rows[0]});
  EXPECT_EQ(synced_log(one, header, rows), whole(rows));
  EXPECT_EQ(synced_log(whole(rows), header, rows), whole(rows));
}

TEST(AppendLog, KeepsWhatPeopleWroteInBetween) {
  std::string text = whole({sections[0]}) + "Correction: the first was run twice.\n";
  EXPECT_EQ(synced_log(text, header, sections), text + sections[1].text);
}

TEST(AppendLog, MakesTheFileAndLeavesACompleteOneUntouched) {
  TemporaryFolder folder = *TemporaryFolder::create("ako-log-test");
  auto path = folder.path() / "logs/log.md";
  ASSERT_TRUE(sync_log(path, header, rows));
  EXPECT_EQ(*read_file(path), whole(rows));
  auto before = std::filesystem::last_write_time(path);
  ASSERT_TRUE(sync_log(path, header, rows));
  EXPECT_EQ(std::filesystem::last_write_time(path), before);
}

}  // namespace
}  // namespace ako
