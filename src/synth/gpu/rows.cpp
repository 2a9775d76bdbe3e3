// SPDX-License-Identifier: Apache-2.0
#include "synth/gpu/rows.h"

#include <algorithm>

#include "synth/gpu/lanes.h"

namespace ako::synth::gpu {

namespace {

bool is_reduction(const Program& program, const Statement& statement) {
  return program.expr(statement.value).kind == ExprKind::reduce;
}

bool has_reduction(const Program& program, ExprId id) {
  bool found = false;
  visit(program, id, [&](ExprId e) { found = found || program.expr(e).kind == ExprKind::reduce; });
  return found;
}

/// A reduction that threads can share: one bound, and a way to combine what they found.
bool shareable(const Program& program, const Expr& value) {
  if (value.scan || value.bounds.size() != 1 || !rectangular(program, value.bounds[0])) return false;
  if (!is_literal(program, value.bounds[0].lower, 0) || has_reduction(program, value.args[0])) return false;
  const bool argument = value.reduce == ReduceOp::argmax || value.reduce == ReduceOp::argmin;
  if (!argument) return true;
  const bool wide = std::ranges::any_of(
      program.tensors, [](const Tensor& t) { return t.type == ScalarType::f64 && !t.exact; });
  return !wide && program.expr(value.args[0]).type == NumberClass::real;
}

bool starts_at_zero(const Program& program, const std::vector<Range>& ranges) {
  return std::ranges::all_of(
      ranges, [&](const Range& r) { return rectangular(program, r) && is_literal(program, r.lower, 0); });
}

/// What a statement of the group reads of what the group writes, it reads where the same thread wrote it.
bool reads_own_lanes(const Program& program, const Layout& layout, const RowGroup& group, std::size_t depth) {
  for (const std::size_t at : group.statements) {
    const Statement& reader = program.statements[at];
    const Expr& value = program.expr(reader.value);
    const bool by_lanes = reader.indices.size() > depth || value.kind == ExprKind::reduce;
    const Range lane = value.kind == ExprKind::reduce ? value.bounds[0]
                       : by_lanes                     ? reader.indices.back()
                                                      : Range{};
    bool fine = true;
    visit(program, reader, [&](ExprId e) {
      const Expr& expr = program.expr(e);
      if (expr.kind != ExprKind::access) return;
      for (const std::size_t other : group.statements) {
        const Statement& writer = program.statements[other];
        if (writer.target != expr.ref) continue;
        const bool row = writer.indices.size() > depth;
        if (!row) {
          fine = fine && layout.storage[static_cast<std::size_t>(expr.ref)].home == Home::local;
        } else {
          fine = fine && by_lanes && is_lane_access(program, expr.ref, expr.args, lane) && !expr.fallback;
        }
      }
    });
    if (!fine) return false;
  }
  return true;
}

}  // namespace

std::optional<RowGroup> match_rows(const Program& program, const Layout& layout, const Group& group) {
  RowGroup result;
  result.statements = group.statements;
  const Statement& first = program.statements[group.statements.front()];
  auto depth = static_cast<std::size_t>(group.depth);
  for (const std::size_t at : group.statements) {
    const Statement& statement = program.statements[at];
    if (statement.kind != StatementKind::define) return std::nullopt;
    result.reduces = result.reduces || is_reduction(program, statement);
  }
  const bool all_shared = std::ranges::all_of(
      group.statements, [&](std::size_t at) { return program.statements[at].indices.size() == depth; });
  if (!result.reduces) {
    if (!all_shared || depth == 0) return std::nullopt;
    --depth;
  }
  if (first.indices.size() < depth) return std::nullopt;
  result.shared.assign(first.indices.begin(), first.indices.begin() + static_cast<std::ptrdiff_t>(depth));
  if (!starts_at_zero(program, result.shared)) return std::nullopt;
  bool has_lane = false;
  for (const std::size_t at : group.statements) {
    const Statement& statement = program.statements[at];
    const Expr& value = program.expr(statement.value);
    const std::size_t rank = statement.indices.size();
    Range lane;
    if (value.kind == ExprKind::reduce) {
      if (rank != depth || !shareable(program, value)) return std::nullopt;
      lane = value.bounds[0];
    } else {
      if (rank > depth + 1 || has_reduction(program, statement.value)) return std::nullopt;
      if (rank == depth) continue;
      lane = statement.indices.back();
      if (!starts_at_zero(program, {lane})) return std::nullopt;
      if (!is_lane_access(program, statement.target, statement.subscripts, lane)) return std::nullopt;
    }
    if (has_lane && !same(program, lane.upper, result.lane.upper)) return std::nullopt;
    if (!has_lane) result.lane = lane;
    has_lane = true;
  }
  if (!has_lane || !reads_own_lanes(program, layout, result, depth)) return std::nullopt;
  return result;
}

namespace {

/// What rows and points share: indices, and where a group's statements leave their values.
class GroupWriter {
 public:
  GroupWriter(Unit& unit, const Layout& layout, const RowGroup& group, bool streaming)
      : unit_(unit),
        e_(unit.expressions()),
        program_(unit.program()),
        layout_(layout),
        group_(group),
        lanes_(unit, streaming),
        streaming_(streaming) {}

 protected:
  const Statement& statement(std::size_t at) const { return program_.statements[at]; }
  Home home(TensorId id) const { return layout_.storage[static_cast<std::size_t>(id)].home; }
  Range lane_of(const Statement& s) const {
    const Expr& value = program_.expr(s.value);
    return value.kind == ExprKind::reduce ? value.bounds[0] : s.indices.back();
  }
  bool by_lanes(const Statement& s) const {
    return program_.expr(s.value).kind == ExprKind::reduce || s.indices.size() > group_.shared.size();
  }

  /// `flat` counts rows; the indices that they stand for.
  void bind_shared(const std::string& flat) {
    Code& code = e_.code();
    std::string rest = flat;
    std::vector<std::string> names(group_.shared.size());
    for (std::size_t i = group_.shared.size(); i-- > 0;) {
      names[i] = e_.bind(group_.shared[i].index);
      if (i == 0) {
        code.line("const index_t {} = {};", names[i], rest);
      } else {
        const std::string extent = e_.position(group_.shared[i].upper, 81), next = e_.take("rest");
        code.line("const index_t {} = {} % {}, {} = {} / {};", names[i], rest, extent, next, rest, extent);
        rest = next;
      }
    }
    for (const std::size_t at : group_.statements)
      for (std::size_t i = 0; i < group_.shared.size(); ++i)
        e_.bind_as(statement(at).indices[i].index, names[i]);
  }

  std::string row_of_target(const Statement& s) {
    return lanes_.row(s.target, {s.subscripts.begin(), s.subscripts.end() - 1});
  }
  bool read_later(const Statement& s) const {
    return std::ranges::any_of(group_.statements, [&](std::size_t at) {
      return &statement(at) != &s && reads(program_, statement(at).value, s.target);
    });
  }
  /// Memory for temporaries that leave the group.
  void give_memory() {
    for (const std::size_t at : group_.statements) {
      const TensorId id = statement(at).target;
      if (program_.tensor(id).role != TensorRole::temporary) continue;
      if (home(id) == Home::workspace) unit_.workspace_for(id);
    }
  }

  Unit& unit_;
  Expressions& e_;
  const Program& program_;
  const Layout& layout_;
  const RowGroup& group_;
  LaneWriter lanes_;
  bool streaming_;
};

class Rows : public GroupWriter {
 public:
  Rows(Unit& unit, const Layout& layout, const RowGroup& group, const RowChoices& choices)
      : GroupWriter(unit, layout, group, choices.streaming), choices_(choices) {}

  void write() {
    give_memory();
    if (!choices_.registers) {
      for (const std::size_t at : group_.statements)
        if (home(statement(at).target) == Home::row) unit_.workspace_for(statement(at).target);
    }
    std::string names, comment;
    for (const std::size_t at : group_.statements) {
      names = program_.tensor(statement(at).target).name;
      comment += (comment.empty() ? "" : "\n") + to_text(program_, statement(at));
    }
    Kernel kernel = unit_.begin("rows_" + names, comment);
    e_.write_to(kernel.body);
    const int rows_per_block = choices_.threads <= choices_.wave ? std::max(1, 256 / choices_.wave) : 1;
    const int block = choices_.threads <= choices_.wave ? rows_per_block * choices_.wave : choices_.threads;
    kernel.threads = block;
    kernel.block[0] = std::to_string(block);
    kernel.grid[0] = rows_per_block == 1
                         ? unit_.extents(group_.shared)
                         : fmt::format("ceil_div({}, {})", unit_.extents(group_.shared), rows_per_block);
    kernel.vector = choices_.vector;
    length_ = e_.position(group_.lane.upper, 61);
    kernel.vector_when = fmt::format("{} % {} == 0", e_.position(group_.lane.upper, 81), choices_.vector);
    Code& code = kernel.body;
    code.line("constexpr int threads = {};  // that share a row", choices_.threads);
    if (rows_per_block == 1) {
      code.line("const int place = ako::thread_x();");
      code.line("const index_t row = ako::block_x();");
    } else {
      code.line("const int place = ako::thread_x() % threads;");
      code.line("const index_t row = (index_t)ako::block_x() * {} + ako::thread_x() / threads;",
                rows_per_block);
      std::string all;
      for (const Range& range : group_.shared)
        all += (all.empty() ? "" : " * ") + e_.position(range.upper, 81);
      code.line("if (row >= {}) return;", all.empty() ? "1" : all);
    }
    bind_shared("row");
    if (choices_.registers) keep_rows();
    for (const std::size_t at : group_.statements) step(statement(at));
    e_.known = nullptr;
    unit_.end(std::move(kernel));
  }

  /// Rows that are read by several passes, or written and read again, stay in registers.
  std::map<std::string, TensorId> rows_to_keep() {
    std::map<std::string, int> uses;
    std::map<std::string, TensorId> result;
    std::map<std::string, TensorId> tensors;
    for (const std::size_t at : group_.statements) {
      const Statement& s = statement(at);
      if (!by_lanes(s)) continue;
      std::set<std::string> here;
      for (const LaneAccess& access : lane_accesses(program_, s, lane_of(s))) {
        const std::string where = lanes_.row(access.tensor, access.prefix);
        here.insert(where);
        tensors[where] = access.tensor;
      }
      for (const std::string& where : here) ++uses[where];
    }
    for (const auto& [where, count] : uses)
      if (count > 1) result[where] = tensors[where];
    for (const std::size_t at : group_.statements) {
      const Statement& s = statement(at);
      if (s.indices.size() > group_.shared.size() && read_later(s)) result[row_of_target(s)] = s.target;
    }
    return result;
  }

 private:
  void keep_rows() {
    Code& code = e_.code();
    code.line("constexpr int chunks = ({} + threads * V - 1) / (threads * V);  // of a row, per thread",
              choices_.longest);
    std::vector<std::string> loaded;
    for (const auto& [where, id] : rows_to_keep()) {
      const std::string array = lanes_.keep(where, id);
      code.line("vec<{}, V> {}[chunks];", e_.storage_type(id), array);
      const bool written = std::ranges::any_of(group_.statements, [&](std::size_t at) {
        return statement(at).target == id && program_.tensor(id).role != TensorRole::inout;
      });
      if (!written) loaded.push_back(where);
    }
    if (loaded.empty()) return;
    open_chunks();
    for (const std::string& where : loaded) lanes_.load_kept(where);
    close_chunks();
  }

  void open_chunks() {
    Code& code = e_.code();
    if (choices_.registers) {
      code.line("AKO_UNROLL");
      code.open("for (int chunk = 0; chunk < chunks; ++chunk)");
      code.line("const index_t first = (chunk * threads + place) * V;");
      code.line("if (first >= {}) continue;", length_);
    } else {
      code.open("for (index_t first = place * V; first < {}; first += threads * V)", length_);
    }
  }
  void close_chunks() { e_.code().close(); }

  void step(const Statement& s) {
    if (program_.expr(s.value).kind == ExprKind::reduce) {
      reduce(s);
    } else if (by_lanes(s)) {
      open_chunks();
      const bool row_only = choices_.registers && home(s.target) == Home::row;
      lanes_.map(s, lane_of(s), !row_only);
      close_chunks();
    } else {
      const std::string value = e_.as(program_.tensor(s.target).number, s.value);
      leave(s, value);
    }
  }

  /// A row's single value: in a variable for later statements, and in memory where others want it.
  void leave(const Statement& s, const std::string& value) {
    Code& code = e_.code();
    const Tensor& tensor = program_.tensor(s.target);
    std::string name = value;
    if (home(s.target) == Home::local) {
      name = e_.take(tensor.name + "_value");
      code.line("const {} {} = {};", e_.type(tensor.number), name, value);
      const TensorId target = s.target;
      const auto outer = e_.known;
      e_.known = [this, target, name, outer](ExprId id) -> std::optional<std::string> {
        const Expr& expr = program_.expr(id);
        if (expr.kind == ExprKind::access && expr.ref == target) return name;
        return outer ? outer(id) : std::nullopt;
      };
    }
    if (home(s.target) == Home::local && tensor.role == TensorRole::temporary) return;
    code.line("if (place == 0) {}", e_.store(s.target, e_.offset(s.target, s.subscripts), name));
  }

  void reduce(const Statement& s) {
    Code& code = e_.code();
    const Expr value = program_.expr(s.value);
    const bool largest = value.reduce == ReduceOp::argmax,
               argument = largest || value.reduce == ReduceOp::argmin;
    const std::string name = e_.take(argument ? "key" : "partial");
    const NumberClass number = argument ? NumberClass::real : value.type;
    const bool truth = value.type == NumberClass::boolean;
    const std::string type = argument ? "u64" : truth ? "int" : e_.type(value.type);
    code.line("{} {} = {};", type, name, argument ? "0" : e_.identity(value.reduce, value.type));
    open_chunks();
    const auto outer = e_.known;
    lanes_.open(s, value.bounds[0]);
    code.line("AKO_UNROLL");
    code.open("for (int v = 0; v < V; ++v)");
    if (value.condition) code.open("if ({})", e_.as(NumberClass::boolean, *value.condition));
    const std::string term = e_.as(number, value.args[0], 80);
    if (argument) {
      e_.need("argument_key");
      code.line("{0} = ako::max<u64>({0}, argument_key({1}{2}, (u32)(first + v)));", name, largest ? "" : "-",
                term);
    } else {
      code.line(e_.combined(value.reduce, name, term));
    }
    if (value.condition) code.close();
    code.close();
    e_.known = outer;
    close_chunks();
    std::string how = "sum_of";
    if (argument || value.reduce == ReduceOp::max || value.reduce == ReduceOp::any) how = "max_of";
    if (value.reduce == ReduceOp::min || value.reduce == ReduceOp::all) how = "min_of";
    if (value.reduce == ReduceOp::prod) {
      how = "product_of";
      e_.need("product_of");
    }
    const bool block = choices_.threads > choices_.wave;
    code.line("{0} = ako::{1}<{2}, threads>({0});", name, block ? "block_reduce" : "group_reduce", how);
    leave(s, argument ? fmt::format("(i64)(u32)~{}", name) : truth ? fmt::format("({} != 0)", name) : name);
  }

  RowChoices choices_;
  std::string length_;
};

class Points : public GroupWriter {
 public:
  Points(Unit& unit, const Layout& layout, const RowGroup& group, const PointChoices& choices)
      : GroupWriter(unit, layout, group, choices.streaming), choices_(choices) {}

  void write() {
    give_memory();
    std::string name, comment;
    for (const std::size_t at : group_.statements) {
      name = program_.tensor(statement(at).target).name;
      comment += (comment.empty() ? "" : "\n") + to_text(program_, statement(at));
    }
    Kernel kernel = unit_.begin("points_" + name, comment);
    e_.write_to(kernel.body);
    Code& code = kernel.body;
    const std::string length = e_.position(group_.lane.upper, 81);
    std::string rows_text, rows_plan;
    for (const Range& range : group_.shared)
      rows_text += (rows_text.empty() ? "" : " * ") + e_.position(range.upper, 81);
    const bool flat = group_.shared.empty();
    const std::string total_plan =
        flat ? unit_.extent(group_.lane) : unit_.extents(group_.shared) + " * " + unit_.extent(group_.lane);
    kernel.threads = choices_.threads;
    kernel.block[0] = std::to_string(choices_.threads);
    kernel.vector = choices_.vector;
    kernel.vector_when = fmt::format("{} % {} == 0", length, choices_.vector);
    // Rows that are no multiple of a vector take one element per thread: enough blocks for those, too.
    const std::string per_block = fmt::format("{}", choices_.threads * choices_.items);
    const std::string vectors = fmt::format("({0} / (1 + {1} * (1 - min(1, {2} % {3}))))", total_plan,
                                            choices_.vector - 1, unit_.extent(group_.lane), choices_.vector);
    kernel.grid[0] = fmt::format("ceil_div({}, {})", vectors, per_block);
    if (choices_.blocks > 0) kernel.grid[0] = fmt::format("min({}, {})", choices_.blocks, kernel.grid[0]);
    code.line("const index_t vectors = {} / V;", flat ? length : rows_text + " * " + length);
    const std::string step = fmt::format("{} * {}", choices_.threads, choices_.items);
    if (choices_.blocks > 0) {
      code.open(
          "for (index_t base = ako::block_x() * ({0}); base < vectors; base += ako::grid_size_x() * ({0}))",
          step);
    } else {
      code.line("const index_t base = (index_t)ako::block_x() * ({});", step);
    }
    if (choices_.items > 1) {
      code.line("AKO_UNROLL");
      code.open("for (int item = 0; item < {}; ++item)", choices_.items);
      code.line("const index_t number = base + item * {} + ako::thread_x();", choices_.threads);
      code.line("if (number >= vectors) break;");
    } else {
      code.line("const index_t number = base + ako::thread_x();");
      code.line("if (number >= vectors) {};", choices_.blocks > 0 ? "break" : "return");
    }
    if (flat) {
      code.line("const index_t first = number * V;");
    } else {
      code.line("const index_t row = number / ({} / V);", length);
      code.line("const index_t first = number * V - row * {};", length);
    }
    bind_shared("row");
    body();
    if (choices_.items > 1) code.close();
    if (choices_.blocks > 0) code.close();
    e_.known = nullptr;
    unit_.end(std::move(kernel));
  }

 private:
  void body() {
    bool keeps = false;
    for (const std::size_t at : group_.statements) {
      const Statement& s = statement(at);
      const bool inside =
          home(s.target) == Home::local && program_.tensor(s.target).role == TensorRole::temporary;
      if (inside || read_later(s)) {
        if (!std::exchange(keeps, true)) e_.code().line("constexpr int chunk = 0;");
        const std::string where = row_of_target(s);
        const std::string array = lanes_.keep(where, s.target);
        e_.code().line("vec<{}, V> {}[1];", e_.storage_type(s.target), array);
        if (program_.tensor(s.target).role == TensorRole::inout) lanes_.load_kept(where);
      }
      lanes_.map(s, s.indices.back(), !inside);
    }
  }

  PointChoices choices_;
};

}  // namespace

void write_rows(Unit& unit, const Layout& layout, const RowGroup& group, const RowChoices& choices) {
  Rows(unit, layout, group, choices).write();
}

void write_points(Unit& unit, const Layout& layout, const RowGroup& group, const PointChoices& choices) {
  Points(unit, layout, group, choices).write();
}

}  // namespace ako::synth::gpu
