// SPDX-License-Identifier: Apache-2.0
// Children are started with posix_spawn (safe with threads, no copy of our page tables) in a process group of
// their own, so that a limit ends whatever they started too, and Ctrl-C on our terminal is ours to handle.
#include "base/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

extern char** environ;

namespace ako {
namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  Descriptor read, write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return fail(ErrorKind::unavailable, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

/// Starts `command` with the given standard streams.
Result<pid_t> spawn(const Command& command, int input, int output, int errors) {
  if (command.argv.empty()) return fail(ErrorKind::internal, "a command needs at least a program name");
  std::vector<std::string> argv = command.argv;
  std::vector<std::string> environment;
  if (command.environment)
    for (const auto& [name, value] : *command.environment) environment.push_back(name + "=" + value);
  auto argv_pointers = pointers(argv);
  auto environment_pointers = pointers(environment);

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, input, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_adddup2(&actions, errors, 2);
  if (!command.folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, command.folder.c_str());
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) sigaddset(&defaults, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  pid_t pid = -1;
  int code = ::posix_spawnp(&pid, argv[0].c_str(), &actions, &attributes, argv_pointers.data(),
                            command.environment ? environment_pointers.data() : environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (code == ENOENT)
    return fail(ErrorKind::not_found, fmt::format("cannot start {}: no such program", argv[0]),
                "install it or correct PATH; 'ako doctor' lists what is needed");
  if (code != 0)
    return fail(ErrorKind::unavailable, fmt::format("cannot start {}: {}", argv[0], std::strerror(code)));
  return pid;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

void note_status(int status, const rusage& usage, Exit& exit) {
  exit.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  exit.code = WIFSIGNALED(status) ? 128 + exit.signal : WEXITSTATUS(status);
  exit.cpu = Seconds(seconds(usage.ru_utime) + seconds(usage.ru_stime));
}

/// Writing to a child that has gone must be an error value, not a signal.
void ignore_broken_pipes() {
  static const bool once = [] {
    struct sigaction current{};
    if (::sigaction(SIGPIPE, nullptr, &current) == 0 && current.sa_handler == SIG_DFL)
      std::signal(SIGPIPE, SIG_IGN);
    return true;
  }();
  (void)once;
}

int poll_wait(Clock::time_point deadline) {
  auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count() + 1;
  return static_cast<int>(std::clamp<long long>(left, 0, 3600 * 1000));
}

/// Moves what can be read into `text`; closes the pipe at its end. Past the limit data is dropped.
void drain(Descriptor& pipe, std::string& text, Bytes limit, bool& cut) {
  char buffer[1 << 16];
  ssize_t got = ::read(pipe.get(), buffer, sizeof buffer);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) return pipe.close();
  std::size_t room =
      static_cast<std::size_t>(limit.count) - std::min(text.size(), static_cast<std::size_t>(limit.count));
  cut |= static_cast<std::size_t>(got) > room;
  text.append(buffer, std::min(room, static_cast<std::size_t>(got)));
}

}  // namespace

Result<Exit> run(const Command& command) {
  ignore_broken_pipes();
  AKO_TRY(Pipe input, make_pipe());
  AKO_TRY(Pipe output, make_pipe());
  AKO_TRY(Pipe errors, make_pipe());
  auto started = Clock::now();
  AKO_TRY(pid_t pid, spawn(command, input.read.get(), output.write.get(), errors.write.get()));
  input.read.close();
  output.write.close();
  errors.write.close();
  ::fcntl(input.write.get(), F_SETFL, O_NONBLOCK);

  Exit exit;
  std::string_view unsent = command.input;
  if (unsent.empty()) input.write.close();
  auto deadline = started + std::chrono::duration_cast<Clock::duration>(command.wall_limit);
  while (output.read || errors.read) {
    if (Clock::now() >= deadline) {
      exit.timed_out = true;
      break;
    }
    pollfd waits[3] = {
        {output.read.get(), POLLIN, 0}, {errors.read.get(), POLLIN, 0}, {input.write.get(), POLLOUT, 0}};
    if (::poll(waits, 3, poll_wait(deadline)) < 0 && errno != EINTR) break;
    if (waits[0].revents) drain(output.read, exit.output, command.output_limit, exit.output_cut);
    if (waits[1].revents) drain(errors.read, exit.errors, command.output_limit, exit.output_cut);
    if (waits[2].revents) {
      ssize_t wrote = ::write(input.write.get(), unsent.data(), unsent.size());
      if (wrote > 0) unsent.remove_prefix(static_cast<std::size_t>(wrote));
      if (unsent.empty() || (wrote < 0 && errno != EINTR && errno != EAGAIN)) input.write.close();
    }
  }

  // The streams are closed, but the process may live on: it has until the deadline.
  int status = 0;
  rusage usage{};
  pid_t reaped = 0;
  while (!exit.timed_out && (reaped = ::wait4(pid, &status, WNOHANG, &usage)) == 0) {
    if (Clock::now() >= deadline) {
      exit.timed_out = true;
    } else {
      ::poll(nullptr, 0, 1);
    }
  }
  ::kill(-pid, SIGKILL);  // whatever it left behind in its group
  if (reaped != pid) {
    ::kill(pid, SIGKILL);
    while (::wait4(pid, &status, 0, &usage) < 0 && errno == EINTR) {
    }
  }
  note_status(status, usage, exit);
  exit.wall = Clock::now() - started;
  return exit;
}

struct LineProcess::State {
  pid_t pid = -1;
  Descriptor input, output;
  std::string received;  // bytes after the last line handed out
  Exit exit;
  bool ended = false;
  Clock::time_point started;

  bool reap(bool block) {
    if (ended) return true;
    int status = 0;
    rusage usage{};
    pid_t got;
    do got = ::wait4(pid, &status, block ? 0 : WNOHANG, &usage);
    while (got < 0 && errno == EINTR);
    if (got != pid) return false;
    ended = true;
    note_status(status, usage, exit);
    exit.wall = Clock::now() - started;
    return true;
  }
  void kill_group() {
    if (!ended) {
      ::kill(-pid, SIGKILL);
      ::kill(pid, SIGKILL);
    }
  }
};

LineProcess::LineProcess(std::unique_ptr<State> state) : state_(std::move(state)) {}
LineProcess::LineProcess(LineProcess&&) noexcept = default;
LineProcess& LineProcess::operator=(LineProcess&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}
LineProcess::~LineProcess() {
  if (!state_) return;
  state_->kill_group();
  state_->reap(true);
}

Result<LineProcess> LineProcess::start(const Command& command,
                                       std::optional<std::filesystem::path> errors_to) {
  ignore_broken_pipes();
  AKO_TRY(Pipe input, make_pipe());
  AKO_TRY(Pipe output, make_pipe());
  Descriptor errors;
  if (errors_to) {
    errors = Descriptor(::open(errors_to->c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (!errors)
      return fail(ErrorKind::io,
                  fmt::format("cannot open {}: {}", errors_to->string(), std::strerror(errno)));
  }
  auto state = std::make_unique<State>();
  state->started = Clock::now();
  AKO_TRY(state->pid, spawn(command, input.read.get(), output.write.get(), errors ? errors.get() : 2));
  state->input = std::move(input.write);
  state->output = std::move(output.read);
  return LineProcess(std::move(state));
}

Result<void> LineProcess::send(std::string_view line) {
  std::string framed(line);
  framed += '\n';
  std::string_view rest = framed;
  while (!rest.empty()) {
    ssize_t wrote = ::write(state_->input.get(), rest.data(), rest.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0)
      return fail(ErrorKind::unavailable,
                  fmt::format("process {} no longer listens: {}", state_->pid, std::strerror(errno)));
    rest.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

Result<std::string> LineProcess::receive(Seconds wait) {
  auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(wait);
  std::size_t searched = 0;
  while (true) {
    if (auto end = state_->received.find('\n', searched); end != std::string::npos) {
      std::string line = state_->received.substr(0, end);
      state_->received.erase(0, end + 1);
      return line;
    }
    searched = state_->received.size();
    pollfd waits{state_->output.get(), POLLIN, 0};
    int ready = ::poll(&waits, 1, poll_wait(deadline));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0 && Clock::now() >= deadline)
      return fail(ErrorKind::limit,
                  fmt::format("process {} did not answer within {:.3g} s", state_->pid, wait.count()));
    if (ready == 0) continue;
    char buffer[1 << 16];
    ssize_t got = ::read(state_->output.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail(ErrorKind::unavailable, fmt::format("process {} has ended", state_->pid));
    state_->received.append(buffer, static_cast<std::size_t>(got));
  }
}

bool LineProcess::alive() { return !state_->reap(false); }
int LineProcess::pid() const { return state_->pid; }

Exit LineProcess::close(Seconds grace) {
  state_->input.close();
  auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(grace);
  // Its remaining output is read and dropped, so that it cannot block on a full pipe.
  while (!state_->reap(false) && Clock::now() < deadline) {
    pollfd waits{state_->output.get(), POLLIN, 0};
    if (::poll(&waits, 1, std::min(poll_wait(deadline), 5)) > 0) {
      char buffer[1 << 16];
      if (::read(state_->output.get(), buffer, sizeof buffer) <= 0) ::poll(nullptr, 0, 1);
    }
  }
  if (!state_->ended) {
    state_->exit.timed_out = true;
    state_->kill_group();
    state_->reap(true);
    state_->exit.timed_out = true;
  }
  return state_->exit;
}

std::optional<std::filesystem::path> find_program(std::string_view name) {
  std::error_code code;
  if (name.find('/') != std::string_view::npos) {
    std::filesystem::path path(name);
    return std::filesystem::exists(path, code) ? std::optional(path) : std::nullopt;
  }
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    std::string_view folder = rest.substr(0, rest.find(':'));
    std::filesystem::path candidate = std::filesystem::path(folder.empty() ? "." : folder) / name;
    if (::access(candidate.c_str(), X_OK) == 0 && !std::filesystem::is_directory(candidate, code))
      return candidate;
    if (rest.size() == folder.size()) return std::nullopt;
    rest.remove_prefix(folder.size() + 1);
  }
}

}  // namespace ako
