// SPDX-License-Identifier: Apache-2.0
// The innermost kernel of everything that multiplies matrices: a tile of sums that stays in registers while
// it runs along the depth.
#pragma once

#include <cstdint>
#include <string>

#include "synth/printer.h"

namespace ako::synth {

/// How elements of the two operands are multiplied.
enum class Products : std::uint8_t {
  reals,       // in the arithmetic type
  bf16_pairs,  // two steps of the depth at a time, summed in fp32
  word_pairs,  // 8-bit integers widened to 16 bits, two steps at a time, summed in int32
};

struct RegisterTile {
  std::string name;
  std::string element, sum;  // C types of both operands and of the result
  int rows = 0, vectors = 0;
  Products products = Products::reals;
  int a_stride = 0;       // 0: A is a panel, all rows of a step together; else rows lie this far apart
  int c_stride = 0;       // between rows of the result
  bool rescaled = false;  // c is read, multiplied by `scale[row]` and added to, instead of overwritten
};

/// inline void NAME(int64_t depth, const element* a, const element* b, sum* c[, const sum* scale])
/// B is a panel: the columns of a step together, `vectors` times the lanes of them.
void emit_register_tile(const RegisterTile&, Printer&, Code&);

}  // namespace ako::synth
