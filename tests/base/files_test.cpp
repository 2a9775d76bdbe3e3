// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <gtest/gtest.h>

namespace ako {
namespace {

TEST(WriteFile, CreatesFoldersAndReplacesWhole) {
  auto folder = TemporaryFolder::create("ako-test");
  ASSERT_TRUE(folder);
  auto path = folder->path() / "a" / "b.txt";
  ASSERT_TRUE(write_file(path, "one"));
  ASSERT_TRUE(write_file(path, "two"));
  EXPECT_EQ(read_file(path).value(), "two");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path.parent_path()), {}), 1);
}

TEST(AppendFile, Grows) {
  auto folder = TemporaryFolder::create("ako-test");
  ASSERT_TRUE(folder);
  auto path = folder->path() / "log";
  ASSERT_TRUE(append_file(path, "a"));
  ASSERT_TRUE(append_file(path, std::string("\0b", 2)));
  EXPECT_EQ(read_file(path).value(), std::string("a\0b", 3));
}

TEST(ReadFile, SaysWhyItCannot) {
  auto missing = read_file("/no/such/file");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::not_found);
  auto folder = read_file("/tmp");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().kind, ErrorKind::invalid_input);
}

TEST(WriteFile, FailsCleanlyBelowAFile) {
  auto folder = TemporaryFolder::create("ako-test");
  ASSERT_TRUE(folder);
  // The parent is a file: no folder can be made there, on any file system and as any user.
  ASSERT_TRUE(write_file(folder->path() / "file", ""));
  auto written = write_file(folder->path() / "file" / "x", "content");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::io);
}

TEST(TemporaryFolder, IsRemovedWithItsContent) {
  std::filesystem::path path;
  {
    auto folder = TemporaryFolder::create("ako-test");
    ASSERT_TRUE(folder);
    path = folder->path();
    ASSERT_TRUE(write_file(path / "x" / "y", "z"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace ako
