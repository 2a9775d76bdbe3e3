// SPDX-License-Identifier: Apache-2.0
#include "report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/subprocess.h"
#include "report/data.h"
#include "report/record_fixture.h"

namespace ako {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ReportData, TakesTheHeadlineFromTheFinalVerification) {
  auto data = report_data(testing::example_record(false));
  ASSERT_TRUE(data) << to_text(data.error());
  EXPECT_NEAR(data->headline.speedup, 4.0, 1e-9);
  ASSERT_TRUE(data->headline.interval);
  EXPECT_LT(data->headline.interval->low, 4.0);
  EXPECT_GT(data->headline.interval->high, 4.0);
  EXPECT_EQ(data->best_round, 2);
  ASSERT_EQ(data->shapes.size(), 2u);
  EXPECT_TRUE(data->shapes[0].paired);
  // 8 MiB at 20 GB/s.
  EXPECT_NEAR(data->shapes[0].roof_us, 8388608 / 2e10 * 1e6, 1e-6);
}

TEST(ReportData, SaysSoWhenThereWasNoFinalVerification) {
  CampaignRecord record = testing::example_record(false);
  record.final_verdict.reset();
  auto data = report_data(record);
  ASSERT_TRUE(data);
  EXPECT_FALSE(data->headline.interval);
  EXPECT_FALSE(data->shapes[0].paired);
  EXPECT_GT(data->shapes[0].speedup, 3.5);
}

TEST(ReportData, ShowsNoIntervalWhereTooFewBlocksLeftItOpen) {
  CampaignRecord record = testing::example_record(false);
  record.final_verdict->against_incumbent->bound.high = std::numeric_limits<double>::infinity();
  auto data = report_data(record);
  ASSERT_TRUE(data);
  EXPECT_FALSE(data->headline.interval);
  EXPECT_FALSE(to_json(record, *data)["headline"].contains("interval"));
}

TEST(ReportData, ShowsTheShapesThatWereAskedFor) {
  CampaignRecord record = testing::example_record(false);
  record.manifest.target_shapes = "N=1000";
  auto data = report_data(record);
  ASSERT_TRUE(data);
  ASSERT_EQ(data->shapes.size(), 1u);
  EXPECT_EQ(data->shapes[0].label, "N=1000");
  EXPECT_GT(data->shapes[0].best_us, 0);
}

TEST(ReportData, WorksBeforeTheFirstRound) {
  CampaignRecord record = testing::example_record(false);
  record.rounds.clear();
  record.final_verdict.reset();
  EXPECT_TRUE(report_data(record));
  EXPECT_TRUE(report_html(record));
}

/// The example with a library that takes half of the best kernel's time.
CampaignRecord with_library() {
  CampaignRecord record = testing::example_record(false);
  Verdict verdict = *record.final_verdict;
  verdict.library = "OpenBLAS 0.3.21, 2 threads";
  for (ShapeTiming& timing : verdict.timings) {
    timing.incumbent_median_us = 100;
    timing.candidate_median_us = 50;
    timing.log_ratio = std::log(0.5);
    timing.log_ratio_interval = {std::log(0.4), std::log(0.6)};
  }
  record.library = LibraryComparison{{}, verdict};
  return record;
}

TEST(ReportData, GivesTheBestKernelsSpeedOverTheLibrarys) {
  CampaignRecord record = with_library();
  auto data = report_data(record);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->library, "OpenBLAS 0.3.21, 2 threads");
  EXPECT_NEAR(data->shapes[0].library_us, 50, 1e-9);
  EXPECT_NEAR(data->shapes[0].library_ratio, 0.5, 1e-9);
  auto json = to_json(record, *data);
  EXPECT_EQ(json["library"]["name"], "OpenBLAS 0.3.21, 2 threads");
  EXPECT_NEAR(json["shapes"][0]["library"]["interval"][0].get<double>(), 0.4, 1e-9);
  EXPECT_NEAR(data->headline.speedup, 4.0, 1e-9) << "the headline stays the baseline's";
}

TEST(ReportData, SaysWhyNoLibraryWasTimed) {
  CampaignRecord record = testing::example_record(false);
  record.library = LibraryComparison{"no library for this pattern", {}};
  auto data = report_data(record);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->shapes[0].library_us, 0);
  EXPECT_EQ(to_json(record, *data)["library"]["reason"], "no library for this pattern");
  EXPECT_THAT(report_markdown(record), HasSubstr("No library was timed: no library for this pattern."));
}

TEST(ReportMarkdown, ShowsTheLibrarysTimeAndTheRatio) {
  EXPECT_THAT(report_markdown(with_library()), HasSubstr("| 50 us | 0.50× |"));
}

TEST(ReportData, SaysSoWhenAConfirmationIsTheHeadline) {
  CampaignRecord record = testing::example_record(false);
  record.final_verdict->seed = 17;
  auto fresh = report_data(record);
  ASSERT_TRUE(fresh);
  EXPECT_THAT(fresh->headline.basis, HasSubstr("best against baseline"));
  record.rounds[1].confirmation = record.final_verdict;
  auto reused = report_data(record);
  ASSERT_TRUE(reused);
  EXPECT_THAT(reused->headline.basis, HasSubstr("the confirmation of round 2"));
}

TEST(ReportMarkdown, KeepsHostileTextInsideItsCell) {
  std::string text = report_markdown(testing::example_record(true));
  EXPECT_THAT(text, Not(HasSubstr("\x01")));
  // Inside a fenced block markup is inert; everywhere else there must be none.
  auto fence = text.find("\n```");
  ASSERT_NE(fence, std::string::npos);
  EXPECT_THAT(text.substr(0, fence), Not(HasSubstr("<")));
  EXPECT_THAT(text.substr(0, fence), HasSubstr("&lt;script>"));
}

TEST(ReportHtml, CarriesItsDataAsInertJson) {
  auto page = report_html(testing::example_record(true));
  ASSERT_TRUE(page);
  auto start = page->find("id=\"record\">");
  ASSERT_NE(start, std::string::npos);
  start += 12;
  std::string json = page->substr(start, page->find("</script>", start) - start);
  EXPECT_THAT(json, Not(HasSubstr("<")));
  auto record = nlohmann::json::parse(json);
  EXPECT_EQ(record["rounds"].size(), 3u);
  EXPECT_THAT(record["rounds"][1]["hypothesis"].get<std::string>(), HasSubstr("</script>"));
  EXPECT_THAT(*page, Not(HasSubstr("http://")));
}

/// Opens the page in headless Chromium and returns the document as its script left it.
std::string rendered(const std::string& html, const std::filesystem::path& folder) {
  auto browser = find_program("chromium");
  if (!browser) return {};
  EXPECT_TRUE(write_file(folder / "report.html", html));
  Command command;
  command.argv = {browser->string(),
                  "--headless",
                  "--no-sandbox",
                  "--disable-gpu",
                  "--disable-quic",
                  "--no-first-run",
                  "--disable-background-networking",
                  "--disable-component-update",
                  "--disable-sync",
                  "--user-data-dir=" + (folder / "profile").string(),
                  "--enable-logging=stderr",
                  "--v=0",
                  "--virtual-time-budget=4000",
                  "--dump-dom",
                  "file://" + (folder / "report.html").string()};
  command.wall_limit = Seconds(60);
  command.output_limit = mebibytes(16);
  auto exit = run(command);
  EXPECT_TRUE(exit && exit->ok()) << (exit ? exit->errors : to_text(exit.error()));
  if (!exit) return {};
  for (std::size_t at = 0; (at = exit->errors.find("CONSOLE", at)) != std::string::npos; ++at)
    ADD_FAILURE() << "console: " << exit->errors.substr(at, exit->errors.find('\n', at) - at);
  return exit->output;
}

TEST(ReportHtml, DrawsItselfInABrowserWithoutAConsoleMessage) {
  if (!find_program("chromium")) GTEST_SKIP() << "chromium is not installed";
  auto folder = TemporaryFolder::create("ako-report");
  ASSERT_TRUE(folder);
  CampaignRecord record = testing::example_record(true);
  record.library = with_library().library;
  auto page = report_html(record);
  ASSERT_TRUE(page);
  std::string dom = rendered(*page, folder->path());
  EXPECT_THAT(dom, HasSubstr("4.00×"));
  EXPECT_THAT(dom, HasSubstr("id=\"round-3\""));
  EXPECT_THAT(dom, HasSubstr("50 µs"));
  EXPECT_THAT(dom, HasSubstr("Library: OpenBLAS"));
  EXPECT_THAT(dom, Not(HasSubstr("<title>pwned")));
  // Hostile markup must have become text: its tags are escaped wherever the script put them.
  EXPECT_THAT(dom, HasSubstr("&lt;b&gt;x&lt;/b&gt;"));
}

}  // namespace
}  // namespace ako
