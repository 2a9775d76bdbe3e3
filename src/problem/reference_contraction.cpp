// SPDX-License-Identifier: Apache-2.0
// Reductions that are computed ahead of a statement's loops: contractions and scans.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "problem/reference_lowering.h"

namespace ako {
namespace {

/// The factors of a product, its signs and nested products taken apart.
void collect_factors(const Problem& problem, ExprId which, std::vector<ExprId>& factors) {
  const Expr& expr = problem.expr(which);
  if (expr.kind == ExprKind::binary && expr.op == Op::mul && expr.type == NumberClass::real) {
    collect_factors(problem, expr.args[0], factors);
    collect_factors(problem, expr.args[1], factors);
  } else {
    factors.push_back(which);
  }
}

IndexSet set_of(const std::vector<Range>& ranges) {
  IndexSet set;
  for (const Range& range : ranges) set.insert(range.index);
  return set;
}

IndexSet free_indices(const Problem& problem, const std::vector<ExprId>& exprs) {
  IndexSet set;
  for (ExprId which : exprs) set.merge(free_indices(problem, which));
  return set;
}

}  // namespace

bool ReferenceLowering::constant_bounds(const Range& range) const {
  return free_indices(problem_, range).empty();
}

/// A sum is a contraction when its body is a product whose factors fall into two groups such that each
/// depends on a loop index that the other does not depend on, and both on a summed index. The summed range
/// may follow the rows (a causal sum), if there is one summed index alone.
std::optional<ReferenceLowering::Contraction> ReferenceLowering::as_contraction(ExprId which,
                                                                                const Statement& statement) {
  const Expr& expr = problem_.expr(which);
  if (expr.reduce != ReduceOp::sum || expr.scan || expr.condition || expr.type != NumberClass::real)
    return std::nullopt;
  std::vector<ExprId> factors;
  collect_factors(problem_, expr.args[0], factors);
  if (factors.size() < 2) return std::nullopt;
  const IndexSet summed = set_of(expr.bounds), loops = set_of(statement.indices);
  IndexSet of_bounds;
  for (const Range& range : expr.bounds) of_bounds.merge(free_indices(problem_, range));
  if (intersects(of_bounds, summed)) return std::nullopt;
  for (auto pivot = statement.indices.rbegin(); pivot != statement.indices.rend(); ++pivot) {
    Contraction found;
    found.reduction = which;
    found.depth = expr.bounds;
    for (ExprId factor : factors)
      (free_indices(problem_, factor).contains(pivot->index) ? found.right : found.left).push_back(factor);
    const IndexSet left = free_indices(problem_, found.left), right = free_indices(problem_, found.right);
    if (!intersects(left, summed) || !intersects(right, summed)) continue;
    IndexSet all = left;
    all.insert(right.begin(), right.end());
    all.insert(of_bounds.begin(), of_bounds.end());
    bool regular = true;
    for (const Range& range : statement.indices) {
      if (!all.contains(range.index)) continue;
      regular = regular && constant_bounds(range);
      const bool in_left = left.contains(range.index), in_right = right.contains(range.index);
      (in_left == in_right ? found.batch : in_left ? found.rows : found.columns).push_back(range);
    }
    for (IndexId index : all) regular = regular && (loops.contains(index) || summed.contains(index));
    if (!regular || found.rows.empty() || found.columns.empty()) continue;
    if (intersects(of_bounds, set_of(found.columns))) {
      std::swap(found.rows, found.columns);
      std::swap(found.left, found.right);
    }
    if (intersects(of_bounds, set_of(found.columns))) continue;
    if (intersects(of_bounds, set_of(found.rows)) && expr.bounds.size() > 1) continue;
    return found;
  }
  return std::nullopt;
}

std::string ReferenceLowering::extent(const Range& range) {
  const Expr& lower = problem_.expr(range.lower);
  const std::string upper = integer(range.upper);
  if (lower.kind == ExprKind::int_literal && lower.integer == 0) return upper;
  return fmt::format("std::max(i64(0), i64({} - {}))", upper, integer(range.lower));
}

std::string ReferenceLowering::product_of_extents(const Ranges& ranges) {
  std::string text;
  for (const Range& range : ranges) text += (text.empty() ? "" : " * ") + extent(range);
  return text.empty() ? "1" : text;
}

/// Declarations of the indices of a flattened group: the last varies fastest.
std::string ReferenceLowering::unflatten(const Ranges& ranges, const std::string& flat) {
  std::string text;
  std::string inner;  // product of the extents after this one
  for (std::size_t i = ranges.size(); i-- > 0;) {
    const Range& range = ranges[i];
    std::string value = inner.empty() ? flat : fmt::format("{} / ({})", flat, inner);
    if (i > 0) value = fmt::format("{} % {}", value, extent(range));
    const Expr& lower = problem_.expr(range.lower);
    if (lower.kind != ExprKind::int_literal || lower.integer != 0)
      value = fmt::format("{} + {}", integer(range.lower), value);
    text = fmt::format("    const i64 {} = {};\n", names_.index(range.index), value) + text;
    inner = inner.empty() ? extent(range) : extent(range) + " * " + inner;
  }
  return text;
}

std::string ReferenceLowering::replacement_position(const Ranges& order) {
  std::vector<std::string> subscripts, sizes;
  for (const Range& range : order) {
    const Expr& lower = problem_.expr(range.lower);
    const bool zero = lower.kind == ExprKind::int_literal && lower.integer == 0;
    const std::string& index = names_.index(range.index);
    subscripts.push_back(zero ? index : fmt::format("({} - {})", index, integer(range.lower)));
    sizes.push_back(extent(range));
  }
  return position(subscripts, sizes);
}

void ReferenceLowering::extract_contraction(const Contraction& found, bool guarded) {
  const Expr& sum = problem_.expr(found.reduction);
  const std::string array = names_.fresh("product");
  allocate("double", array,
           product_of_extents(found.batch) + " * " + product_of_extents(found.rows) + " * " +
               product_of_extents(found.columns));
  statement_arrays_.push_back(array);
  IndexSet of_bounds;
  for (const Range& range : sum.bounds) of_bounds.merge(free_indices(problem_, range));
  const bool ragged = intersects(of_bounds, set_of(found.rows));
  const bool guarded_before = guarded_;
  guarded_ = guarded || ragged;  // ragged: a block of the right operand reaches over what some rows leave out
  const auto product = [&](const std::vector<ExprId>& factors) {
    std::string text;
    for (ExprId factor : factors) text += (text.empty() ? "" : " * ") + real(factor);
    return indented(text, 4);
  };
  // A flattened summed index counts from zero; a single one is itself.
  const bool single = sum.bounds.size() == 1;
  const std::string k = single ? names_.index(sum.bounds[0].index) : "k_flat";
  const std::string k_unflat = single ? "" : unflatten(found.depth, k);
  const std::string begin = single ? integer(sum.bounds[0].lower) : "0";
  const std::string end = single ? integer(sum.bounds[0].upper) : product_of_extents(found.depth);
  const std::string batch = unflatten(found.batch, "batch_flat");
  const std::string rows = unflatten(found.rows, "row_flat"),
                    columns = unflatten(found.columns, "column_flat");
  const std::string limit = "[&]([[maybe_unused]] i64 batch_flat, [[maybe_unused]] i64 row_flat) -> i64 {\n";
  out_.line(fmt::format("// {}", to_text(problem_, found.reduction)));
  out_.line(fmt::format("if (!contract(threads, {}, {}, {},", product_of_extents(found.batch),
                        product_of_extents(found.rows), product_of_extents(found.columns)));
  out_.line(fmt::format("  {}{}{}    return {};\n  }},", limit, batch, ragged ? rows : "", begin));
  out_.line(fmt::format("  {}{}{}    return {};\n  }},", limit, batch, ragged ? rows : "", end));
  out_.line(
      fmt::format("  [&]([[maybe_unused]] i64 batch_flat, i64 row_flat, i64 {}) -> double {{\n{}{}{}    "
                  "return {};\n  }},",
                  k, batch, rows, k_unflat, product(found.left)));
  out_.line(
      fmt::format("  [&]([[maybe_unused]] i64 batch_flat, i64 {}, i64 column_flat) -> double {{\n{}{}{}    "
                  "return {};\n  }},",
                  k, batch, columns, k_unflat, product(found.right)));
  out_.line(fmt::format("  {}.data)) return 1;", array));
  guarded_ = guarded_before;
  Ranges order = found.batch;
  order.insert(order.end(), found.rows.begin(), found.rows.end());
  order.insert(order.end(), found.columns.begin(), found.columns.end());
  replaced_[found.reduction] = fmt::format("{}[{}]", array, replacement_position(order));
}

/// `scan sum(k <= t: body)`: for every combination of the other indices one pass along t, with k catching up
/// with the bound at each step.
bool ReferenceLowering::extract_scan(ExprId which, const Statement& statement, bool guarded) {
  const Expr& scan = problem_.expr(which);
  const Range& range = scan.bounds.front();
  const IndexSet moving = free_indices(problem_, range.upper);
  if (moving.size() != 1 || !free_indices(problem_, range.lower).empty()) return false;
  IndexSet used = free_indices(problem_, scan.args[0]);
  if (scan.condition) used.merge(free_indices(problem_, *scan.condition));
  if (used.contains(*moving.begin())) return false;
  Ranges others, along;
  for (const Range& loop : statement.indices) {
    const bool moves = loop.index == *moving.begin();
    if (!moves && !used.contains(loop.index)) continue;
    if (!constant_bounds(loop)) return false;
    (moves ? along : others).push_back(loop);
    used.erase(loop.index);
  }
  used.erase(range.index);
  if (along.empty() || !used.empty()) return false;

  const std::string array = names_.fresh("scanned"), running = names_.fresh("running");
  const std::string type = reference_type(scan.type);
  allocate(type, array, product_of_extents(others) + " * " + extent(along[0]));
  statement_arrays_.push_back(array);
  out_.line(fmt::format("// {}", to_text(problem_, which)));
  if (!others.empty())
    out_.line(fmt::format("#pragma omp parallel for num_threads(threads) collapse({})", others.size()));
  for (const Range& loop : others) out_.open(loop_header(loop) + " {");
  const bool guarded_before = std::exchange(guarded_, guarded);
  const std::string& k = names_.index(range.index);
  Ranges order = others;
  order.push_back(along[0]);
  const std::string place = replacement_position(order);
  out_.open("{");
  out_.line(fmt::format("{} {} = {};", type, running, reference_identity(scan.reduce, scan.type)));
  out_.line(fmt::format("i64 {} = {};", k, integer(range.lower)));
  out_.open(loop_header(along[0]) + " {");
  out_.open(fmt::format("for (; {0} < {1}; ++{0}) {{", k, integer(range.upper)));
  const std::string guard =
      scan.condition ? fmt::format("if ({}) ", as(NumberClass::boolean, *scan.condition)) : "";
  out_.line(guard + combined(scan.reduce, scan.type, running, as(scan.type, scan.args[0])));
  out_.close();
  out_.line(fmt::format("{}[{}] = {};", array, place, running));
  out_.close();
  out_.close();
  guarded_ = guarded_before;
  for (std::size_t i = 0; i < others.size(); ++i) out_.close();
  replaced_[which] = fmt::format("{}[{}]", array, place);
  return true;
}

/// Finds the statement's contractions and scans, also in branches that are not always taken (there, guarded),
/// and computes them into arrays. Reductions inside reductions stay: they may depend on the outer one's
/// index.
void ReferenceLowering::extract(const Statement& statement) {
  struct Found {
    ExprId which;
    bool guarded;
  };
  std::vector<Found> places = {{statement.value, false}};
  const auto add = [&](ExprId which, bool guarded) { places.push_back({which, guarded}); };
  for (std::size_t at = 0; at < places.size(); ++at) {
    const auto [which, guarded] = places[at];
    const Expr& expr = problem_.expr(which);
    if (expr.kind == ExprKind::reduce) {
      if (statement.kind != StatementKind::define && reads_tensor(problem_, which, statement.target))
        continue;
      if (expr.scan) {
        extract_scan(which, statement, guarded);
      } else if (const auto contraction = as_contraction(which, statement)) {
        extract_contraction(*contraction, guarded);
      }
      continue;
    }
    const bool branches =
        expr.kind == ExprKind::select ||
        (expr.kind == ExprKind::binary && (expr.op == Op::logical_and || expr.op == Op::logical_or));
    for (std::size_t i = 0; i < expr.args.size(); ++i) add(expr.args[i], guarded || (branches && i > 0));
    if (expr.fallback) add(*expr.fallback, true);
  }
}

}  // namespace ako
