// SPDX-License-Identifier: Apache-2.0
// Where a guest's threads run.
#pragma once

#include <set>

namespace ako::host {

/// Binds each thread of a stopped guest to a processor of its own, unless it has more threads than there are
/// processors (then they are left to the scheduler). A batch is too short for the scheduler to part threads
/// that woke on one processor: without this, two threads of a parallel kernel share one for a whole batch,
/// every few batches. `known`: the threads that were bound before.
void spread_threads(int pid, std::set<int>& known);

}  // namespace ako::host
