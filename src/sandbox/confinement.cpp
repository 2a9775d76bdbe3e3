// SPDX-License-Identifier: Apache-2.0
// Whether this kernel lets us confine is not something to read from its version or its settings (containers,
// security modules and old kernels all have their own ways to refuse): it is tried, once.
#include <fcntl.h>
#include <sys/wait.h>

#include <cerrno>

#include "sandbox/spawn.h"

namespace ako {
namespace {

/// Goes all the way to exec, without the exec.
Result<void> attempt(bool namespaces, bool seccomp) {
  SpawnPlan plan;
  plan.argv = {"/"};
  plan.namespaces = namespaces;
  plan.trial = true;
  plan.view = {{ViewStep::Kind::folder, {}, "dev"}, {ViewStep::Kind::bind_writable, "/dev/null", "dev/null"}};
  if (seccomp) {
    AKO_TRY(plan.filter, filter_program(FilterStage::compile));
  }
  Descriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  plan.input = plan.output = plan.errors = null.get();
  AKO_TRY(Spawned child, spawn_confined(plan));
  int status = 0;
  while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) return fail(ErrorKind::unavailable, "a trial process died before it could start");
  return {};
}

Confinement find_out() {
  Confinement found;
  auto note = [&](const char* what, const Error& error) {
    found.missing += (found.missing.empty() ? "" : "; ") + std::string(what) + ": " + error.what;
  };
  if (auto tried = attempt(true, false)) {
    found.namespaces = true;
  } else {
    note("no namespaces", tried.error());
  }
  if (auto tried = attempt(false, true)) {
    found.seccomp = true;
  } else {
    note("no system-call filters", tried.error());
  }
  return found;
}

}  // namespace

const Confinement& confinement() {
  static const Confinement found = find_out();
  return found;
}

}  // namespace ako
