// SPDX-License-Identifier: Apache-2.0
#include "toolchain/host/messages.h"

#include <gtest/gtest.h>

namespace ako {
namespace {

MessageContext context() {
  return {{"/tmp/scratch.1/", "/opt/ako/include/"},
          {{"f", {"void*", "int64_t"}, {"x", "N"}, {"float*", "int64_t"}}}};
}

TEST(Messages, ShowNoFoldersThatTheAuthorDoesNotKnow) {
  EXPECT_EQ(
      readable_messages("/tmp/scratch.1/a.cpp:3:1: error: x\n/opt/ako/include/ako/kernel.h:1:1: note: y\n",
                        context()),
      "a.cpp:3:1: error: x\nako/kernel.h:1:1: note: y\n");
}

TEST(Messages, ExplainAMissingKernelOnce) {
  EXPECT_EQ(readable_messages(
                "/usr/bin/ld: /tmp/ccX.o: in function `ako_call_f':\nwrapper.c:(.text+0x1): undefined "
                "reference to `f'\n/usr/bin/ld: wrapper.c:(.text+0x9): undefined reference to `f'\n"
                "collect2: error: ld returned 1 exit status\n",
                context()),
            "error: the plan launches 'f', but no source defines a function of this name with C linkage\n"
            "  help: define it as extern \"C\" void f(float* x, int64_t N)\n");
}

TEST(Messages, NameTheUserOfAnUndefinedFunction) {
  EXPECT_EQ(readable_messages(
                "/usr/bin/ld: /tmp/ccX.o: in function `f':\nk.cpp:(.text+0x1): undefined reference to "
                "`g(std::vector<int>)'\nclang++-19: error: linker command failed with exit code 1 (use -v)\n",
                context()),
            "error: 'g(std::vector<int>)' is used by 'f' but defined in no source and no library\n");
}

TEST(Messages, NameWhatIsDefinedTwice) {
  EXPECT_EQ(readable_messages(
                "/usr/bin/ld: /tmp/b.o: in function `f':\nb.cpp:(.text+0x0): multiple definition of `f'; "
                "/tmp/a.o:a.cpp:(.text+0x0): first defined here\n",
                context()),
            "error: 'f' is defined more than once\n");
}

TEST(Messages, AreCutAfterTheirFirstLines) {
  std::string flood;
  for (int i = 0; i < 100; ++i) flood += "line " + std::to_string(i) + "\n";
  std::string text = readable_messages(flood, context());
  EXPECT_TRUE(text.ends_with("line 59\n… 40 more lines\n")) << text;
}

TEST(Messages, AreHarmlessOnATerminal) {
  EXPECT_EQ(readable_messages("a\x1b[31m\xff\tb\n", context()), "a [31m\uFFFD\tb\n");
}

TEST(Messages, OfAnEndlessLineAreCut) {
  EXPECT_LT(readable_messages(std::string(100'000, 'x'), context()).size(), 3000u);
}

}  // namespace
}  // namespace ako
