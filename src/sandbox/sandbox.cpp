// SPDX-License-Identifier: Apache-2.0
// Theory of operation
//
// A confined process is made by one clone into fresh user, mount, pid, network, ipc, uts and cgroup
// namespaces. It is process 1 of its pid namespace, so when it dies the kernel kills whatever it started. Its
// root is a new file system that holds what Policy::readable names and nothing else (view.h); it has no
// capabilities, cannot gain any, sees no descriptor but those it was given, and may make only the system
// calls on a list (filter.h). All of that is in place before its first instruction (child.cpp).
//
// As a namespace's process 1 it can be stopped and killed by us, but ignores such signals from itself; it can
// always end by exit or by a fault of its own, which is all that the outcomes need.
//
// Where the kernel refuses namespaces or filters (confinement()), the rest still holds, and the caller must
// grade what it learns as `unconfined`.
#include "sandbox/sandbox.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "sandbox/spawn.h"

namespace ako {
namespace {

using Clock = std::chrono::steady_clock;
constexpr Bytes kErrorsKept = kibibytes(64);

std::unexpected<Error> refused(const char* what) {
  return fail(ErrorKind::unavailable, fmt::format("cannot {}: {}", what, std::strerror(errno)));
}

struct Pipe {
  Descriptor read, write;
};

Result<Pipe> make_pipe(int flags = 0) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | flags) != 0) return refused("make a pipe");
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

/// The whole input is there before the process starts: nobody has to feed it.
Result<Descriptor> input_of(const std::string& text) {
  if (text.empty()) return Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Descriptor file(::memfd_create("input", MFD_CLOEXEC));
  if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::lseek(file.get(), 0, SEEK_SET) != 0)
    return refused("prepare a process's input");
  return file;
}

Result<SpawnPlan> plan_for(const Command& command, const Policy& policy) {
  if (command.argv.empty()) return fail(ErrorKind::internal, "a command needs at least a program name");
  SpawnPlan plan;
  plan.argv = command.argv;
  auto program = find_program(command.argv[0]);
  if (!program)
    return fail(ErrorKind::not_found, fmt::format("cannot start {}: no such program", command.argv[0]),
                "install it or correct PATH; 'ako doctor' lists what is needed");
  plan.argv[0] = program->string();
  for (const auto& [name, value] : policy.environment) plan.environment.push_back(name + "=" + value);
  plan.policy = policy;
  plan.folder = !command.folder.empty()  ? command.folder.string()
                : policy.scratch.empty() ? "/"
                                         : policy.scratch.string();
  plan.namespaces = confinement().namespaces;
  if (plan.namespaces) {
    AKO_TRY(plan.view, view_of(policy, *program));
  }
  if (confinement().seccomp) {
    AKO_TRY(plan.filter,
            filter_program(policy.filter == Filter::compile ? FilterStage::compile : FilterStage::start));
  }
  return plan;
}

/// The one place where confined processes are reaped. False while it lives (or was only stopped).
bool reap(pid_t pid, int options, Exit& exit, bool* stopped = nullptr) {
  siginfo_t info{};
  rusage usage{};
  while (::syscall(SYS_waitid, P_PID, pid, &info, options | WEXITED, &usage) < 0 && errno == EINTR) {
  }
  if (info.si_pid == 0) return false;
  if (info.si_code == CLD_STOPPED || info.si_code == CLD_TRAPPED) {
    if (stopped) *stopped = true;
    return false;
  }
  exit.signal = info.si_code == CLD_EXITED ? 0 : info.si_status;
  exit.code = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
  auto seconds = [](timeval time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  exit.cpu = Seconds(seconds(usage.ru_utime) + seconds(usage.ru_stime));
  return true;
}

/// Reads what is there, keeps what fits. False at the end of the stream.
bool drain(int fd, std::string& text, Bytes limit, bool& cut) {
  char buffer[1 << 14];
  for (;;) {
    ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN;
    if (got == 0) return false;
    std::size_t room =
        static_cast<std::size_t>(limit.count) - std::min(text.size(), static_cast<std::size_t>(limit.count));
    cut |= static_cast<std::size_t>(got) > room;
    text.append(buffer, std::min(room, static_cast<std::size_t>(got)));
  }
}

/// Follows a process to its end or to the deadline. Our ends of the pipes do not block.
void follow(pid_t pid, int pidfd, Pipe& output, Pipe& errors, Clock::time_point deadline,
            const Command& command, bool own_pid_namespace, Exit& exit) {
  pollfd watched[3] = {{pidfd, POLLIN, 0}, {output.read.get(), POLLIN, 0}, {errors.read.get(), POLLIN, 0}};
  for (bool ended = false; !ended;) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0 && !exit.timed_out) {
      exit.timed_out = true;
      kill_tree(pid, own_pid_namespace);
    }
    ::poll(watched, 3, exit.timed_out ? -1 : static_cast<int>(std::min<long long>(left, 1 << 30)));
    ended = (watched[0].revents & POLLIN) != 0;
    if (!drain(output.read.get(), exit.output, command.output_limit, exit.output_cut)) watched[1].fd = -1;
    if (!drain(errors.read.get(), exit.errors, command.output_limit, exit.output_cut)) watched[2].fd = -1;
  }
  kill_tree(pid, own_pid_namespace);  // stragglers of its session, where there is no namespace to end them
}

}  // namespace

Result<Exit> run_confined(const Command& command, const Policy& policy) {
  auto started = Clock::now();
  AKO_TRY(SpawnPlan plan, plan_for(command, policy));
  AKO_TRY(Pipe output, make_pipe());
  AKO_TRY(Pipe errors, make_pipe());
  AKO_TRY(Descriptor input, input_of(command.input));
  ::fcntl(output.read.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(errors.read.get(), F_SETFL, O_NONBLOCK);
  plan.input = input.get();
  plan.output = output.write.get();
  plan.errors = errors.write.get();
  AKO_TRY(Spawned child, spawn_confined(plan));
  output.write.close();
  errors.write.close();
  Exit exit;
  auto deadline = started + std::chrono::duration_cast<Clock::duration>(command.wall_limit);
  follow(child.pid, child.pidfd.get(), output, errors, deadline, command, plan.namespaces, exit);
  reap(child.pid, 0, exit);
  exit.wall = Clock::now() - started;
  return exit;
}

struct ConfinedProcess::State {
  pid_t pid = -1;
  Descriptor pidfd;
  Descriptor errors;
  std::string text;
  bool own_pid_namespace = false;
  bool frozen = false;
  Clock::time_point started = Clock::now();
  std::optional<Exit> exit;

  ~State() {
    if (exit || pid < 0) return;
    kill_tree(pid, own_pid_namespace);
    Exit ignored;
    reap(pid, 0, ignored);
  }
  void collect() {
    bool cut = false;
    drain(errors.get(), text, kErrorsKept, cut);
  }
  /// True when it has ended.
  bool look(int options, bool* stopped = nullptr) {
    Exit now;
    if (!reap(pid, options, now, stopped)) return false;
    collect();
    now.wall = Clock::now() - started;
    now.errors = text;
    exit = std::move(now);
    return true;
  }
};

ConfinedProcess::ConfinedProcess(std::unique_ptr<State> state) : state_(std::move(state)) {}
ConfinedProcess::ConfinedProcess(ConfinedProcess&&) noexcept = default;
ConfinedProcess& ConfinedProcess::operator=(ConfinedProcess&&) noexcept = default;
ConfinedProcess::~ConfinedProcess() = default;

/// Its end of the pipe does not block: a guest that floods it loses its words, not its time.
Result<ConfinedProcess> ConfinedProcess::start(const Command& command, const Policy& policy,
                                               std::vector<int> descriptors) {
  AKO_TRY(SpawnPlan plan, plan_for(command, policy));
  AKO_TRY(Pipe errors, make_pipe(O_NONBLOCK));
  AKO_TRY(Descriptor input, input_of(command.input));
  plan.input = input.get();
  plan.output = plan.errors = errors.write.get();
  plan.descriptors = std::move(descriptors);
  AKO_TRY(Spawned child, spawn_confined(plan));
  auto state = std::make_unique<State>();
  state->pid = child.pid;
  state->pidfd = std::move(child.pidfd);
  state->errors = std::move(errors.read);
  state->own_pid_namespace = plan.namespaces;
  return ConfinedProcess(std::move(state));
}

int ConfinedProcess::pid() const { return state_->pid; }

/// The kernel reports the stop when the last thread has taken part in it.
bool ConfinedProcess::freeze() {
  if (state_->exit) return false;
  if (state_->frozen) return true;
  ::kill(state_->pid, SIGSTOP);
  if (state_->look(WSTOPPED, &state_->frozen)) return false;
  return state_->frozen;
}

void ConfinedProcess::thaw() {
  if (state_->exit) return;
  state_->frozen = false;
  ::kill(state_->pid, SIGCONT);
}

std::optional<Exit> ConfinedProcess::ended() {
  if (!state_->exit) state_->look(WNOHANG);
  return state_->exit;
}

std::string ConfinedProcess::errors() const {
  state_->collect();
  return state_->text;
}

}  // namespace ako
