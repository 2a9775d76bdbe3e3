// SPDX-License-Identifier: Apache-2.0
// Only system calls from here on: no allocation, no locks, nothing that could wait for a thread that is not
// in this copy of the process.
#include "sandbox/child.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ako {
namespace {

/// Where the new root is put together. Every system has this folder, and no source of a bind lies in it.
constexpr const char* kStage = "/proc";
constexpr int kParkedDescriptors = 200;

class Child {
 public:
  explicit Child(const ChildPlan& plan) : child_(plan), plan_(*plan.plan) {}

  [[noreturn]] void run() {
    ::setsid();
    Identity identity = wait_for_parent();
    if (plan_.namespaces) build_root();
    limit();
    place_descriptors();
    enter_folder();
    take_identity(identity);
    drop_capabilities();
    filter();
    if (plan_.trial) ::_exit(0);
    ::execve(child_.argv[0], child_.argv, child_.environment);
    fail(ChildStage::exec);
  }

 private:
  [[noreturn]] void fail(ChildStage stage, int step = -1) {
    ChildFailure failure{stage, step, errno};
    (void)!::write(parent_, &failure, sizeof failure);
    ::_exit(127);
  }

  /// Ask to die with the parent first, then look whether it is still there: in this order nothing is missed.
  Identity wait_for_parent() {
    parent_ = ::fcntl(child_.parent, F_DUPFD_CLOEXEC, kParkedDescriptors);
    if (parent_ < 0) ::_exit(127);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    Identity identity = Identity::lost;
    ::close(child_.parent);
    while (::read(parent_, &identity, 1) < 0 && errno == EINTR) {
    }
    if (identity == Identity::lost) ::_exit(127);
    return identity;
  }

  void build_root() {
    constexpr auto stage = ChildStage::mounts;
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) fail(stage);
    ::umask(022);
    if (::mount("none", kStage, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m") != 0) fail(stage);
    for (std::size_t i = 0; i < plan_.view.size(); ++i)
      if (!apply(plan_.view[i])) fail(stage, static_cast<int>(i));
    if (::chdir(kStage) != 0) fail(stage);
    // pivot_root(2), "pivot_root(".", ".")": the old root ends up on top of the new one and is taken away.
    if (::syscall(SYS_pivot_root, ".", ".") != 0) fail(stage);
    if (::umount2(".", MNT_DETACH) != 0 || ::chdir("/") != 0) fail(stage);
    if (::mount(nullptr, "/", nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, nullptr) != 0)
      fail(stage);
  }

  bool apply(const ViewStep& step) {
    char target[4096];
    if (std::strlen(kStage) + 1 + step.target.size() >= sizeof target) return errno = ENAMETOOLONG, false;
    std::strcpy(target, kStage);
    std::strcat(target, "/");
    std::strcat(target, step.target.c_str());
    const char* source = step.source.c_str();
    switch (step.kind) {
      case ViewStep::Kind::folder:
        return make_folder(target);
      case ViewStep::Kind::link:
        return ::symlink(source, target) == 0 || errno == EEXIST;
      case ViewStep::Kind::bind_file:
        return make_file(target) && bind(source, target) && seal(target);
      case ViewStep::Kind::bind_folder:
        return make_folder(target) && bind(source, target) && seal(target);
      case ViewStep::Kind::bind_writable:
        return make_like(source, target) && bind(source, target);
      case ViewStep::Kind::temporary:
        return make_folder(target) && temporary(source, target);
    }
    return false;
  }
  static bool make_folder(const char* path) { return ::mkdir(path, 0755) == 0 || errno == EEXIST; }
  static bool make_file(const char* path) {
    int fd = ::open(path, O_CREAT | O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0444);
    return fd >= 0 && ::close(fd) == 0;
  }
  static bool make_like(const char* source, const char* target) {
    struct stat state{};
    if (::stat(source, &state) != 0) return false;
    return S_ISDIR(state.st_mode) ? make_folder(target) : make_file(target);
  }
  static bool bind(const char* source, const char* target) {
    return ::mount(source, target, nullptr, MS_BIND | MS_REC, nullptr) == 0;
  }
  static bool temporary(const char* bytes, const char* target) {
    char options[64] = "mode=1777,size=";
    std::strncat(options, bytes, 32);
    return ::mount("none", target, "tmpfs", MS_NOSUID | MS_NODEV, options) == 0;
  }

  /// Read-only, with everything mounted below. Before Linux 5.12 only the top mount can be changed, and the
  /// flags that it came with must be repeated (they are locked for a user namespace).
  static bool seal(const char* target) {
#ifdef SYS_mount_setattr
    struct {
      std::uint64_t set, clear, propagation, userns;
    } attributes{MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, 0, 0, 0};
    constexpr unsigned recursive = 0x8000;  // AT_RECURSIVE
    if (::syscall(SYS_mount_setattr, -1, target, recursive, &attributes, sizeof attributes) == 0) return true;
    if (errno != ENOSYS) return false;
#endif
    struct statvfs state{};
    if (::statvfs(target, &state) != 0) return false;
    unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV;
    if (state.f_flag & ST_NOEXEC) flags |= MS_NOEXEC;
    if (state.f_flag & ST_NOATIME) flags |= MS_NOATIME;
    if (state.f_flag & ST_NODIRATIME) flags |= MS_NODIRATIME;
    if (state.f_flag & ST_RELATIME) flags |= MS_RELATIME;
    return ::mount(nullptr, target, nullptr, flags, nullptr) == 0;
  }

  void limit_one(__rlimit_resource which, std::int64_t value) {
    rlimit now{};
    ::getrlimit(which, &now);
    rlim_t wanted = static_cast<rlim_t>(value);
    if (now.rlim_max != RLIM_INFINITY && wanted > now.rlim_max) wanted = now.rlim_max;
    rlimit wish{wanted, wanted};
    if (::setrlimit(which, &wish) != 0) fail(ChildStage::limits);
  }

  /// RLIMIT_DATA counts private writable memory, which is what a kernel can hoard; address space is bounded
  /// too, far above, so that page tables of memory that is only read cannot grow without end.
  void limit() {
    const Policy& policy = plan_.policy;
    bool compute = policy.filter == Filter::compute;
    if (compute) limit_one(RLIMIT_DATA, policy.memory.count);
    limit_one(RLIMIT_AS, policy.memory.count + (compute ? gibibytes(256).count : 0));
    limit_one(RLIMIT_FSIZE, compute ? 0 : policy.file_size.count);
    limit_one(RLIMIT_NOFILE, compute ? 512 : 1024);
    limit_one(RLIMIT_CORE, 0);
    limit_one(RLIMIT_MEMLOCK, 0);
    limit_one(RLIMIT_STACK, mebibytes(compute ? 8 : 64).count);
    if (policy.cpu_limit.count() > 0)
      limit_one(RLIMIT_CPU, static_cast<std::int64_t>(policy.cpu_limit.count() + 1));
    if (plan_.namespaces && policy.processes > 0) limit_one(RLIMIT_NPROC, policy.processes);
  }

  /// Everything first moves out of the way, then to its place; the rest closes at exec.
  void place_descriptors() {
    constexpr int most = 64;
    int parked[most];
    int count = 0;
    auto park = [&](int fd) {
      if (count == most) errno = EMFILE, fail(ChildStage::descriptors);
      parked[count] = ::fcntl(fd, F_DUPFD_CLOEXEC, kParkedDescriptors);
      if (parked[count++] < 0) fail(ChildStage::descriptors);
    };
    park(plan_.input);
    park(plan_.output);
    park(plan_.errors);
    for (int fd : plan_.descriptors) park(fd);
    for (int i = 0; i < count; ++i)
      if (::dup2(parked[i], i) < 0) fail(ChildStage::descriptors);
    constexpr unsigned close_on_exec = 4;  // CLOSE_RANGE_CLOEXEC, Linux 5.11
    if (::syscall(SYS_close_range, static_cast<unsigned>(count), ~0u, close_on_exec) == 0) return;
    rlimit open{};
    ::getrlimit(RLIMIT_NOFILE, &open);
    for (int fd = count; fd < 65536; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  }

  void enter_folder() {
    if (::chdir(plan_.folder.c_str()) != 0 && ::chdir("/") != 0) fail(ChildStage::folder);
  }

  void take_identity(Identity identity) {
    if (identity == Identity::nobody) {
      gid_t none = 0;
      if (::syscall(SYS_setgroups, 0, &none) != 0 ||
          ::syscall(SYS_setresgid, kNobody, kNobody, kNobody) != 0 ||
          ::syscall(SYS_setresuid, kNobody, kNobody, kNobody) != 0)
        fail(ChildStage::identity);
    }
    ::syscall(SYS_personality, 0);  // randomized addresses, whatever our parent was started with
    // Changing identity forgets the death signal; look again whether somebody is still there to send it.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    pollfd parent{parent_, 0, 0};
    if (::poll(&parent, 1, 0) > 0 && (parent.revents & (POLLHUP | POLLERR))) ::_exit(127);
  }

  void drop_capabilities() {
    ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    for (int capability = 0; capability < 64; ++capability) ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct nothing[2]{};
    if (::syscall(SYS_capset, &header, nothing) != 0) fail(ChildStage::capabilities);
  }

  void filter() {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail(ChildStage::filter);
    reset_signals();
    if (plan_.filter.empty()) return;
    sock_fprog program{static_cast<unsigned short>(plan_.filter.size()),
                       const_cast<sock_filter*>(plan_.filter.data())};
    if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) != 0)
      fail(ChildStage::filter);
  }

  /// Signals were blocked by the parent round clone, so that none of its handlers ran here.
  static void reset_signals() {
    struct sigaction standard{};
    standard.sa_handler = SIG_DFL;
    for (int signal = 1; signal < 65; ++signal) ::sigaction(signal, &standard, nullptr);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
  }

  const ChildPlan& child_;
  const SpawnPlan& plan_;
  int parent_ = -1;
};

}  // namespace

void become_confined(const ChildPlan& plan) { Child(plan).run(); }

}  // namespace ako
