// SPDX-License-Identifier: Apache-2.0
// Attention in one sweep over the keys: scores of a block of keys, their exponentials and the weighted sum of
// values are worked on while they are in the first cache; what was summed before is rescaled when a larger
// score turns up (online softmax: Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018;
// in tiles: Dao et al., "FlashAttention", 2022). The matrix of scores is never stored.
#pragma once

#include <optional>
#include <vector>

#include "synth/contraction.h"

namespace ako::synth {

/// The keys that a query sees: from the largest of `lower` (at least 0) up to the smallest of `upper`, all
/// integer expressions of the query and what is shared.
struct VisibleKeys {
  std::vector<ExprId> lower, upper;
};

/// Adds one, unless it is there.
void add_bound(Program&, std::vector<ExprId>& bounds, ExprId);
/// Adds what a condition says of the key. False: it is not a conjunction of comparisons with the key.
bool add_condition(Program&, VisibleKeys&, ExprId condition, IndexId key);
/// The same bounds in any order.
bool same_bounds(const Program&, const VisibleKeys&, const VisibleKeys&);

/// s[…, q, k] = score(sum(e: query(q, e) * key(k, e)))
/// m[…, q]    = max(k: s)
/// z[…, q]    = sum(k: exp(s - m))
/// o[…, q, c] = sum(k: exp(s - m) * value(k, c))       (or of exp(s - m) / z)
/// with the statements that finish rows and elements, all in one group.
struct Attention {
  std::size_t statement = 0;  // the weighted sum
  std::vector<Range> batch;   // indices of the result that scores and values share
  Range query, column;        // … that only scores have, that only values have
  Range key, depth;           // what the weighted sum and the scores' sum run over
  std::vector<ExprId> query_factors, key_factors, value_factors;
  TensorId scores = -1, largest = -1, total = -1;
  ExprId score = -1;     // as a function of the bare product, which an access to `scores` stands for
  ExprId weight = -1;    // exp of an access to `scores` less one to `largest`
  bool divided = false;  // the weights are divided by `total` before they are summed
  VisibleKeys visible;
  ExprId most_keys = -1;                        // an extent that no shape's visible keys exceed
  std::vector<std::size_t> finish_row, finish;  // later statements of the group: of a query, of an element
};

/// Expressions of the result are in terms of the weighted sum's own indices. Adds expressions to the program.
std::optional<Attention> match_attention(Program&, const Layout&, const Group&);

/// Writes the register tiles to `functions` and the loops to printer.code().
void emit_attention(const Attention&, Program&, Printer&, Code& functions, std::vector<Workspace>&);

}  // namespace ako::synth
