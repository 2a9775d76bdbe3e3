// SPDX-License-Identifier: Apache-2.0
#include "synth/gpu/lanes.h"

#include <algorithm>

namespace ako::synth::gpu {

bool is_lane_access(const Program& program, TensorId id, const std::vector<ExprId>& subscripts,
                    const Range& lane) {
  const Tensor& tensor = program.tensor(id);
  if (subscripts.empty() || (is_packed(tensor.type) && !tensor.exact)) return false;
  if (!is_index(program, subscripts.back(), lane.index) || !same(program, tensor.shape.back(), lane.upper))
    return false;
  return std::none_of(subscripts.begin(), subscripts.end() - 1,
                      [&](ExprId e) { return mentions(program, e, lane.index); });
}

namespace {

/// What is evaluated whatever the values are. A guarded access may lie outside of its tensor, unless nothing
/// but indices selects it.
void always_evaluated(const Program& program, ExprId id, bool certain, std::map<ExprId, bool>& found) {
  const Expr& expr = program.expr(id);
  found[id] = certain;
  for (std::size_t i = 0; i < expr.args.size(); ++i) {
    const bool chosen = expr.kind == ExprKind::select && i > 0;
    const bool second =
        expr.kind == ExprKind::binary && i > 0 && (expr.op == Op::logical_and || expr.op == Op::logical_or);
    always_evaluated(program, expr.args[i], certain && !chosen && !second && expr.kind != ExprKind::reduce,
                     found);
  }
}

}  // namespace

std::vector<LaneAccess> lane_accesses(const Program& program, const Statement& statement, const Range& lane) {
  std::vector<LaneAccess> result;
  std::map<ExprId, bool> certain;
  const Expr& value = program.expr(statement.value);
  const ExprId body = value.kind == ExprKind::reduce ? value.args[0] : statement.value;
  always_evaluated(program, body, true, certain);
  for (const auto& [id, always] : certain) {
    const Expr& expr = program.expr(id);
    if (expr.kind != ExprKind::access || expr.fallback || !is_lane_access(program, expr.ref, expr.args, lane))
      continue;
    const std::vector<ExprId> prefix(expr.args.begin(), expr.args.end() - 1);
    const bool plain = std::ranges::all_of(prefix, [&](ExprId e) { return bare_index(program, e) >= 0; });
    if (always || plain) result.push_back({id, expr.ref, prefix});
  }
  return result;
}

std::string LaneWriter::row(TensorId id, const std::vector<ExprId>& prefix) {
  const Tensor& tensor = e_.program().tensor(id);
  const std::string& pointer = e_.place(id).pointer;
  if (prefix.empty()) return pointer;
  std::string offset = e_.offset(id, prefix);
  if (prefix.size() > 1) offset = "(" + offset + ")";
  if (prefix.size() == 1 && e_.program().expr(prefix[0]).kind != ExprKind::index) offset = "(" + offset + ")";
  return fmt::format("{} + {} * {}", pointer, offset, e_.position(tensor.shape.back(), 81));
}

std::string LaneWriter::keep(const std::string& row, TensorId id) {
  auto [at, added] = kept_.emplace(row, "");
  if (added) at->second = e_.take(e_.tensor(id) + "_row");
  tensor_of_[row] = id;
  return at->second;
}

void LaneWriter::load_kept(const std::string& row) {
  e_.code().line("{}[chunk] = ako::{}<V>({} + first);", kept_.at(row), streaming_ ? "load_streaming" : "load",
                 row);
}

void LaneWriter::open(const Statement& statement, const Range& lane) {
  Code& code = e_.code();
  texts_.clear();
  std::map<std::string, std::string> loaded;
  for (const LaneAccess& access : lane_accesses(e_.program(), statement, lane)) {
    const std::string where = row(access.tensor, access.prefix);
    std::string vector;
    if (is_kept(where)) {
      vector = kept_.at(where) + "[chunk]";
    } else if (const auto before = loaded.find(where); before != loaded.end()) {
      vector = before->second;
    } else {
      vector = e_.take(e_.tensor(access.tensor) + "_lanes");
      code.line("const auto {} = ako::load<V>({} + first);", vector, where);
      loaded[where] = vector;
    }
    Place& place = e_.place(access.tensor);
    const std::string pointer = std::exchange(place.pointer, vector);
    texts_[access.expr] = e_.load(access.tensor, "v");
    place.pointer = pointer;
  }
  e_.bind_as(lane.index, "(first + v)");
  const auto outer = e_.known;
  e_.known = [this, outer](ExprId id) -> std::optional<std::string> {
    if (const auto found = texts_.find(id); found != texts_.end()) return found->second;
    return outer ? outer(id) : std::nullopt;
  };
}

void LaneWriter::map(const Statement& statement, const Range& lane, bool to_memory) {
  Code& code = e_.code();
  const auto outer = e_.known;
  const std::vector<ExprId> prefix(statement.subscripts.begin(), statement.subscripts.end() - 1);
  const std::string where = row(statement.target, prefix);
  const std::string result =
      is_kept(where) ? kept_.at(where) + "[chunk]" : e_.take(e_.tensor(statement.target) + "_out");
  open(statement, lane);
  if (!is_kept(where)) code.line("vec<{}, V> {};", e_.storage_type(statement.target), result);
  code.line("AKO_UNROLL");
  code.open("for (int v = 0; v < V; ++v)");
  const std::string value = e_.as(e_.program().tensor(statement.target).number, statement.value);
  code.line("{}[v] = {};", result, e_.encoded(statement.target, value));
  code.close();
  if (to_memory)
    code.line("ako::{}({} + first, {});", streaming_ ? "store_streaming" : "store", where, result);
  e_.known = outer;
}

}  // namespace ako::synth::gpu
