// SPDX-License-Identifier: Apache-2.0
#include "sandbox/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sandbox/child.h"

namespace ako {
namespace {

constexpr int kNamespaces =
    CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const std::string& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

bool put(const std::string& path, std::string_view text) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// A new user namespace knows nobody. Root gives it root and nobody; others can give it themselves only.
Identity write_maps(pid_t pid, bool want_nobody) {
  std::string folder = fmt::format("/proc/{}/", pid);
  uid_t user = ::geteuid();
  gid_t group = ::getegid();
  if (user == 0 && want_nobody) {
    std::string map = fmt::format("0 0 1\n{0} {0} 1\n", kNobody);
    if (put(folder + "uid_map", map) && put(folder + "gid_map", map)) return Identity::nobody;
  }
  put(folder + "setgroups", "deny");  // the kernel wants this from those who may not set groups
  if (!put(folder + "uid_map", fmt::format("{0} {0} 1\n", user))) return Identity::lost;
  if (!put(folder + "gid_map", fmt::format("{0} {0} 1\n", group))) return Identity::lost;
  return Identity::kept;
}

std::string_view name_of(ChildStage stage) {
  switch (stage) {
    case ChildStage::wait:
      return "starting";
    case ChildStage::mounts:
      return "building its file system";
    case ChildStage::limits:
      return "setting its limits";
    case ChildStage::descriptors:
      return "passing its descriptors";
    case ChildStage::folder:
      return "entering its folder";
    case ChildStage::identity:
      return "changing its identity";
    case ChildStage::capabilities:
      return "dropping its capabilities";
    case ChildStage::filter:
      return "installing its system-call filter";
    case ChildStage::exec:
      return "starting its program";
  }
  return "starting";
}

std::unexpected<Error> explain(const ChildFailure& failure, const SpawnPlan& plan) {
  std::string what = fmt::format("{} failed", name_of(failure.stage));
  if (failure.stage == ChildStage::exec) what += fmt::format(" ({})", plan.argv[0]);
  if (failure.step >= 0) {
    const ViewStep& step = plan.view[static_cast<std::size_t>(failure.step)];
    what += fmt::format(" at {}", step.source.empty() ? "/" + step.target : step.source);
  }
  bool ours = failure.stage == ChildStage::exec && failure.error == ENOENT;
  return fail(ours ? ErrorKind::not_found : ErrorKind::unavailable,
              fmt::format("confined process: {}: {}", what, std::strerror(failure.error)),
              failure.error == EACCES
                  ? "every file it reads, and the folders above, must be open to this user"
                  : "'ako doctor' says what this machine allows");
}

/// Every signal is blocked while the child shares our handlers.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

/// The kernel's words for these would mislead.
std::string why_no_clone(int error) {
  if (error == ENOSPC) return "user namespaces are switched off (sysctl user.max_user_namespaces)";
  if (error == EPERM) return "the system or its container forbids user namespaces";
  return std::strerror(error);
}

pid_t clone_child(int flags, int& pidfd) {
#if defined(__x86_64__) || defined(__aarch64__)
  return static_cast<pid_t>(
      ::syscall(SYS_clone, flags | CLONE_PIDFD | SIGCHLD, nullptr, &pidfd, nullptr, nullptr));
#else
#error "the argument order of clone on this architecture is not known here"
#endif
}

void reap(pid_t pid) {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

Result<Spawned> spawn_confined(const SpawnPlan& plan) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(ErrorKind::unavailable, fmt::format("cannot make a socket pair: {}", std::strerror(errno)));
  Descriptor ours(ends[0]), theirs(ends[1]);
  std::vector<char*> argv = pointers(plan.argv), environment = pointers(plan.environment);
  ChildPlan child{&plan, argv.data(), environment.data(), theirs.get()};
  bool want_nobody = plan.policy.filter == Filter::compute && readable_by_anyone(plan.view);

  int pidfd = -1;
  pid_t pid = -1;
  int error = 0;
  {
    SignalsBlocked blocked;
    int our_end = ours.get();
    pid = clone_child(plan.namespaces ? kNamespaces : 0, pidfd);
    if (pid == 0) {
      ::close(our_end);
      become_confined(child);
    }
    error = errno;
  }
  if (pid < 0)
    return fail(ErrorKind::unavailable,
                fmt::format("confined process: cannot be made: {}", why_no_clone(error)),
                "'ako doctor' says what this machine allows");
  Spawned spawned{pid, Descriptor(pidfd)};
  theirs.close();
  Identity identity = plan.namespaces ? write_maps(pid, want_nobody) : Identity::kept;
  (void)!::send(ours.get(), &identity, 1, MSG_NOSIGNAL);
  ChildFailure failure;
  ssize_t got;
  do got = ::recv(ours.get(), &failure, sizeof failure, 0);
  while (got < 0 && errno == EINTR);
  if (got == 0 && identity != Identity::lost) return spawned;  // exec closed the child's end
  reap(pid);
  if (got == sizeof failure) return explain(failure, plan);
  return fail(ErrorKind::unavailable, "confined process: the kernel refused to map its user",
              "'ako doctor' says what this machine allows");
}

void kill_tree(pid_t pid, bool own_pid_namespace) {
  if (!own_pid_namespace) ::kill(-pid, SIGKILL);  // its session leader's group
  ::kill(pid, SIGKILL);
}

}  // namespace ako
