// SPDX-License-Identifier: Apache-2.0
// Which statements share their outer loops, and where each tensor lives while they run.
#pragma once

#include <vector>

#include "synth/program.h"

namespace ako::synth {

/// Consecutive statements under `depth` common outer loops: their first `depth` indices range alike, and
/// whatever one writes, the others touch only at the same values of those indices.
struct Group {
  int depth = 0;
  std::vector<std::size_t> statements;
};

enum class Home : std::uint8_t {
  argument,   // a tensor of the problem
  workspace,  // a whole temporary
  row,        // the part of a temporary that one iteration of the shared loops needs: scratch, one per thread
  local,      // … which is a single value: a variable
};

struct Storage {
  Home home = Home::argument;
  int dropped = 0;  // leading axes that are fixed within the group and so not stored
};

struct Layout {
  std::vector<Group> groups;
  std::vector<Storage> storage;  // by TensorId
};

/// Groups whose loops are all shared give up the innermost one when it is the one that lanes can run along:
/// elements of the last axis are neighbours in memory.
void leave_last_axis_to_lanes(const Program&, Layout&);
/// How many accesses of a statement do not step from neighbour to neighbour when `index` does.
int scattered_accesses(const Program&, const Statement&, IndexId index);

/// Fuses as much as the order of the statements allows.
Layout fuse(const Program&);

}  // namespace ako::synth
