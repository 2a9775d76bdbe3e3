// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cli/cli.h"
#include "cli/duration.h"
#include "cli/progress.h"

namespace ako {
namespace {

TEST(ParseDuration, ReadsNumbersWithUnits) {
  for (auto [text, seconds] : std::map<std::string, double>{
           {"60", 60}, {"60s", 60}, {"250ms", 0.25}, {"5m", 300}, {"2min", 120}, {"1.5h", 5400}, {"0.5", 0.5}})
    EXPECT_EQ(parse_duration(text)->count(), seconds) << text;
}

TEST(ParseDuration, RefusesEverythingElse) {
  for (std::string text : {"", "s", "-1s", "1d", "nan", "inf", "1e300h", "1 s", "1s2", "one", "0", "0s"})
    EXPECT_FALSE(parse_duration(text)) << text;
}

TEST(DurationText, FitsTheSize) {
  EXPECT_EQ(duration_text(0.4), "0 s");
  EXPECT_EQ(duration_text(99), "99 s");
  EXPECT_EQ(duration_text(125), "2 min 05 s");
  EXPECT_EQ(duration_text(7260), "2 h 01 min");
  EXPECT_EQ(duration_text(INFINITY), "no limit");
}

TEST(Cut, CountsLettersNotBytes) {
  EXPECT_EQ(cut("short", 10), "short");
  EXPECT_EQ(cut("exactly10!", 10), "exactly10!");
  EXPECT_EQ(cut("eleven long", 10), "eleven lo…");
  EXPECT_EQ(cut("ééééé", 5), "ééééé");
  EXPECT_EQ(cut("éééééé", 5), "éééé…");
}

TEST(AlignedTable, AlignsByLettersAndLeavesNoTrailingBlanks) {
  EXPECT_EQ(aligned_table({{"a", "n", "z"}, {"é→", "100", ""}}, {false, true}), "a     n  z\né→  100\n");
}

TEST(ExitCode, TellsBadInputFromABadMachine) {
  EXPECT_EQ(exit_code::of({ErrorKind::invalid_input, "", ""}), 3);
  EXPECT_EQ(exit_code::of({ErrorKind::not_found, "", ""}), 3);
  EXPECT_EQ(exit_code::of({ErrorKind::conflict, "", ""}), 3);
  EXPECT_EQ(exit_code::of({ErrorKind::corrupt, "", ""}), 3);
  EXPECT_EQ(exit_code::of({ErrorKind::io, "", ""}), 4);
  EXPECT_EQ(exit_code::of({ErrorKind::unavailable, "", ""}), 4);
  EXPECT_EQ(exit_code::of({ErrorKind::internal, "", ""}), 4);
}

}  // namespace
}  // namespace ako
