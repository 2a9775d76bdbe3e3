// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#include <gtest/gtest.h>

namespace ako {
namespace {

// RFC 7693 gives BLAKE2b-512 only; this BLAKE2b-256 of "abc" is Python's hashlib.blake2b(b"abc",
// digest_size=32).
TEST(Hash, IsBlake2b256) {
  EXPECT_EQ(hash_text("abc").hex(), "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
}

TEST(Hash, ReadsWhatItWrites) {
  Hash hash = hash_text("x"), back;
  ASSERT_TRUE(Hash::parse(hash.hex(), back));
  EXPECT_EQ(hash, back);
  EXPECT_FALSE(Hash::parse("12", back));
  EXPECT_FALSE(Hash::parse(std::string(64, 'g'), back));
}

TEST(Hasher, FramesItsFields) {
  EXPECT_NE(Hasher("t").add("ab").add("c").finish(), Hasher("t").add("a").add("bc").finish());
  EXPECT_NE(Hasher("t").add("a").finish(), Hasher("u").add("a").finish());
}

}  // namespace
}  // namespace ako
