// SPDX-License-Identifier: Apache-2.0
// Groups of statements over rows: reductions along them, and what is made of the results, element by element.
#pragma once

#include <optional>

#include "synth/gpu/unit.h"
#include "synth/groups.h"

namespace ako::synth::gpu {

struct RowChoices {
  int wave = 32;
  int threads = 256;         // that share a row; at most a wave: several rows per block
  int vector = 4;            // elements moved by one instruction
  bool registers = true;     // a row stays in registers between passes; else it is read again
  bool streaming = false;    // past the caches where possible
  std::int64_t longest = 1;  // row, over all shapes
};

struct PointChoices {
  int threads = 256;
  int vector = 4;
  int items = 1;   // vectors per thread and step
  int blocks = 0;  // persistent: so many blocks walk over everything; 0: each block works once
  bool streaming = false;
};

/// A group that rows can be made of.
struct RowGroup {
  std::vector<std::size_t> statements;
  std::vector<Range> shared;  // of the first statement
  Range lane;                 // of the first statement that has one
  bool reduces = false;       // else every element stands for itself
};
std::optional<RowGroup> match_rows(const Program&, const Layout&, const Group&);

void write_rows(Unit&, const Layout&, const RowGroup&, const RowChoices&);
void write_points(Unit&, const Layout&, const RowGroup&, const PointChoices&);

}  // namespace ako::synth::gpu
