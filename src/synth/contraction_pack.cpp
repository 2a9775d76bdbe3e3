// SPDX-License-Identifier: Apache-2.0
// Packing: everything that a problem does to an operand (decoding, scaling, padding) is done once, and the
// elements laid down in the order in which the register tile reads them.
#include <algorithm>

#include "synth/contraction_emitter.h"
#include "synth/element.h"

namespace ako::synth {

/// Neighbours along the one index of a side are neighbours in memory, for every factor that it appears in.
bool ContractionEmitter::by_lanes(const std::vector<ExprId>& factors, const std::vector<Range>& along) const {
  if (pairs() || along.size() != 1) return false;
  return std::ranges::all_of(factors, [&](ExprId factor) {
    const Expr& expr = program_.expr(factor);
    return expr.kind == ExprKind::access && !expr.fallback &&
           (!mentions(program_, factor, along[0].index) || printer_.unit_stride(expr, along[0].index));
  });
}

/// Some factor's neighbours in memory are neighbours along the depth.
bool ContractionEmitter::along_depth(const std::vector<ExprId>& factors) const {
  const IndexId last = contraction_.depth.back().index;
  return std::ranges::any_of(factors, [&](ExprId factor) {
    const Expr& expr = program_.expr(factor);
    return expr.kind == ExprKind::access && !expr.args.empty() && is_index(program_, expr.args.back(), last);
  });
}

/// An element as it lies in a panel.
std::string ContractionEmitter::packed(const std::vector<ExprId>& factors) {
  if (products_ != Products::bf16_pairs) return product(factors);
  const Expr& expr = program_.expr(factors[0]);
  return fmt::format("{}[{}]", printer_.tensor_name(expr.ref), printer_.offset(expr.ref, expr.args));
}

void ContractionEmitter::pack_a() {
  code_.comment(fmt::format("Rows m0 … m0 + ms, steps k0 … k0 + ks: panels of {} rows, step by step.", mr_));
  code_.open("const auto {} = [&]({}* to, int64_t m0, int64_t ms, int64_t k0, int64_t ks)", pack_a_,
             element());
  if (by_lanes(contraction_.a, contraction_.rows))
    pack_rows_by_lanes();
  else
    pack_rows();
  code_.close("};");
  end_scope();
}

void ContractionEmitter::pack_rows_by_lanes() {
  const Range& row = contraction_.rows[0];
  printer_.need("v_load"), printer_.need("v_store");
  code_.open("for (int64_t i = 0; i < ms; i += {})", mr_);
  code_.open("for (int64_t k = 0; k < ks; ++k)");
  code_.line("const int64_t p = k0 + k;");
  unflatten(contraction_.depth, "p");
  code_.line("{}* const row = to + i * ks + k * {};", element(), mr_);
  printer_.bind_as(row, "m");
  printer_.vectorize(row.index);
  code_.open("const auto step = [&](int64_t m, auto span, auto room) __attribute__((always_inline))");
  code_.line("v_store(row + (m - m0 - i), {}, room);", product(contraction_.a));
  code_.close("};");
  printer_.vectorize(-1);
  for (int at = 0; at < mr_; at += choices_.lanes) {
    const int width = std::min(choices_.lanes, mr_ - at);
    const std::string room = width == choices_.lanes ? "whole{}" : fmt::format("part{{{}}}", width);
    code_.line("if (ms - i >= {}) step(m0 + i + {}, {}, {});", at + width, at, room, room);
    code_.line("else step(m0 + i + {0}, part{{int(larger<int64_t>(ms - i - {0}, 0))}}, {1});", at, room);
  }
  printer_.need("larger");
  code_.close();
  code_.close();
}

void ContractionEmitter::pack_rows() {
  const std::string padded = pairs() ? "(ks + 1) / 2 * 2" : "ks";
  const std::string place = pairs() ? fmt::format("k / 2 * {} + k % 2", 2 * mr_) : fmt::format("k * {}", mr_);
  code_.open("for (int64_t i = 0; i < (ms + {}) / {} * {}; ++i)", mr_ - 1, mr_, mr_);
  code_.line("{0}* const row = to + i / {1} * {1} * ({2}) + i % {1}{3};", element(), mr_, padded,
             pairs() ? " * 2" : "");
  code_.open("if (i >= ms)");
  code_.line("for (int64_t k = 0; k < {}; ++k) row[{}] = 0;", padded, place);
  code_.line("continue;");
  code_.close();
  code_.line("const int64_t m = m0 + i;");
  unflatten(contraction_.rows, "m");
  code_.open("for (int64_t k = 0; k < ks; ++k)");
  code_.line("const int64_t p = k0 + k;");
  unflatten(contraction_.depth, "p");
  code_.line("row[{}] = {};", place, packed(contraction_.a));
  code_.close();
  if (pairs()) code_.line("if (ks % 2 != 0) row[{}] = 0;", fmt::format("ks / 2 * {} + 1", 2 * mr_));
  code_.close();
}

void ContractionEmitter::pack_b() {
  code_.comment(fmt::format(
      "One panel of {} columns from n0 (the last may have fewer, then zeros), steps k0 … k0 + ks.", nr_));
  code_.open("const auto {} = [&]({}* to, int64_t n0, int64_t ns, int64_t k0, int64_t ks)", pack_b_,
             element());
  if (by_lanes(contraction_.b, contraction_.columns))
    pack_columns_by_lanes();
  else if (by_runs())
    pack_columns_by_runs();
  else
    pack_columns();
  code_.close("};");
  end_scope();
}

void ContractionEmitter::pack_columns_by_lanes() {
  const Range& column = contraction_.columns[0];
  printer_.need("larger"), printer_.need("v_load"), printer_.need("v_store");
  code_.open("for (int64_t k = 0; k < ks; ++k)");
  code_.line("const int64_t p = k0 + k;");
  unflatten(contraction_.depth, "p");
  printer_.bind_as(column, "n");
  printer_.vectorize(column.index);
  code_.open("const auto step = [&](int64_t n, auto span) __attribute__((always_inline))");
  code_.line("v_store(to + k * {} + (n - n0), {}, whole{{}});", nr_, product(contraction_.b));
  code_.close("};");
  printer_.vectorize(-1);
  for (int j = 0; j < choices_.tile_n; ++j) {
    const int from = j * choices_.lanes;
    code_.line("if (ns >= {}) step(n0 + {}, whole{{}});", from + choices_.lanes, from);
    code_.line("else step(n0 + {0}, part{{int(larger<int64_t>(ns - {0}, 0))}});", from);
  }
  code_.close();
}

/// One tensor, stepped through element by element along the innermost column index, perhaps shifted.
bool ContractionEmitter::by_runs() const {
  if (pairs() || contraction_.b.size() != 1) return false;
  const Expr& access = program_.expr(contraction_.b[0]);
  const IndexId inner = contraction_.columns.back().index;
  return access.kind == ExprKind::access && printer_.unit_stride(access, inner) &&
         (!access.fallback || !mentions(program_, *access.fallback, inner));
}

/// The condition under which an access is inside its tensor.
std::string ContractionEmitter::inside(const Expr& access) {
  std::string text;
  for (std::size_t axis = 0; axis < access.args.size(); ++axis) {
    text += fmt::format("{}uint64_t({}) < uint64_t({})", axis == 0 ? "" : " && ",
                        printer_.scalar(access.args[axis]),
                        printer_.scalar(program_.tensor(access.ref).shape[axis]));
  }
  return text;
}

/// Columns whose innermost index steps through memory, perhaps inside a border: as long as it runs, what is
/// inside is copied by lanes.
void ContractionEmitter::pack_columns_by_runs() {
  const Range& inner = contraction_.columns.back();
  const Expr access = program_.expr(contraction_.b[0]);
  printer_.need("smaller"), printer_.need("v_store");
  code_.open("for (int64_t k = 0; k < ks; ++k)");
  code_.line("const int64_t p = k0 + k;");
  unflatten(contraction_.depth, "p");
  code_.line("{}* const row = to + k * {};", element(), nr_);
  code_.line("for (int64_t j = ns; j < {}; ++j) row[j] = 0;", nr_);
  code_.open("for (int64_t j = 0, run; j < ns; j += run)");
  code_.line("const int64_t n = n0 + j;");
  unflatten(contraction_.columns, "n");
  const std::string start = printer_.index_text(inner.index);
  code_.line("run = smaller<int64_t>({} - {}, ns - j);", printer_.scalar(inner.upper, 71), start);
  code_.line("int64_t first = 0, last = run;");
  printer_.bind_as(inner, start + " + i");
  if (access.fallback) {
    code_.line("const auto inside = [&](int64_t i) {{ return {}; }};", inside(access));
    const std::string other = printer_.scalar(*access.fallback);
    code_.line("for (; first < last && !inside(first); ++first) row[j + first] = {};", other);
    code_.line("for (; last > first && !inside(last - 1); --last) row[j + last - 1] = {};", other);
  }
  const Tensor& tensor = program_.tensor(access.ref);
  const bool plain = tensor.exact || element_of(tensor.type).decode.empty();
  const std::string load = plain ? "v_load" : "v_load_" + std::string(name_of(tensor.type));
  printer_.need(load);
  const std::string move =
      fmt::format("v_store(row + j + i, {}({} + {}, span), span);", load, printer_.tensor_name(access.ref),
                  printer_.offset(access.ref, access.args));
  code_.open("const auto copy = [&](int64_t i, auto span) __attribute__((always_inline))");
  code_.line(move);
  code_.close("};");
  code_.line("for (; first + {0} <= last; first += {0}) copy(first, whole{{}});", choices_.lanes);
  code_.line(std::string_view("if (first < last) copy(first, part{int(last - first)});"));
  code_.close();
  code_.close();
}

/// Two rows of B at once, their elements interleaved: loads and stores both run along memory.
void ContractionEmitter::pack_pairs_of_rows() {
  const Range& step = contraction_.depth[0];
  code_.open("for (int64_t k = 0; k < ks; k += 2)");
  code_.line("const int64_t p = k0 + k;");
  code_.line("{}* const row = to + k * {};", element(), nr_);
  const auto columns = [&](bool both) {
    code_.open("for (int64_t j = 0; j < ns; ++j)");
    code_.line("const int64_t n = n0 + j;");
    unflatten(contraction_.columns, "n");
    printer_.bind_as(step, "p");
    code_.line("row[2 * j] = {};", packed(contraction_.b));
    printer_.bind_as(step, "p + 1");
    code_.line("row[2 * j + 1] = {};", both ? packed(contraction_.b) : "0");
    code_.close();
  };
  code_.open("if (k + 1 < ks)");
  columns(true);
  code_.close("} else {");
  code_.indent();
  columns(false);
  code_.close();
  code_.line("for (int64_t j = 2 * ns; j < {}; ++j) row[j] = 0;", 2 * nr_);
  code_.close();
}

void ContractionEmitter::pack_columns() {
  if (pairs() && !along_depth(contraction_.b) && contraction_.depth.size() == 1) return pack_pairs_of_rows();
  const std::string place =
      pairs() ? fmt::format("k / 2 * {} + j * 2 + k % 2", 2 * nr_) : fmt::format("k * {} + j", nr_);
  const std::string padded = pairs() ? "(ks + 1) / 2 * 2" : "ks";
  // The inner loop runs along memory where it can.
  const bool depth_inside = along_depth(contraction_.b);
  const auto columns = [&] {
    code_.open("for (int64_t j = 0; j < ns; ++j)");
    code_.line("const int64_t n = n0 + j;");
    unflatten(contraction_.columns, "n");
  };
  const auto steps = [&] {
    code_.open("for (int64_t k = 0; k < ks; ++k)");
    code_.line("const int64_t p = k0 + k;");
    unflatten(contraction_.depth, "p");
  };
  if (depth_inside)
    columns(), steps();
  else
    steps(), columns();
  code_.line("to[{}] = {};", place, packed(contraction_.b));
  code_.close();
  code_.close();
  code_.line("if (ns < {}) for (int64_t k = 0; k < {}; ++k)", nr_, padded);
  code_.line("  for (int64_t j = ns; j < {}; ++j) to[{}] = 0;", nr_, place);
  if (pairs()) {
    code_.line("if (ks % 2 != 0) for (int64_t j = 0; j < {0}; ++j) to[ks / 2 * {1} + j * 2 + 1] = 0;", nr_,
               2 * nr_);
  }
}

}  // namespace ako::synth
