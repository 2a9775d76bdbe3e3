// SPDX-License-Identifier: Apache-2.0
// Starts one confined process. Everything that needs memory or locks happens before clone; the child makes
// system calls only (its parent may have had threads, any of which may have held any lock).
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/files.h"
#include "sandbox/filter.h"
#include "sandbox/sandbox.h"
#include "sandbox/view.h"

namespace ako {

struct SpawnPlan {
  std::vector<std::string> argv;         // argv[0] is a path
  std::vector<std::string> environment;  // NAME=VALUE
  std::string folder = "/";
  std::vector<ViewStep> view;
  FilterProgram filter;  // empty: none
  Policy policy;         // limits
  bool namespaces = true;
  int input = -1, output = -1, errors = -1;  // become 0, 1, 2
  std::vector<int> descriptors;              // become 3, 4, …
  bool trial = false;                        // do everything, then exit with 0 where exec would be
};

struct Spawned {
  pid_t pid = -1;
  Descriptor pidfd;
};

/// Errors: the step that the kernel refused, and why. The child is killed when the calling thread ends.
Result<Spawned> spawn_confined(const SpawnPlan&);

/// SIGKILL for the process and whatever it started.
void kill_tree(pid_t, bool own_pid_namespace);

}  // namespace ako
