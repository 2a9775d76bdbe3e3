// SPDX-License-Identifier: Apache-2.0
// Statements whose order of evaluation matters: scans, recurrences, updates. Threads share an index along
// which everything is independent; lanes run along the last axis where it is independent too.
#include <algorithm>

#include "synth/lanes.h"
#include "synth/loops.h"

namespace ako::synth {

namespace {

/// Indices that stand by themselves on the same axis wherever the statement touches its target: iterations
/// along them never meet.
std::vector<IndexId> independent(const Program& program, const Statement& statement) {
  std::vector<IndexId> result;
  for (std::size_t axis = 0; axis < statement.subscripts.size(); ++axis) {
    const IndexId index = bare_index(program, statement.subscripts[axis]);
    if (index < 0) continue;
    bool alone = true;
    visit(program, statement.value, [&](ExprId e) {
      const Expr& expr = program.expr(e);
      if (expr.kind == ExprKind::access && expr.ref == statement.target)
        alone = alone && is_index(program, expr.args[axis], index);
    });
    if (alone) result.push_back(index);
  }
  return result;
}

bool contains(const std::vector<IndexId>& list, IndexId index) {
  return std::ranges::find(list, index) != list.end();
}

}  // namespace

void Loops::in_order(const Statement& statement) {
  if (statement.kind == StatementKind::initial) return printer_.add_initial(statement);
  printer_.code().comment(to_text(program_, statement));
  if (statement.kind == StatementKind::recurrence) return recurrence(statement);
  if (statement.kind == StatementKind::accumulate) return update(statement);
  scan(statement);
}

/// Loops in the given order; `shared` is dealt out among threads from outside, `along` (the last one) runs by
/// lanes.
void Loops::ordered_loops(const Statement& statement, std::vector<Range> loops, const Range* shared,
                          const Range* along) {
  Code& code = printer_.code();
  const bool by_share = shared != nullptr && printer_.choices().threads > 1;
  std::optional<Share> share;
  if (by_share) share = open_share(*shared, loops, {shared->index});
  if (along != nullptr) loops.pop_back();
  for (const Range& range : loops) printer_.open_loop(range);
  note_scratch(statement.target);
  const auto combined = [&](const std::string& value, bool lanes) {
    if (statement.kind != StatementKind::accumulate) return value;
    const ExprId old = printer_.old_value(statement);
    const std::string before = lanes ? printer_.vector(old) : printer_.scalar(old, 70);
    switch (statement.accumulate) {
      case ReduceOp::sum:
        return fmt::format("{} + ({})", before, value);
      case ReduceOp::prod:
        return fmt::format("({}) * ({})", before, value);
      case ReduceOp::max:
        printer_.need("larger");
        return fmt::format("larger({}, {})", before, value);
      default:
        printer_.need("smaller");
        return fmt::format("smaller({}, {})", before, value);
    }
  };
  if (along == nullptr) {
    const std::string value = printer_.element(statement);
    printer_.store(statement.target, statement.subscripts, combined(value, false), false);
  } else {
    const std::string function = printer_.take("pass");
    const std::string index = printer_.bind(*along);
    code.open("const auto {} = [&](int64_t {}, auto span) __attribute__((always_inline))", function, index);
    printer_.vectorize(along->index);
    const std::string value = printer_.vector(statement.value);
    printer_.store(statement.target, statement.subscripts, combined(value, true), true);
    printer_.vectorize(-1);
    code.close("};");
    lane_loops(printer_, *along, index, function, {});
    printer_.release(*along);
    printer_.give_back(function);
  }
  for (auto range = loops.rbegin(); range != loops.rend(); ++range) printer_.close_loop(*range);
  if (share) close_share(*share);
}

void Loops::recurrence(const Statement& statement) {
  const IndexId step = bare_index(program_, statement.subscripts[static_cast<std::size_t>(statement.axis)]);
  const std::vector<IndexId> free = independent(program_, statement);
  // Independent indices go outside the steps, except the last one when lanes run along it; coupled ones
  // inside.
  std::vector<Range> outside, inside;
  const Range* along = nullptr;
  const Range* steps = nullptr;
  const Range& last = statement.indices.back();
  for (const Range& range : statement.indices) {
    if (range.index == step)
      steps = &range;
    else if (&range == &last && contains(free, range.index) && lanes_pay(statement, range))
      along = &range;
    else
      (contains(free, range.index) && rectangular(program_, range) ? outside : inside).push_back(range);
  }
  std::vector<Range> loops = outside;
  loops.push_back(*steps);
  loops.insert(loops.end(), inside.begin(), inside.end());
  if (along != nullptr) loops.push_back(*along);
  const Range* shared = outside.empty() ? along : &outside.front();
  ordered_loops(statement, loops, shared, along);
}

/// The elements that are updated start from zero (or what the update leaves alone) unless a value was given
/// before.
void Loops::clear(const Statement& statement) {
  const Tensor& tensor = program_.tensor(statement.target);
  if (tensor.role == TensorRole::inout || !cleared_.insert(statement.target).second) return;
  for (const Statement& other : program_.statements) {
    if (other.target == statement.target && other.kind != StatementKind::accumulate) return;
  }
  const std::string i = printer_.take("i");
  printer_.code().open("for (int64_t {0} = 0; {0} < {1}; ++{0})", i,
                       printer_.extent_text(statement.target, 0));
  printer_.store_at(statement.target, i, printer_.identity(statement.accumulate, tensor.number));
  printer_.code().close();
  printer_.give_back(i);
}

void Loops::update(const Statement& statement) {
  clear(statement);
  const std::vector<IndexId> free = independent(program_, statement);
  const Range& last = statement.indices.back();
  const bool by_lanes = contains(free, last.index) &&
                        is_index(program_, statement.subscripts.back(), last.index) &&
                        lanes_pay(statement, last);
  const Range* shared = nullptr;
  for (const Range& range : statement.indices) {
    if (contains(free, range.index) && rectangular(program_, range)) shared = &range;
  }
  ordered_loops(statement, statement.indices, shared, by_lanes ? &last : nullptr);
}

}  // namespace ako::synth
