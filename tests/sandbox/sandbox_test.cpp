// SPDX-License-Identifier: Apache-2.0
#include "sandbox/sandbox.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sandbox/filter.h"
#include "sandbox/view.h"

namespace ako {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

Policy shell_policy() {
  Policy policy;
  policy.filter = Filter::compile;
  policy.readable = {"/usr", "/bin", "/lib", "/lib64"};
  policy.environment = {{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C"}};
  return policy;
}

Result<Exit> shell(const std::string& script, const Policy& policy = shell_policy(),
                   Seconds limit = Seconds(10)) {
  Command command;
  command.argv = {"/bin/sh", "-c", script};
  command.wall_limit = limit;
  return run_confined(command, policy);
}

std::string said(const std::string& script, const Policy& policy = shell_policy()) {
  auto exit = shell(script, policy);
  return exit ? exit->output + exit->errors : to_text(exit.error());
}

class Sandbox : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!confinement().full()) GTEST_SKIP() << "this kernel does not confine: " << confinement().missing;
  }
};

TEST_F(Sandbox, ReportsOutputErrorsAndStatus) {
  auto exit = shell("echo out; echo err >&2; exit 3");
  ASSERT_TRUE(exit) << to_text(exit.error());
  EXPECT_EQ(exit->output, "out\n");
  EXPECT_EQ(exit->errors, "err\n");
  EXPECT_EQ(exit->code, 3);
  EXPECT_EQ(exit->signal, 0);
}

TEST_F(Sandbox, FeedsItsInput) {
  Command command;
  command.argv = {"/bin/sh", "-c", "cat"};
  command.input = std::string(100'000, 'x');
  auto exit = run_confined(command, shell_policy());
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->output, command.input);
}

TEST_F(Sandbox, HidesEveryFileThatThePolicyDoesNotName) {
  EXPECT_THAT(said("cat /etc/passwd"), HasSubstr("No such file"));
  EXPECT_THAT(said("ls /"), Not(HasSubstr("proc")));
  EXPECT_EQ(said("ls /dev"), "null\n");
}

TEST_F(Sandbox, ShowsWhatThePolicyNamesReadOnly) {
  EXPECT_THAT(said("ls /usr/bin/env"), HasSubstr("/usr/bin/env"));
  EXPECT_THAT(said("touch /usr/bin/new"), HasSubstr("Read-only file system"));
  EXPECT_THAT(said("touch /new"), HasSubstr("Read-only file system"));
}

TEST_F(Sandbox, ShowsOneFileOfAFolderWithoutItsNeighbours) {
  auto folder = TemporaryFolder::create("sandbox");
  ASSERT_TRUE(folder);
  ASSERT_TRUE(write_file(folder->path() / "seen", "seen"));
  ASSERT_TRUE(write_file(folder->path() / "hidden", "hidden"));
  Policy policy = shell_policy();
  policy.readable.push_back(folder->path() / "seen");
  EXPECT_EQ(said("cat " + folder->path().string() + "/*", policy), "seen");
}

TEST_F(Sandbox, WritesToTheScratchFolderOnly) {
  auto folder = TemporaryFolder::create("sandbox");
  ASSERT_TRUE(folder);
  Policy policy = shell_policy();
  policy.scratch = folder->path();
  EXPECT_EQ(said("echo kept > made; echo gone > /tmp/other", policy), "");
  EXPECT_EQ(read_file(folder->path() / "made").value_or("missing"), "kept\n");
  EXPECT_FALSE(fs::exists("/tmp/other"));
}

TEST_F(Sandbox, GivesTheEnvironmentOfThePolicyAndNoOther) {
  ::setenv("AKO_TEST_SECRET", "42", 1);
  std::string environment = said("env");
  ::unsetenv("AKO_TEST_SECRET");
  EXPECT_THAT(environment, HasSubstr("LC_ALL=C"));
  EXPECT_THAT(environment, Not(HasSubstr("AKO_TEST_SECRET")));
}

TEST_F(Sandbox, SeesNoOtherProcess) {
  EXPECT_EQ(said("echo $$"), "1\n");
  EXPECT_THAT(said("kill -9 " + std::to_string(::getpid()) + " || echo refused"), HasSubstr("refused"));
}

TEST_F(Sandbox, PassesNoDescriptorOfOurs) {
  Descriptor ours(::open("/dev/null", O_RDONLY));  // on purpose without close-on-exec
  ASSERT_TRUE(ours);
  EXPECT_THAT(said("read line <&" + std::to_string(ours.get()) + " || true"),
              HasSubstr("Bad file descriptor"));
}

TEST_F(Sandbox, EndsTheWholeTreeAtTheWallLimit) {
  auto started = std::chrono::steady_clock::now();
  auto exit = shell("sleep 1000 & (trap '' TERM HUP; sleep 1000) & sleep 1000", shell_policy(), Seconds(0.2));
  ASSERT_TRUE(exit);
  EXPECT_TRUE(exit->timed_out);
  EXPECT_EQ(exit->signal, SIGKILL);
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(5));
}

TEST_F(Sandbox, LeavesNoBackgroundProcessBehind) {
  auto exit = shell("sleep 1000 & echo started");
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->output, "started\n");
  EXPECT_LT(exit->wall, Seconds(5)) << "waited for a process that holds the pipe";
}

TEST_F(Sandbox, CutsOutputAtItsLimit) {
  Command command;
  command.argv = {"/bin/sh", "-c", "head -c 1000000 /dev/null; yes | head -c 1000000"};
  command.output_limit = kibibytes(10);
  auto exit = run_confined(command, shell_policy());
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->output.size(), 10u << 10);
  EXPECT_TRUE(exit->output_cut);
  EXPECT_EQ(exit->code, 0);
}

TEST_F(Sandbox, LimitsTheSizeOfFiles) {
  Policy policy = shell_policy();
  policy.file_size = kibibytes(64);
  auto exit = shell("yes > /tmp/big", policy);
  ASSERT_TRUE(exit);
  EXPECT_FALSE(exit->ok());
}

TEST_F(Sandbox, CompilesAndLinks) {
  auto folder = TemporaryFolder::create("sandbox");
  ASSERT_TRUE(folder);
  ASSERT_TRUE(write_file(folder->path() / "a.cpp", "extern \"C\" int f() { return 1; }\n"));
  Policy policy = shell_policy();
  policy.scratch = folder->path();
  Command command;
  command.argv = {"g++", "-O1", "-shared", "-fPIC", "-fopenmp", "a.cpp", "-o", "a.so"};
  auto exit = run_confined(command, policy);
  ASSERT_TRUE(exit) << to_text(exit.error());
  EXPECT_TRUE(exit->ok()) << exit->errors;
  EXPECT_TRUE(fs::exists(folder->path() / "a.so"));
}

TEST_F(Sandbox, SaysWhichProgramIsMissing) {
  Command command;
  command.argv = {"no-such-compiler"};
  auto exit = run_confined(command, shell_policy());
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().kind, ErrorKind::not_found);
  EXPECT_THAT(exit.error().what, HasSubstr("no-such-compiler"));
}

TEST_F(Sandbox, SaysWhichReadablePathIsMissing) {
  Policy policy = shell_policy();
  policy.readable.push_back("/no/such/folder");
  auto exit = shell("true", policy);
  ASSERT_FALSE(exit);
  EXPECT_THAT(exit.error().what, HasSubstr("/no/such/folder"));
}

TEST_F(Sandbox, GivesAProcessTheDescriptorsItIsPassed) {
  Descriptor file(::memfd_create("shared", MFD_CLOEXEC));
  Command command;
  command.argv = {"/bin/sh", "-c", "echo hello >&3; exec sleep 1000"};
  auto process = ConfinedProcess::start(command, shell_policy(), {file.get()});
  ASSERT_TRUE(process) << to_text(process.error());
  char text[6] = {};
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (::pread(file.get(), text, 6, 0) < 6 && std::chrono::steady_clock::now() < deadline) ::sched_yield();
  EXPECT_EQ(std::string_view(text, 6), "hello\n");
  EXPECT_FALSE(process->ended());
}

TEST_F(Sandbox, FreezesAndThawsAProcess) {
  Descriptor file(::memfd_create("counter", MFD_CLOEXEC));
  Command command;
  command.argv = {"/bin/sh", "-c", "while :; do echo >&3; done"};
  auto process = ConfinedProcess::start(command, shell_policy(), {file.get()});
  ASSERT_TRUE(process);
  auto size = [&] { return ::lseek(file.get(), 0, SEEK_END); };
  auto grows_from = [&](off_t old) {
    auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (size() <= old && std::chrono::steady_clock::now() < deadline) ::sched_yield();
    return size() > old;
  };
  ASSERT_TRUE(grows_from(0));
  ASSERT_TRUE(process->freeze());
  ASSERT_TRUE(process->freeze()) << "freezing twice is freezing once";
  off_t frozen = size();
  for (int look = 0; look < 1000; ++look) {
    ::sched_yield();
    ASSERT_EQ(size(), frozen);
  }
  process->thaw();
  EXPECT_TRUE(grows_from(frozen));
}

TEST_F(Sandbox, KillsAProcessThatIsLetGo) {
  pid_t pid;
  {
    Command command;
    command.argv = {"/bin/sh", "-c", "sleep 1000"};
    auto process = ConfinedProcess::start(command, shell_policy(), {});
    ASSERT_TRUE(process);
    pid = process->pid();
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_EQ(::kill(pid, 0), -1);
}

TEST_F(Sandbox, TellsHowAProcessEnded) {
  Command command;
  command.argv = {"/bin/sh", "-c", "echo last words >&2; exit 7"};
  auto process = ConfinedProcess::start(command, shell_policy(), {});
  ASSERT_TRUE(process);
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!process->ended() && std::chrono::steady_clock::now() < deadline) ::sched_yield();
  ASSERT_TRUE(process->ended());
  EXPECT_EQ(process->ended()->code, 7);
  EXPECT_EQ(process->ended()->errors, "last words\n");
  EXPECT_FALSE(process->freeze());
}

TEST_F(Sandbox, HasNoNetwork) {
  if (!find_program("perl")) GTEST_SKIP() << "perl is not installed";
  EXPECT_THAT(said("perl -e 'use Socket; socket(S, PF_INET, SOCK_STREAM, 0) or print $!'"),
              HasSubstr("not implemented"));
}

TEST(Filters, AreMadeForEveryStage) {
  for (FilterStage stage : {FilterStage::compile, FilterStage::start, FilterStage::load, FilterStage::run}) {
    auto program = filter_program(stage);
    ASSERT_TRUE(program) << to_text(program.error());
    EXPECT_GT(program->size(), 10u);
    EXPECT_LE(program->size(), 4096u);  // BPF_MAXINSNS
  }
}

TEST(Filters, NameSystemCalls) { EXPECT_EQ(system_call_name(-5), "system call -5"); }

TEST(View, MakesFoldersBeforeWhatIsInThem) {
  Policy policy = shell_policy();
  policy.scratch = "/tmp";
  auto steps = view_of(policy, "/usr/bin/env");
  ASSERT_TRUE(steps);
  std::vector<std::string> made;
  for (const ViewStep& step : *steps) {
    std::string parent = fs::path(step.target).parent_path().string();
    if (!parent.empty()) {
      EXPECT_THAT(made, Contains(parent)) << step.target;
    }
    made.push_back(step.target);
  }
}

TEST(View, ShowsAFolderOnceWhenAFileInItIsNamedToo) {
  Policy policy = shell_policy();
  policy.readable.push_back("/usr/bin/env");
  auto steps = view_of(policy, "/bin/sh");
  ASSERT_TRUE(steps);
  int binds = 0;
  for (const ViewStep& step : *steps)
    binds += step.kind == ViewStep::Kind::bind_file || step.kind == ViewStep::Kind::bind_folder;
  EXPECT_EQ(binds, fs::is_symlink("/lib") ? 1 : 4);
}

}  // namespace
}  // namespace ako
