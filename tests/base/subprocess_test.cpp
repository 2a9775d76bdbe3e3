// SPDX-License-Identifier: Apache-2.0
#include "base/subprocess.h"

#include <gtest/gtest.h>

#include <csignal>

namespace ako {
namespace {

Command shell(std::string script, double limit_s = 20) {
  Command command;
  command.argv = {"/bin/sh", "-c", std::move(script)};
  command.wall_limit = Seconds(limit_s);
  return command;
}

TEST(Run, SeparatesOutputFromErrorsAndReportsTheExitCode) {
  auto exit = run(shell("echo out; echo err >&2; exit 3"));
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->output, "out\n");
  EXPECT_EQ(exit->errors, "err\n");
  EXPECT_EQ(exit->code, 3);
  EXPECT_FALSE(exit->ok());
}

TEST(Run, FeedsInputLargerThanAPipe) {
  Command command = shell("wc -c");
  command.input.assign(1 << 20, 'x');
  auto exit = run(command);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->output, "1048576\n");
}

TEST(Run, DropsOutputBeyondItsLimit) {
  Command command = shell("head -c 100000 /dev/zero");
  command.output_limit = Bytes{1000};
  auto exit = run(command);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->output.size(), 1000u);
  EXPECT_TRUE(exit->output_cut);
  EXPECT_EQ(exit->code, 0);
}

TEST(Run, KillsSilentProcessesAndTheirChildrenAtTheLimit) {
  auto exit = run(shell("sleep 100 & sleep 100", 0.2));
  ASSERT_TRUE(exit);
  EXPECT_TRUE(exit->timed_out);
  EXPECT_EQ(exit->signal, SIGKILL);
  EXPECT_LT(exit->wall.count(), 10);
}

TEST(Run, KillsAProcessThatClosedItsOutputAndStays) {
  auto exit = run(shell("exec >&- 2>&-; sleep 100", 0.2));
  ASSERT_TRUE(exit);
  EXPECT_TRUE(exit->timed_out);
}

TEST(Run, ReportsSignals) {
  auto exit = run(shell("kill -SEGV $$"));
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->signal, SIGSEGV);
  EXPECT_EQ(exit->code, 128 + SIGSEGV);
}

TEST(Run, SaysWhenAProgramIsMissing) {
  Command command;
  command.argv = {"ako-no-such-program"};
  auto exit = run(command);
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().kind, ErrorKind::not_found);
}

TEST(Run, PassesTheGivenEnvironmentOnly) {
  Command command = shell("/usr/bin/env | grep -v -E '^(PWD|SHLVL|_|OLDPWD)='");
  command.environment = std::map<std::string, std::string>{{"ONLY", "this"}};
  auto exit = run(command);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->output, "ONLY=this\n");
}

TEST(LineProcess, ExchangesLines) {
  auto process = LineProcess::start(shell("while read line; do echo \"got $line\"; done"));
  ASSERT_TRUE(process);
  ASSERT_TRUE(process->send("a"));
  ASSERT_TRUE(process->send("b"));
  EXPECT_EQ(process->receive(Seconds(10)).value(), "got a");
  EXPECT_EQ(process->receive(Seconds(10)).value(), "got b");
  EXPECT_TRUE(process->alive());
  EXPECT_EQ(process->close(Seconds(10)).code, 0);
}

TEST(LineProcess, TellsSilenceFromTheEnd) {
  auto process = LineProcess::start(shell("read line; exit 0"));
  ASSERT_TRUE(process);
  auto silent = process->receive(Seconds(0.05));
  ASSERT_FALSE(silent);
  EXPECT_EQ(silent.error().kind, ErrorKind::limit);
  ASSERT_TRUE(process->send("go"));
  auto ended = process->receive(Seconds(10));
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind, ErrorKind::unavailable);
}

TEST(LineProcess, KillsWhatDoesNotCloseInTime) {
  auto process = LineProcess::start(shell("sleep 100"));
  ASSERT_TRUE(process);
  Exit exit = process->close(Seconds(0.1));
  EXPECT_TRUE(exit.timed_out);
  EXPECT_EQ(exit.signal, SIGKILL);
}

}  // namespace
}  // namespace ako
