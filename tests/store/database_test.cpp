// SPDX-License-Identifier: Apache-2.0
#include "store/database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "base/files.h"
#include "base/version.h"

namespace ako {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

const Schema things{"things", {"CREATE TABLE things(name TEXT PRIMARY KEY, size REAL)"}};

class DatabaseTest : public ::testing::Test {
 protected:
  fs::path file() const { return folder_.path() / "test.db"; }
  Database open(const std::vector<Schema>& schemas = {things}) {
    auto database = Database::open(file(), schemas);
    EXPECT_TRUE(database) << to_text(database.error());
    return std::move(*database);
  }
  static Result<void> add(Database& database, std::string_view name) {
    AKO_TRY(Query insert, database.prepare("INSERT INTO things VALUES(?, 1.5)"));
    return insert.bind(1, name).finish();
  }
  static std::int64_t count(Database& database) {
    auto query = database.prepare("SELECT count(*) FROM things");
    EXPECT_TRUE(query && query->step());
    return query->integer(0);
  }
  TemporaryFolder folder_ = *TemporaryFolder::create("ako-store-test");
};

TEST_F(DatabaseTest, KeepsWhatWasCommitted) {
  {
    Database database = open();
    ASSERT_TRUE(database.transaction([&] { return add(database, "one"); }));
  }
  Database database = open();
  auto query = database.prepare("SELECT name, size FROM things");
  ASSERT_TRUE(query && *query->step());
  EXPECT_EQ(query->text(0), "one");
  EXPECT_EQ(query->real(1), 1.5);
  EXPECT_FALSE(*query->step());
}

TEST_F(DatabaseTest, RollsBackWhenTheBodyFails) {
  Database database = open();
  auto result = database.transaction([&]() -> Result<void> {
    AKO_CHECK(add(database, "one"));
    return fail(ErrorKind::invalid_input, "no");
  });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().what, "no");
  EXPECT_EQ(count(database), 0);
  EXPECT_TRUE(database.transaction([&] { return add(database, "one"); }))
      << "the next transaction is not disturbed";
}

TEST_F(DatabaseTest, RefusesATransactionInATransaction) {
  Database database = open();
  auto result = database.transaction([&] { return database.transaction([] { return Result<void>(); }); });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::internal);
}

TEST_F(DatabaseTest, KeepsEveryByteOfTextAndBlobs) {
  Database database = open();
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  ASSERT_TRUE(add(database, all));
  auto query = database.prepare("SELECT name FROM things");
  ASSERT_TRUE(*query->step());
  EXPECT_EQ(query->text(0), all);
  for (const std::string& content : {all, std::string()}) {
    auto hash = database.put_blob(content);
    ASSERT_TRUE(hash) << to_text(hash.error());
    EXPECT_EQ(database.put_blob(content), *hash) << "the same content twice is one row";
    EXPECT_EQ(*database.get_blob(*hash), content);
  }
}

TEST_F(DatabaseTest, FindsABlobThatWasAltered) {
  Database database = open();
  Hash hash = *database.put_blob("honest");
  ASSERT_TRUE(database.execute("UPDATE ako_blobs SET content = 'forged'"));
  auto content = database.get_blob(hash);
  ASSERT_FALSE(content);
  EXPECT_EQ(content.error().kind, ErrorKind::corrupt);
  EXPECT_EQ(database.get_blob(hash_text("other")).error().kind, ErrorKind::not_found);
}

TEST_F(DatabaseTest, MigratesStepByStepAndKeepsTheRows) {
  {
    Database database = open();
    ASSERT_TRUE(add(database, "old"));
  }
  Schema second = things;
  second.migrations.push_back("ALTER TABLE things ADD COLUMN colour TEXT DEFAULT 'none'");
  Database database = open({second});
  auto query = database.prepare("SELECT name, colour FROM things");
  ASSERT_TRUE(query) << to_text(query.error());
  ASSERT_TRUE(*query->step());
  EXPECT_EQ(query->text(0) + query->text(1), "oldnone");
}

TEST_F(DatabaseTest, LeavesTheOldVersionWhenAMigrationFails) {
  {
    open();
  }
  Schema second = things;
  second.migrations.push_back("ALTER TABLE things ADD COLUMN colour TEXT; DROP TABLE absent");
  EXPECT_FALSE(Database::open(file(), {second}));
  Database database = open();
  EXPECT_FALSE(database.prepare("SELECT colour FROM things"));
}

TEST_F(DatabaseTest, RefusesANewerVersionAndSaysWhoWroteIt) {
  Schema second = things;
  second.migrations.push_back("CREATE TABLE more(x)");
  {
    Database database = open({second});
    ASSERT_TRUE(database.execute("UPDATE ako_schema SET written_by = '7.8.9' WHERE name = 'things'"));
  }
  for (OpenMode mode : {OpenMode::read_write, OpenMode::read_only}) {
    auto refused = Database::open(file(), {things}, mode);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::corrupt);
    EXPECT_THAT(refused.error().what, HasSubstr("7.8.9"));
    EXPECT_THAT(refused.error().advice, HasSubstr("7.8.9 or newer"));
  }
  open({second});  // untouched
}

TEST_F(DatabaseTest, SchemasLiveSideBySide) {
  {
    open();
  }
  Database database = open({things, {"others", {"CREATE TABLE others(x)"}}});
  EXPECT_TRUE(database.prepare("SELECT * FROM others"));
  EXPECT_TRUE(database.prepare("SELECT * FROM things"));
}

TEST_F(DatabaseTest, SaysThatAFileIsNoDatabaseAndLeavesItAlone) {
  std::string junk(8192, 'x');
  ASSERT_TRUE(write_file(file(), junk));
  for (OpenMode mode : {OpenMode::read_write, OpenMode::read_only}) {
    auto refused = Database::open(file(), {things}, mode);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::corrupt);
    EXPECT_THAT(refused.error().advice, HasSubstr(".recover"));
  }
  EXPECT_EQ(*read_file(file()), junk);
}

TEST_F(DatabaseTest, FindsDamageInsideTheFile) {
  {
    Database database = open();
    ASSERT_TRUE(database.transaction([&]() -> Result<void> {
      for (int i = 0; i < 3000; ++i) AKO_CHECK(add(database, "name " + std::to_string(i)));
      return {};
    }));
  }
  std::string content = *read_file(file());
  ASSERT_GT(content.size(), 5u * 4096);
  for (std::size_t page = 3; page * 4096 < content.size(); ++page)
    std::fill_n(content.begin() + static_cast<std::ptrdiff_t>(page * 4096), 64, '\xA5');
  std::ofstream(file(), std::ios::binary) << content;
  auto refused = Database::open(file(), {things});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::corrupt);
  EXPECT_EQ(fs::file_size(file()), content.size()) << "nothing is deleted";
}

TEST_F(DatabaseTest, AFullDiskIsAnErrorAndLosesNothing) {
  Database database = open();
  ASSERT_TRUE(database.transaction([&] { return add(database, "kept"); }));
  ASSERT_TRUE(database.execute("PRAGMA max_page_count = 12"));  // SQLite then answers as for a full disk
  auto result = database.transaction([&] { return add(database, std::string(200'000, 'x')); });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::io);
  EXPECT_THAT(result.error().what, HasSubstr("disk is full"));
  EXPECT_EQ(count(database), 1);
  ASSERT_TRUE(database.execute("PRAGMA max_page_count = 1000000"));
  EXPECT_TRUE(database.transaction([&] { return add(database, std::string(200'000, 'x')); }));
}

TEST_F(DatabaseTest, AFolderThatCannotBeWrittenIsAnError) {
  auto refused = Database::open("/proc/ako-test.db", {things});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::io);
  EXPECT_FALSE(refused.error().advice.empty());
}

TEST_F(DatabaseTest, AReaderNeitherMakesNorChangesAnything) {
  EXPECT_EQ(Database::open(file(), {things}, OpenMode::read_only).error().kind, ErrorKind::not_found);
  EXPECT_FALSE(fs::exists(file()));
  {
    open();
  }
  auto reader = Database::open(file(), {things}, OpenMode::read_only);
  ASSERT_TRUE(reader) << to_text(reader.error());
  auto written = add(*reader, "x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::io);
}

TEST_F(DatabaseTest, AReaderSeesWhatAWriterHasCommitted) {
  Database writer = open();
  ASSERT_TRUE(writer.transaction([&] { return add(writer, "one"); }));
  auto reader = Database::open(file(), {things}, OpenMode::read_only);
  ASSERT_TRUE(reader) << to_text(reader.error());
  ASSERT_TRUE(writer.transaction([&] { return add(writer, "two"); }));
  EXPECT_EQ(count(*reader), 2);
}

TEST_F(DatabaseTest, PathsWithQuestionMarksAndPercentSignsAreJustNames) {
  fs::path odd = folder_.path() / "a?mode=memory%20#1" / "x.db";
  ASSERT_TRUE(create_folders(odd.parent_path()));
  {
    ASSERT_TRUE(Database::open(odd, {things}));
  }
  EXPECT_TRUE(fs::exists(odd));
}

/// Kills the process at the n-th commit, before it (the transaction is lost) or after it (it is kept).
void commit_until(const fs::path& file, int n, bool before) {
  auto database = Database::open(file, {things});
  if (!database) ::_exit(2);
  for (int i = 1; i <= 5; ++i) {
    auto result = database->transaction([&]() -> Result<void> {
      AKO_TRY(Query insert, database->prepare("INSERT INTO things VALUES(?, 1), (?, 2)"));
      AKO_CHECK(insert.bind(1, fmt::format("{}a", i)).bind(2, fmt::format("{}b", i)).finish());
      if (before && i == n) ::_exit(0);
      return {};
    });
    if (!result) ::_exit(3);
    if (i == n) ::_exit(0);
  }
}

TEST_F(DatabaseTest, AKilledWriterLeavesWholeTransactionsOnly) {
  for (bool before : {true, false})
    for (int n = 1; n <= 5; ++n) {
      fs::path database_file = folder_.path() / fmt::format("{}{}.db", n, before);
      pid_t child = ::fork();
      ASSERT_GE(child, 0);
      if (child == 0) commit_until(database_file, n, before);
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      ASSERT_EQ(WEXITSTATUS(status), 0);
      auto database = Database::open(database_file, {things});
      ASSERT_TRUE(database) << to_text(database.error());
      EXPECT_EQ(count(*database), 2 * (before ? n - 1 : n));
    }
}

TEST_F(DatabaseTest, ATornLogIsCutAtTheLastWholeCommit) {
  // A crash of the machine can leave any prefix of the write-ahead log. Every prefix must open, and show a
  // prefix of the commits.
  Database writer = open();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(writer.transaction([&] { return add(writer, std::to_string(i)); }));
  std::string base = *read_file(file()), log = *read_file(file().string() + "-wal");
  ASSERT_GT(log.size(), 4096u);
  std::int64_t seen = 0;
  for (std::size_t cut = 0; cut <= log.size(); cut += 2039) {
    fs::path torn = folder_.path() / fmt::format("torn{}.db", cut);
    std::ofstream(torn, std::ios::binary) << base;
    std::ofstream(torn.string() + "-wal", std::ios::binary) << log.substr(0, cut);
    auto database = Database::open(torn, {things});
    ASSERT_TRUE(database) << cut << ": " << to_text(database.error());
    std::int64_t now = count(*database);
    EXPECT_GE(now, seen) << cut;
    seen = now;
  }
  EXPECT_GE(seen, 3);
}

TEST(OwnerLock, IsHeldByOneProcessAtATime) {
  TemporaryFolder folder = *TemporaryFolder::create("ako-store-test");
  fs::path file = folder.path() / "owner.lock";
  auto first = OwnerLock::take(file);
  ASSERT_TRUE(first) << to_text(first.error());
  auto second = OwnerLock::take(file);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::conflict);
  EXPECT_THAT(second.error().what, HasSubstr(fmt::format("process {}", ::getpid())));
  EXPECT_THAT(second.error().what, HasSubstr("test_store"));
  {
    OwnerLock released = std::move(*first);
  }
  EXPECT_TRUE(OwnerLock::take(file));
}

TEST(OwnerLock, EndsWithItsProcess) {
  TemporaryFolder folder = *TemporaryFolder::create("ako-store-test");
  fs::path file = folder.path() / "owner.lock";
  pid_t child = ::fork();
  if (child == 0) {
    auto lock = OwnerLock::take(file);
    ::_exit(lock ? 0 : 1);  // without running destructors
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(OwnerLock::take(file));
}

}  // namespace
}  // namespace ako
