// SPDX-License-Identifier: Apache-2.0
// Timed passes of the same work on several threads that start together.
#pragma once

#include <functional>
#include <vector>

#include "base/units.h"

namespace ako::host {

/// Runs pass 0, 1, 2 … on `threads` threads, each pass begun by all at once, until `budget` is spent or
/// `most` passes are done, and at least once. `work(thread, pass)`. Returns the time of each pass: from its
/// common start until the last thread is done.
std::vector<Seconds> timed_passes(int threads, Seconds budget, int most,
                                  const std::function<void(int, int)>& work);

/// The second best: the best may be an accident of the clock, and all others may have been disturbed.
Seconds best_sustained(std::vector<Seconds> passes);

}  // namespace ako::host
