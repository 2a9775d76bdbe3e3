// SPDX-License-Identifier: Apache-2.0
// Statements that read along another axis than they write: a square of vectors is loaded along the axis that
// reads step along, turned in registers, and used row by row along the axis that is written.
#include <algorithm>

#include "synth/lanes.h"
#include "synth/loops.h"

namespace ako::synth {

namespace {

/// Elementwise, and every index in its own place on the left.
bool plain(const Program& program, const Statement& statement) {
  if (statement.kind != StatementKind::define || statement.indices.size() < 2) return false;
  if (statement.indices.size() != statement.subscripts.size()) return false;
  for (std::size_t i = 0; i < statement.indices.size(); ++i) {
    if (!rectangular(program, statement.indices[i]) ||
        !is_index(program, statement.subscripts[i], statement.indices[i].index))
      return false;
  }
  bool simple = program.expr(statement.value).type == NumberClass::real;
  visit(program, statement.value, [&](ExprId e) {
    const Expr& expr = program.expr(e);
    simple = simple && expr.kind != ExprKind::reduce && expr.kind != ExprKind::select && !expr.fallback;
  });
  return simple;
}

}  // namespace

std::optional<Loops::Transposed> Loops::transposed(const Group& group) const {
  if (printer_.choices().lanes <= 1 || group.statements.size() != 1) return std::nullopt;
  const Statement& statement = program_.statements[group.statements[0]];
  if (!plain(program_, statement) || !printer_.vector_storage(statement.target)) return std::nullopt;
  Transposed result{{}, statement.indices.back(), {}};
  bool fits = true;
  visit(program_, statement.value, [&](ExprId e) {
    const Expr& expr = program_.expr(e);
    if (expr.kind != ExprKind::access || !mentions(program_, e, result.along.index) ||
        printer_.unit_stride(expr, result.along.index))
      return;
    const auto across = std::ranges::find_if(statement.indices, [&](const Range& range) {
      return range.index != result.along.index && printer_.unit_stride(expr, range.index);
    });
    const bool other =
        result.across.index >= 0 && across != statement.indices.end() && across->index != result.across.index;
    fits = fits && across != statement.indices.end() && !other && expr.ref != statement.target;
    if (!fits) return;
    result.across = *across;
    result.reads.push_back(e);
  });
  if (!fits || result.reads.empty()) return std::nullopt;
  return result;
}

/// Threads share blocks of columns of what is written, so that each reads whole rows from end to end.
void Loops::tiles(const Group& group, const Transposed& turn) {
  Code& code = printer_.code();
  const Statement& statement = program_.statements[group.statements[0]];
  const int lanes = printer_.choices().lanes;
  code.comment(to_text(program_, statement));
  std::vector<Range> outer;
  for (const Range& range : statement.indices) {
    if (range.index != turn.across.index && range.index != turn.along.index) outer.push_back(range);
  }
  const Share share = open_share(turn.along, statement.indices, {});
  printer_.clear_share();
  for (const Range& range : outer) printer_.open_loop(range);
  const std::string along = printer_.bind(turn.along), across = printer_.bind(turn.across);
  const std::string from = printer_.take("from"), row = printer_.take("row");
  const std::string width = printer_.scalar(turn.across.upper, 61);
  note_scratch(statement.target);
  code.line("int64_t {} = {};", from, share.first);
  code.open("for (; {0} + {1} <= {2}; {0} += {1})", from, lanes, share.last);
  code.line("int64_t {} = 0;", across);
  code.open("for (; {0} + {1} <= {2}; {0} += {1})", across, lanes, width);
  std::vector<std::string> squares;
  for (const ExprId read : turn.reads) {
    const Expr access = program_.expr(read);
    squares.push_back(printer_.take(printer_.tensor_name(access.ref) + "_square"));
    code.line("vec {}[lanes];", squares.back());
    printer_.bind_as(turn.along, from + " + " + row);
    printer_.vectorize(turn.across.index);
    code.line("for (int {0} = 0; {0} < lanes; ++{0}) {1}[{0}] = {2};", row, squares.back(), [&] {
      const std::string text = printer_.vector(read);
      const std::string span = "span)", whole = "whole{})";
      const std::size_t at = text.rfind(span);
      return at == std::string::npos ? text : text.substr(0, at) + whole;
    }());
    printer_.need("v_transpose");
    code.line("v_transpose({});", squares.back());
    printer_.vectorize(-1);
  }
  code.open("for (int {0} = 0; {0} < lanes; ++{0})", row);
  code.line("constexpr whole span;");
  printer_.bind_as(turn.across, across + " + " + row);
  printer_.bind_as(turn.along, from);
  for (std::size_t i = 0; i < squares.size(); ++i)
    printer_.stand_in(turn.reads[i], squares[i] + "[" + row + "]");
  printer_.vectorize(turn.along.index);
  const std::string value = printer_.vector(statement.value);
  printer_.store(statement.target, statement.subscripts, value, true);
  printer_.vectorize(-1);
  printer_.clear_stand_ins();
  code.close();
  code.close();
  // What is left of the rows that are read, then of those that are written.
  printer_.bind_as(turn.across, across);
  printer_.bind_as(turn.along, along);
  const auto element = [&](const std::string& first, const std::string& last) {
    code.line("for (int64_t {0} = {1}; {0} < {2}; ++{0})", along, first, last);
    code.indent();
    printer_.store(statement.target, statement.subscripts, printer_.element(statement), false);
    code.outdent();
  };
  code.open("for (; {0} < {1}; ++{0})", across, width);
  element(from, fmt::format("{} + {}", from, lanes));
  code.close();
  code.close();
  code.open("for (int64_t {0} = 0; {0} < {1}; ++{0})", across, width);
  element(from, share.last);
  code.close();
  for (const Range& range : {turn.along, turn.across}) printer_.release(range);
  for (auto range = outer.rbegin(); range != outer.rend(); ++range) printer_.close_loop(*range);
  close_share(share);
}

}  // namespace ako::synth
