// SPDX-License-Identifier: Apache-2.0
// Contractions as GotoBLAS does them (Goto and van de Geijn, "Anatomy of high-performance matrix
// multiplication", 2008; loops named as in BLIS): panels of both operands are packed into the order in which
// a register tile consumes them, with whatever the problem does to an operand (decoding, scaling, padding)
// done once while packing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "synth/printer.h"

namespace ako::synth {

struct Workspace {
  std::string name;
  ScalarType type = ScalarType::f32;
  std::string elements;  // in the launch plan's notation
};

/// `target[batch…, m…, n…] = sum(k…: a(batch, m, k) * b(batch, n, k))`, with the statements that finish its
/// elements.
struct Contraction {
  std::size_t statement = 0;
  std::vector<std::size_t> finish;  // later statements of the group, over the same indices
  std::vector<Range> batch, rows, columns, depth;
  std::vector<ExprId> a, b;  // factors of each operand
  bool integer = false;      // both are tensors of 8-bit integers
};

std::optional<Contraction> match_contraction(const Program&, const Layout&, const Group&);

/// Both operands are bf16 tensors, read as they are.
bool can_pair(const Program&, const Contraction&);

/// Writes the packing functions and the register tile to `functions` and the loops to printer.code().
void emit_contraction(const Contraction&, Printer&, Code& functions, std::vector<Workspace>&);

}  // namespace ako::synth
