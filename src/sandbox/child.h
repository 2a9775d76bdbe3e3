// SPDX-License-Identifier: Apache-2.0
// The child's side of spawn.cpp, between clone and exec.
#pragma once

#include "sandbox/spawn.h"

namespace ako {

/// Where the child stood when a system call failed.
enum class ChildStage : int {
  wait,
  mounts,
  limits,
  descriptors,
  folder,
  identity,
  capabilities,
  filter,
  exec
};

struct ChildFailure {
  ChildStage stage = ChildStage::wait;
  int step = -1;  // of the view, in stage mounts
  int error = 0;
};

/// The parent's word that the identity maps are written.
enum class Identity : char { lost = 0, kept = 'k', nobody = 'n' };

/// What the child needs, as plain pointers into memory made before clone.
struct ChildPlan {
  const SpawnPlan* plan = nullptr;
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  int parent = -1;  // socket: one Identity comes in, a ChildFailure goes out, exec closes it
};

/// User and group "nobody": the identity of run guests when ako itself is root.
constexpr unsigned kNobody = 65534;

[[noreturn]] void become_confined(const ChildPlan&);

}  // namespace ako
