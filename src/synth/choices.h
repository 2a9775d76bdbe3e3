// SPDX-License-Identifier: Apache-2.0
// A schedule's knobs, read.
#pragma once

#include <cstdint>

namespace ako::synth {

struct Choices {
  int threads = 1;
  int lanes = 1;            // of the arithmetic type; 1: plain loops
  int unroll = 1;           // vectors per step of an inner loop, each with an accumulator of its own
  bool polynomial = false;  // functions by polynomials on vectors, not by the C library element by element
  bool short_polynomial = false;   // … with fewer terms, where the tolerance bears it
  bool streaming = false;          // results bypass the caches
  bool reciprocal = false;         // x / s as x * (1 / s) where s is the same for the row
  bool merge_passes = false;       // loops over the same row become one
  bool hardware_rounding = false;  // to bf16 by the processor's own instruction, which makes denormals zero
  bool prefetch_ahead = false;     // where a row is first read, lines further on are fetched
  bool prefetch_row = false;       // passes that read a row again fetch the next row meanwhile
  bool tiled = false;              // contractions by packed panels and register tiles
  int tile_m = 6, tile_n = 2;      // register tile: rows, vectors
  std::int64_t block_m = 120, block_n = 1024, block_k = 256;  // cache blocks
  bool split_n = false;                                       // threads share the columns instead of the rows
  std::int64_t block_q = 64, block_keys = 128;                // attention: queries of a tile, keys of a block
  bool split_batch = false;  // … threads share its heads instead of its queries
  bool pairs = false;        // bf16 operands stay bf16: dot products of pairs
};

}  // namespace ako::synth
