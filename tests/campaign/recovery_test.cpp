// SPDX-License-Identifier: Apache-2.0
// A campaign killed at any moment goes on as if nothing had happened.
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "campaign_fixture.h"

namespace ako::testing_fakes {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr int killed = 42;

/// Ends this process at the n-th commit of any connection: just before it is made, or just after.
struct Killer {
  static inline int countdown = 0;
  static inline bool before = false;

  static int on_commit(void*) {
    --countdown;
    if (before && countdown == 0) ::_exit(killed);
    return 0;
  }
  /// The first statement to end after the n-th commit hook is that COMMIT.
  static int statement_ended(unsigned, void*, void*, void*) {
    if (!before && countdown <= 0) ::_exit(killed);
    return 0;
  }
  static int watch(sqlite3* database, char**, const sqlite3_api_routines*) {
    sqlite3_commit_hook(database, on_commit, nullptr);
    sqlite3_trace_v2(database, SQLITE_TRACE_PROFILE, statement_ended, nullptr);
    return SQLITE_OK;
  }
  static void arm(int n, bool before_commit) {
    countdown = n;
    before = before_commit;
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(watch));
  }
};

class RecoveryTest : public CampaignTest {
 protected:
  void SetUp() override {
    CampaignTest::SetUp();
    judge_.kernels["slow"] = {.us = 2000};
    judge_.kernels["fast"] = {.us = 500};
    judge_.kernels["a"] = {.us = 900};
    judge_.kernels["b"] = {.us = 300};
    agent_.plan = {"slow", "fast", "a|b"};
  }

  /// Runs in a child that dies at the n-th commit; true when it lived to the end instead.
  bool run_until_killed(const fs::path& folder, int n, bool before) {
    pid_t child = ::fork();
    if (child == 0) {
      Killer::arm(n, before);
      ::_exit(run(folder) ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == killed)) << status;
    return WEXITSTATUS(status) == 0;
  }

  /// What must not depend on interruptions.
  static std::string essence(const CampaignRecord& record) {
    std::string text = record.termination + "\n";
    for (const RoundRecord& round : record.rounds)
      text += fmt::format("{} from {} {} {:.6f} {} {}\n", round.number, round.parent, name_of(round.decision),
                          round.score, round.verdict.candidate.short_hex(), round.reason);
    if (record.final_verdict) text += record.final_verdict->candidate.hex();
    return text;
  }

  static std::map<std::string, std::string> files(const fs::path& folder) {
    std::map<std::string, std::string> all;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      std::string name = fs::relative(entry.path(), folder).string();
      bool record = name.starts_with("campaign.db") || name == "owner.lock";
      if (entry.is_regular_file() && !record) all[name] = *read_file(entry.path());
    }
    return all;
  }

  static std::vector<std::string> names(const std::map<std::string, std::string>& all) {
    std::vector<std::string> out;
    for (const auto& [name, content] : all) out.push_back(name);
    return out;
  }
};

TEST_F(RecoveryTest, KilledAtAnyCommitItGoesOnAsIfNothingHadHappened) {
  fs::path whole = create();
  FakeAgent undisturbed = agent_;
  auto expected = run(whole, judge_, undisturbed);
  ASSERT_TRUE(expected) << to_text(expected.error());
  std::vector<std::string> expected_files = names(files(whole));

  for (bool before : {true, false}) {
    bool finished = false;
    int n = 1;
    for (; !finished && n < 100; ++n) {
      fs::path folder = create();
      finished = run_until_killed(folder, n, before);
      auto seen = read_campaign(folder);
      ASSERT_TRUE(seen) << "readable at once, n = " << n << ": " << to_text(seen.error());
      for (const RoundRecord& round : seen->rounds)
        EXPECT_FALSE(round.ended.empty()) << "no half-closed round";
      FakeAgent again = agent_;
      auto resumed = run(folder, judge_, again);
      ASSERT_TRUE(resumed) << "n = " << n << ": " << to_text(resumed.error());
      EXPECT_EQ(essence(*resumed), essence(*expected)) << "n = " << n << ", before = " << before;
      EXPECT_EQ(essence(*read_campaign(folder)), essence(*expected));
      EXPECT_EQ(names(files(folder)), expected_files) << "n = " << n;
    }
    EXPECT_GT(n, 10) << "the killing reached the rounds";
    EXPECT_LT(n, 100);
  }
}

TEST_F(RecoveryTest, KilledManyTimesInOneCampaignItStillEndsTheSame) {
  fs::path whole = create(), folder = create();
  FakeAgent undisturbed = agent_;
  auto expected = run(whole, judge_, undisturbed);
  ASSERT_TRUE(expected);
  // Each life gets a few commits; enough for one round, never for all.
  for (int life = 0; life < 12; ++life) run_until_killed(folder, 8, life % 2 == 0);
  FakeAgent last = agent_;
  auto record = run(folder, judge_, last);
  ASSERT_TRUE(record) << to_text(record.error());
  EXPECT_EQ(essence(*record), essence(*expected));
}

TEST_F(RecoveryTest, AnAgentIsToldOfAllClosedRoundsOnResume) {
  fs::path folder = create();
  bool stop_at_b = true;
  judge_.before = [&](const JudgeRequest& request) {
    stop_ = stop_at_b && name_in(request.candidate) == "b";
  };
  ASSERT_TRUE(run(folder));
  stop_at_b = stop_ = false;
  FakeAgent again = agent_;
  again.learned.clear();
  again.proposed.clear();
  ASSERT_TRUE(run(folder, judge_, again));
  EXPECT_THAT(again.learned, ::testing::ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(again.proposed, ::testing::ElementsAre("a|b"));
}

TEST_F(RecoveryTest, ProjectionsThatAreMissingOrTornAreMadeAgain) {
  fs::path folder = create();
  ASSERT_TRUE(run(folder));
  std::map<std::string, std::string> good = files(folder);
  ASSERT_TRUE(good.contains("logs/optimize.md"));
  ASSERT_TRUE(good.contains("rounds/round-3/kernel_snapshot/scale.cpp"));
  ASSERT_TRUE(good.contains("best/scale.cpp"));
  for (const auto& [name, content] : good) {
    SCOPED_TRACE(name);
    fs::remove(folder / name);
    if (name.ends_with("summary.md") || name.starts_with("logs/") || name == "manifest.yaml" ||
        name == "problem.yaml" || name == "best/README.md") {
      ASSERT_TRUE(run(folder));
      EXPECT_EQ(read_file(folder / name).value_or("missing"), content);
    } else {
      std::ofstream(folder / name) << content;  // inside a folder that is complete by its mark
    }
  }
  for (const char* lost : {"rounds", "best", "logs"}) {
    fs::remove_all(folder / lost);
    ASSERT_TRUE(run(folder));
    EXPECT_EQ(files(folder), good) << lost;
  }
  for (const char* log : {"logs/optimize.md", "logs/performance_trend.md"})
    for (std::size_t cut : {0u, 10u, 200u, 700u, 1500u}) {
      std::string torn = good[log].substr(0, std::min<std::size_t>(cut, good[log].size() - 1));
      std::ofstream(folder / log, std::ios::binary) << torn;
      ASSERT_TRUE(run(folder));
      EXPECT_EQ(*read_file(folder / log), good[log]) << log << " cut at " << cut;
    }
}

TEST_F(RecoveryTest, EveryAnswerOfTheJudgeIsKeptWithItsSamples) {
  fs::path folder = create();
  ASSERT_TRUE(run(folder));
  auto store = CampaignStore::open(folder, OpenMode::read_only);
  ASSERT_TRUE(store);
  auto kinds = [&](int round) {
    std::string text;
    std::vector<Judgement> all = *store->judgements(round);
    for (const Judgement& one : all) text += one.kind + (one.label.empty() ? "" : ":" + one.label) + " ";
    return text;
  };
  EXPECT_EQ(kinds(1), "decide:baseline ");
  EXPECT_EQ(kinds(2), "decide ");
  EXPECT_EQ(kinds(3), "decide confirm ");
  EXPECT_EQ(kinds(4), "screen:a screen:b decide confirm ");
  EXPECT_EQ(kinds(0), "final:round-4 ");
  EXPECT_EQ(store->judgements(2)->at(0).verdict.timings.at(0).candidate_us,
            (std::vector<double>{2000, 2000}));
  auto record = read_campaign(folder);
  EXPECT_EQ(record->rounds[3].proposal.sweep.at(1).candidate, candidate("b"))
      << "sources come back from their blobs";
}

TEST_F(RecoveryTest, OnlyOneProcessRunsACampaignAtATime) {
  fs::path folder = create();
  auto lock = OwnerLock::take(layout::lock(folder));
  ASSERT_TRUE(lock);
  auto second = run_campaign(folder, {}, {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::conflict);
  EXPECT_THAT(second.error().what, HasSubstr(fmt::format("process {}", ::getpid())));
  EXPECT_TRUE(read_campaign(folder)) << "reading is always possible";
}

TEST_F(RecoveryTest, ACampaignOfANewerAkoIsRefusedAndLeftAlone) {
  fs::path folder = create();
  {
    auto database = Database::open(layout::database(folder), {});
    ASSERT_TRUE(database->execute(
        "UPDATE ako_schema SET version = 99, written_by = '9.0.0' WHERE name = 'campaign'"));
  }
  for (auto record : {read_campaign(folder), run_campaign(folder, {}, {})}) {
    ASSERT_FALSE(record);
    EXPECT_THAT(record.error().what, HasSubstr("9.0.0"));
  }
  ASSERT_EQ(list_campaigns(home_.path()).size(), 1u);
  EXPECT_THAT(list_campaigns(home_.path())[0].phase, HasSubstr("9.0.0"))
      << "damaged ones are listed with their error";
}

TEST_F(RecoveryTest, AFolderWithoutACampaignIsNamed) {
  for (auto record : {read_campaign(home_.path()), run_campaign(home_.path(), {}, {})}) {
    ASSERT_FALSE(record);
    EXPECT_EQ(record.error().kind, ErrorKind::not_found);
  }
}

TEST_F(RecoveryTest, AFolderThatCannotBeWrittenIsAnErrorBeforeAnythingIsMeasured) {
  auto problem = parse_problem(problem_text, "scale.yaml");
  ASSERT_TRUE(write_file(home_.path() / "file", ""));
  auto folder = create_campaign({}, *problem, home_.path() / "file" / "campaigns");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().kind, ErrorKind::io);
}

TEST_F(RecoveryTest, SameNamesOnOneDayGetNumbers) {
  fs::path first = create(), second = create();
  EXPECT_EQ(second.string(), first.string() + "_2");
  EXPECT_EQ(list_campaigns(home_.path()).size(), 2u);
}

TEST_F(RecoveryTest, MoreBudgetReopensAnEndedCampaign) {
  Manifest manifest;
  manifest.max_iterations = 2;
  fs::path folder = create(manifest);
  ASSERT_EQ(run(folder)->rounds.size(), 2u);
  ASSERT_TRUE(extend_campaign(folder, 0, 1));
  FakeAgent again = agent_;
  again.learned.clear();
  auto record = run(folder, judge_, again);
  ASSERT_TRUE(record) << to_text(record.error());
  EXPECT_EQ(record->rounds.size(), 3u);
  EXPECT_TRUE(record->final_verdict);
  EXPECT_THAT(*read_file(layout::optimize_log(folder)), HasSubstr("after round-2"))
      << "the first end stays in the log";
  EXPECT_THAT(*read_file(layout::optimize_log(folder)), HasSubstr("after round-3"));
}

TEST_F(RecoveryTest, NamesThatAreNotTextAreHarmlessInTheLogs) {
  judge_.kernels["fast\x1b[2J\xff | # evil"] = {.us = 500};
  agent_.plan = {"fast\x1b[2J\xff | # evil"};
  fs::path folder = create();
  // "|" separates variants for the fake agent: two kernels then.
  judge_.kernels["fast\x1b[2J\xff "] = {.us = 500};
  judge_.kernels[" # evil"] = {.us = 600};
  auto record = run(folder);
  ASSERT_TRUE(record) << to_text(record.error());
  for (const char* log : {"logs/optimize.md", "logs/performance_trend.md", "rounds/round-2/summary.md"}) {
    std::string text = *read_file(folder / log);
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << log;
    EXPECT_EQ(text.find('\xff'), std::string::npos) << log;
  }
}

}  // namespace
}  // namespace ako::testing_fakes
