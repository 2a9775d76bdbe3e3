// SPDX-License-Identifier: Apache-2.0
#include "toolchain/host/flags.h"

#include <gtest/gtest.h>

namespace ako {
namespace {

TEST(Flags, MayChangeHowCodeIsGenerated) {
  for (const char* flag : {"-O2", "-ffast-math", "-funroll-loops", "-mprefer-vector-width=512",
                           "-fno-tree-vectorize", "-ffp-contract=off", "-std=c++23"})
    EXPECT_TRUE(is_allowed_flag(flag)) << flag;
}

TEST(Flags, MayNotNameFilesProgramsOrMacros) {
  for (const char* flag : {"-include",
                           "-include/etc/passwd",
                           "-I/",
                           "-I.",
                           "-L/",
                           "-lm",
                           "-o",
                           "-o/tmp/x",
                           "-x",
                           "-wrapper",
                           "-fplugin=a.so",
                           "-specs=a",
                           "-B/tmp",
                           "@flags",
                           "-Wl,-rpath,/",
                           "-Wp,-MD,/tmp/x",
                           "-Wa,-a",
                           "-D_X=1",
                           "-U__x86_64__",
                           "-E",
                           "-S",
                           "-c",
                           "-M",
                           "-march=native",
                           "-static",
                           "-dumpbase",
                           "-fdump-tree-all",
                           "-ftree-dump=/x",
                           "-fprofile-use=/etc",
                           "-ftree-",
                           "-fno-tree-Vectorize",
                           "",
                           "-",
                           "-O2 -I/",
                           "-save-temps",
                           "-fuse-ld=gold",
                           "-imacros",
                           "-iquote/",
                           "/etc/passwd",
                           "scale.cpp",
                           "-ftree-parallelize-loops=4"})
    EXPECT_FALSE(is_allowed_flag(flag)) << flag;
}

TEST(Flags, AreRefusedWithTheListOfThoseAllowed) {
  std::vector<std::string> flags{"-O2", "-lssl"};
  auto fine = check_flags(flags);
  ASSERT_FALSE(fine);
  EXPECT_NE(fine.error().what.find("-lssl"), std::string::npos);
  EXPECT_NE(fine.error().advice.find("-funroll-loops"), std::string::npos);
}

}  // namespace
}  // namespace ako
