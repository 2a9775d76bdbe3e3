// SPDX-License-Identifier: Apache-2.0
#include "toolchain/compile_cache.h"

#include <gtest/gtest.h>

#include "base/files.h"

namespace ako {
namespace {
namespace fs = std::filesystem;

class CompileCacheTest : public ::testing::Test {
 protected:
  static Artifact artifact(std::string_view name) {
    Artifact made;
    made.id = hash_text(name);
    made.candidate = hash_text("candidate");
    made.target = "host";
    made.symbols = {"f"};
    made.log = "a warning\n";
    made.command = {"g++", "\xff"};
    made.resources.values = {{"code_bytes", 12}};
    return made;
  }
  void age(std::string_view name, std::chrono::hours by) {
    fs::last_write_time(folder_.path() / hash_text(name).hex(), fs::file_time_type::clock::now() - by);
  }
  TemporaryFolder folder_ = TemporaryFolder::create("ako-test").value();
  CompileCache cache_{folder_.path()};
};

TEST_F(CompileCacheTest, FindsWhatWasStored) {
  Artifact stored = cache_.store(artifact("a"), "code").value();
  auto found = CompileCache(folder_.path()).find(stored.id);
  ASSERT_TRUE(found);
  EXPECT_EQ(read_file(found->code).value(), "code");
  EXPECT_EQ(found->code_hash, hash_text("code"));
  EXPECT_EQ(found->log, "a warning\n");
  EXPECT_EQ(found->resources.values.at("code_bytes"), 12);
  EXPECT_TRUE(found->cached);
}

TEST_F(CompileCacheTest, FindsNothingElse) { EXPECT_FALSE(cache_.find(hash_text("b"))); }

TEST_F(CompileCacheTest, BelievesNoDamagedEntry) {
  for (const char* file : {"code.so", "artifact.json"}) {
    Artifact stored = cache_.store(artifact("a"), "code").value();
    fs::path path = stored.code.parent_path() / file;
    std::string whole = read_file(path).value();
    for (std::size_t size = 0; size < whole.size(); size += 1 + whole.size() / 40) {
      ASSERT_TRUE(cache_.store(artifact("a"), "code"));
      ASSERT_TRUE(write_file(path, whole.substr(0, size)));
      EXPECT_FALSE(cache_.find(stored.id)) << file << " cut at " << size;
      EXPECT_FALSE(fs::exists(stored.code.parent_path()));
    }
  }
}

TEST_F(CompileCacheTest, BelievesNoEntryUnderAnotherName) {
  Artifact stored = cache_.store(artifact("a"), "code").value();
  fs::rename(stored.code.parent_path(), folder_.path() / hash_text("b").hex());
  EXPECT_FALSE(cache_.find(hash_text("b")));
}

TEST_F(CompileCacheTest, KeepsTheEntryThatWasThereFirst) {
  Artifact first = cache_.store(artifact("a"), "code").value();
  Artifact second = cache_.store(artifact("a"), "other code").value();
  EXPECT_EQ(second.code_hash, first.code_hash);
}

TEST_F(CompileCacheTest, EvictsWhatWasUnusedForLongest) {
  std::string code(1000, 'x');
  for (const char* name : {"old", "older", "oldest"}) ASSERT_TRUE(cache_.store(artifact(name), code));
  age("old", std::chrono::hours(2));
  age("older", std::chrono::hours(3));
  age("oldest", std::chrono::hours(4));
  CompileCache(folder_.path(), Bytes{3500}).evict();
  EXPECT_TRUE(cache_.find(hash_text("old")));
  EXPECT_TRUE(cache_.find(hash_text("older")));
  EXPECT_FALSE(cache_.find(hash_text("oldest")));
}

TEST_F(CompileCacheTest, EvictsNothingThatMayBeInUse) {
  ASSERT_TRUE(cache_.store(artifact("new"), "code"));
  CompileCache(folder_.path(), Bytes{0}).evict();
  EXPECT_TRUE(cache_.find(hash_text("new")));
}

}  // namespace
}  // namespace ako
