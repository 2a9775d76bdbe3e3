// SPDX-License-Identifier: Apache-2.0
// A Program: the problem's statements rewritten, without changing their meaning, into a form that loops are
// easily made of. It is a copy of the problem, so every rewriting is from the problem language to itself and
// prints as such.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "problem/problem.h"

namespace ako::synth {

using Program = Problem;
using Renaming = std::map<IndexId, IndexId>;

/// Calls `f` on an expression and everything in it, outermost first; bounds and conditions too.
void visit(const Program&, ExprId, const std::function<void(ExprId)>& f);
bool mentions(const Program&, ExprId, IndexId);
bool any_mentions(const Program&, const std::vector<ExprId>&, IndexId);
/// Its values are kept as they are computed, in f32 at least.
bool unrounded(const Tensor&);
bool reads(const Program&, ExprId, TensorId);
/// Everything a statement evaluates: value, subscripts, bounds.
void visit(const Program&, const Statement&, const std::function<void(ExprId)>& f);
/// Equal in structure, with `names` mapping indices of `a` to indices of `b`; indices bound inside are
/// matched up.
bool same(const Program&, ExprId a, ExprId b, Renaming names = {});
bool is_index(const Program&, ExprId, IndexId);
/// The index of a bare index expression, or -1.
IndexId bare_index(const Program&, ExprId);
bool is_literal(const Program&, ExprId, std::int64_t value);
/// From zero to a bound that depends on extents only.
bool rectangular(const Program&, const Range&);
/// Never negative, whatever the shape: sums and products of extents, literals and indices that start at zero.
bool non_negative(const Program&, ExprId, const std::map<IndexId, Range>&);

ExprId add(Program&, Expr);
ExprId index_expression(Program&, IndexId);
std::vector<ExprId> index_expressions(Program&, const std::vector<Range>&);
/// A copy with indices replaced by expressions; indices bound inside keep theirs.
ExprId substitute(Program&, ExprId, const std::map<IndexId, ExprId>&);
/// A copy with each occurrence of `what` (as same() finds it, seen through `names`) replaced.
ExprId replace(Program&, ExprId, ExprId what, const Renaming& names, ExprId by);
IndexId add_index(Program&, std::string name);
/// A temporary kept in the arithmetic type, with a name nobody has.
TensorId add_temporary(Program&, const std::string& like, NumberClass, std::vector<ExprId> shape);
ExprId access(Program&, TensorId, std::vector<ExprId> subscripts);

/// Reductions stand alone: each is the whole value of a statement, or inside another reduction, or evaluated
/// lazily. Those that do not depend on all of a statement's indices are evaluated once for the indices that
/// they do depend on. Statements that read what they overwrite at another place go through a temporary.
Program normalize(const Problem&);

/// Temporaries are computed only as far as they are read. Returns how many were shortened.
int trim_to_readers(Program&);

/// Expressions with a transcendental function that a reduction evaluates and a later statement evaluates
/// again become a temporary (softmax: the exponentials). Returns how many.
int keep_common(Program&);

/// Elementwise temporaries that are read at most at so many places are computed where they are read. Returns
/// how many.
int inline_elementwise(Program&, int most_uses);

/// Outputs that later statements read row by row are kept in scratch as well, for kernels whose stores bypass
/// the caches. Returns how many.
int keep_written_rows(Program&);

/// A problem that is elementwise throughout, over several axes, becomes one over a single axis.
bool flatten_elementwise(Program&);

}  // namespace ako::synth
