// SPDX-License-Identifier: Apache-2.0
#include "sandbox/filter.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>

#include "base/files.h"

namespace ako {
namespace {

using Names = std::span<const char* const>;

// What glibc, libgomp and libstdc++ need of a process that computes: memory, threads, waiting, time, and
// asking about itself. None of these reaches another process, a file or the network.
constexpr const char* kComputing[] = {
    "brk",
    "munmap",
    "madvise",
    "futex",
    "set_robust_list",
    "sched_yield",
    "getcpu",
    "exit",
    "exit_group",
    "sched_getaffinity",
    "sigaltstack",
    "rt_sigreturn",
    "rt_sigprocmask",
    "clock_gettime",
    "clock_getres",
    "gettimeofday",
    "time",
    "getpid",
    "gettid",
    "getppid",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "getrandom",
    "nanosleep",
    "getrusage",
    "clock_nanosleep",
    "restart_syscall",
    "sysinfo",
    "uname",
    "times",
    "fstat",
};

// The dynamic loader and the constructors of libraries.
constexpr const char* kLoading[] = {
    "read",  "pread64",   "close",      "lseek",    "stat",       "lstat",  "newfstatat",      "access",
    "statx", "faccessat", "faccessat2", "readlink", "readlinkat", "getcwd", "set_tid_address", "arch_prctl",
    "mmap",  "mprotect",  "mremap",     "seccomp",  "write",      "writev", "fcntl",           "recvmsg",
};

constexpr const char* kCompiling[] = {
    "open",
    "openat",
    "creat",
    "unlink",
    "unlinkat",
    "rename",
    "renameat",
    "renameat2",
    "mkdir",
    "mkdirat",
    "rmdir",
    "chmod",
    "fchmod",
    "fchmodat",
    "umask",
    "ftruncate",
    "truncate",
    "fallocate",
    "fsync",
    "fdatasync",
    "sync_file_range",
    "getdents64",
    "getdents",
    "link",
    "linkat",
    "symlink",
    "symlinkat",
    "chdir",
    "fchdir",
    "utimensat",
    "utime",
    "futimesat",
    "flock",
    "fadvise64",
    "readv",
    "preadv",
    "pwrite64",
    "pwritev",
    "sendfile",
    "copy_file_range",
    "pipe",
    "pipe2",
    "dup",
    "dup2",
    "dup3",
    "poll",
    "ppoll",
    "select",
    "pselect6",
    "ioctl",
    "statfs",
    "fstatfs",
    "fork",
    "vfork",
    "execve",
    "wait4",
    "waitid",
    "kill",
    "tgkill",
    "getpgrp",
    "getpgid",
    "setpgid",
    "setsid",
    "getsid",
    "setrlimit",
    "getrlimit",
    "prlimit64",
    "prctl",
    "alarm",
    "setitimer",
    "getitimer",
    "timer_create",
    "timer_settime",
    "timer_delete",
    "rt_sigsuspend",
    "rt_sigpending",
    "rt_sigtimedwait",
    "msync",
    "mincore",
    "getgroups",
    "getresuid",
    "getresgid",
    "getpriority",
    "close_range",
    "membarrier",
    "memfd_create",
    "epoll_create1",
    "epoll_ctl",
    "epoll_wait",
    "epoll_pwait",
    "eventfd2",
    "capget",
    "sched_getparam",
    "sched_getscheduler",
    "sched_setaffinity",
};

class Builder {
 public:
  explicit Builder(std::uint32_t default_action)
      : default_action_(default_action), context_(seccomp_init(default_action), &seccomp_release) {
    // Calls by the numbers of another architecture (32-bit, x32) would pass under the wrong names.
    if (context_) seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  }

  void allow(Names names) {
    for (const char* name : names) add(SCMP_ACT_ALLOW, name, {});
  }
  void allow(const char* name, std::initializer_list<scmp_arg_cmp> conditions = {}) {
    add(SCMP_ACT_ALLOW, name, conditions);
  }
  void refuse(const char* name, int error) { add(SCMP_ACT_ERRNO(error), name, {}); }

  Result<FilterProgram> compile() {
    if (!context_) return broken(ENOMEM);
    if (error_ != 0) return broken(error_);
    Descriptor file(memfd_create("filter", MFD_CLOEXEC));
    if (!file) return broken(errno);
    if (int code = seccomp_export_bpf(context_.get(), file.get()); code != 0) return broken(-code);
    auto size = lseek(file.get(), 0, SEEK_END);
    FilterProgram program(static_cast<std::size_t>(size) / sizeof(sock_filter));
    if (pread(file.get(), program.data(), static_cast<std::size_t>(size), 0) != size) return broken(EIO);
    return program;
  }

 private:
  void add(std::uint32_t action, const char* name, std::initializer_list<scmp_arg_cmp> conditions) {
    if (!context_ || action == default_action_) return;
    int number = seccomp_syscall_resolve_name(name);
    if (number < 0) return;  // this architecture has no such call
    int code = seccomp_rule_add_array(context_.get(), action, number,
                                      static_cast<unsigned>(conditions.size()), conditions.begin());
    if (code != 0 && error_ == 0) error_ = -code;
  }
  static std::unexpected<Error> broken(int code) {
    return fail(ErrorKind::internal,
                fmt::format("cannot build a system-call filter: {}", std::strerror(code)));
  }

  std::uint32_t default_action_;
  std::unique_ptr<void, void (*)(scmp_filter_ctx)> context_;
  int error_ = 0;
};

constexpr scmp_datum_t kSharing = MAP_PRIVATE | MAP_SHARED;

/// A thread, never a process. clone3 hides its flags in memory: glibc falls back to clone when it is missing.
void allow_threads(Builder& filter) {
  filter.allow("clone", {SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD)});
  filter.refuse("clone3", ENOSYS);
}

/// Private memory counts against RLIMIT_DATA. Shared anonymous memory does not, so only the judge's own
/// descriptors, which are sealed against growing, may be mapped shared. No code is made at run time.
void allow_data_mappings(Builder& filter) {
  filter.allow("mmap", {SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
                        SCMP_A3(SCMP_CMP_MASKED_EQ, kSharing, MAP_PRIVATE)});
  filter.allow("mmap", {SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
                        SCMP_A3(SCMP_CMP_MASKED_EQ, kSharing | MAP_ANONYMOUS, MAP_SHARED)});
  filter.allow("mprotect", {SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)});
}

/// Asked for by libraries that do without the answer.
void refuse_politely(Builder& filter) {
  filter.refuse("ioctl", ENOTTY);
  filter.refuse("prctl", EPERM);
  filter.refuse("sched_setaffinity", EPERM);
  filter.refuse("mlock", EPERM);
  filter.refuse("mbind", EPERM);
  filter.refuse("membarrier", ENOSYS);
  filter.refuse("rseq", ENOSYS);  // its area in the thread's memory would show that the thread was stopped
}

/// A second view of a buffer would outlive the one that the runner takes away (realloc copies instead).
void refuse_second_views(Builder& filter) { filter.refuse("mremap", ENOMEM); }

/// A handler of SIGCONT would learn that the guest was stopped; one of SIGSYS, what the filter refuses.
void allow_handlers(Builder& filter, std::initializer_list<int> but) {
  for (int signal = 1; signal <= 64; ++signal)
    if (std::ranges::find(but, signal) == but.end())
      filter.allow("rt_sigaction", {SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(signal))});
}

Builder run_filter(const FilterDescriptors& descriptors) {
  Builder filter(SCMP_ACT_TRAP);
  filter.allow(Names(kComputing));
  allow_threads(filter);
  allow_data_mappings(filter);
  refuse_politely(filter);
  refuse_second_views(filter);
  allow_handlers(filter, {SIGSYS, SIGCONT});
  for (const char* call : {"write", "writev"}) {
    filter.allow(call, {SCMP_A0(SCMP_CMP_EQ, STDOUT_FILENO)});
    filter.allow(call, {SCMP_A0(SCMP_CMP_EQ, STDERR_FILENO)});
  }
  filter.allow("newfstatat", {SCMP_A3(SCMP_CMP_EQ, AT_EMPTY_PATH)});  // how glibc spells fstat
  // Without MSG_PEEK, which would leave copies of the buffers' descriptors.
  filter.allow("recvmsg", {SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(descriptors.channel)),
                           SCMP_A2(SCMP_CMP_EQ, MSG_CMSG_CLOEXEC)});
  filter.allow("close", {SCMP_A0(SCMP_CMP_GE, static_cast<scmp_datum_t>(descriptors.first_own))});
  return filter;
}

Builder load_filter(bool exec) {
  Builder filter(SCMP_ACT_TRAP);
  filter.allow(Names(kComputing));
  filter.allow(Names(kLoading));
  allow_threads(filter);
  refuse_politely(filter);
  allow_handlers(filter, {SIGCONT});
  constexpr scmp_datum_t writing = O_ACCMODE | O_CREAT | O_TRUNC;
  filter.allow("openat", {SCMP_A2(SCMP_CMP_MASKED_EQ, writing, O_RDONLY)});
  filter.allow("open", {SCMP_A1(SCMP_CMP_MASKED_EQ, writing, O_RDONLY)});
  filter.allow("prlimit64", {SCMP_A0(SCMP_CMP_EQ, 0), SCMP_A2(SCMP_CMP_EQ, 0)});  // asking, not setting
  if (exec) filter.allow("execve");
  return filter;
}

Builder compile_filter() {
  Builder filter(SCMP_ACT_ERRNO(ENOSYS));
  filter.allow(Names(kComputing));
  filter.allow(Names(kLoading));
  filter.allow(Names(kCompiling));
  filter.allow("rt_sigaction");
  constexpr scmp_datum_t namespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
                                      CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
  filter.allow("clone", {SCMP_A0(SCMP_CMP_MASKED_EQ, namespaces, 0)});
  return filter;
}

Builder filter_for(FilterStage stage, const FilterDescriptors& descriptors) {
  switch (stage) {
    case FilterStage::compile:
      return compile_filter();
    case FilterStage::start:
      return load_filter(true);
    case FilterStage::load:
      return load_filter(false);
    case FilterStage::run:
      return run_filter(descriptors);
  }
  return run_filter(descriptors);
}

}  // namespace

Result<FilterProgram> filter_program(FilterStage stage, const FilterDescriptors& descriptors) {
  return filter_for(stage, descriptors).compile();
}

std::string system_call_name(int number) {
  std::unique_ptr<char, void (*)(void*)> name(seccomp_syscall_resolve_num_arch(seccomp_arch_native(), number),
                                              &free);
  return name ? std::string(name.get()) : fmt::format("system call {}", number);
}

}  // namespace ako
