// SPDX-License-Identifier: Apache-2.0
// Sums of products of two matrices by tiles in shared memory: on the ordinary units in fp32 or fp64, and on
// the matrix units for 16-bit types.
#pragma once

#include <optional>

#include "synth/gpu/unit.h"
#include "synth/groups.h"

namespace ako::synth::gpu {

/// `target[batch…, m, n] = sum(k: left * right)` with plain accesses as factors, and what finishes an
/// element.
struct Product {
  std::size_t statement = 0;
  std::vector<std::size_t> finish;
  std::vector<Range> batch;
  Range row, column, depth;
  ExprId left = -1, right = -1;
  bool left_by_depth = true;    // neighbours in memory are neighbours along the depth; else along the rows
  bool right_by_depth = false;  // … else along the columns
};
std::optional<Product> match_product(const Program&, const Layout&, const Group&);
/// Both operands are of one 16-bit type that matrix units take, the left one by depth.
bool fits_matrix_units(const Program&, const Product&);

struct ProductChoices {
  int wave = 32;
  int tile_m = 128, tile_n = 128, tile_k = 16;  // of a block
  int thread_m = 8, thread_n = 8;               // ordinary units: of a thread
  int warp_m = 64, warp_n = 64;                 // matrix units: of a wave
  int stages = 3;                               // matrix units: tiles of the depth on their way
  int group = 8;                                // rows of tiles that run side by side, for the last cache
};
void write_product(Unit&, const Product&, const ProductChoices&);
void write_matrix_product(Unit&, const Product&, const ProductChoices&);

}  // namespace ako::synth::gpu
