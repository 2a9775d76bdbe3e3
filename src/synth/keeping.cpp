// SPDX-License-Identifier: Apache-2.0
// Results that later statements read again, kept beside themselves: what is written past the caches is far
// away a moment later, so the row is kept in scratch for those who read it.
#include <algorithm>
#include <utility>

#include "synth/groups.h"
#include "synth/program.h"

namespace ako::synth {

namespace {

/// Arrays that one statement writes whole and later ones read.
bool read_again(const Program& program, std::size_t at) {
  const Statement& statement = program.statements[at];
  const Tensor& tensor = program.tensor(statement.target);
  if (tensor.role != TensorRole::output || statement.kind != StatementKind::define) return false;
  if (statement.indices.empty() || program.expr(statement.value).kind == ExprKind::reduce) return false;
  bool again = false, spoiled = tensor.type != ScalarType::f32;
  for (std::size_t i = 0; i < program.statements.size(); ++i) {
    const Statement& other = program.statements[i];
    if (i != at && other.target == statement.target) spoiled = true;
    visit(program, other, [&](ExprId e) {
      const Expr& expr = program.expr(e);
      if (expr.kind != ExprKind::access || expr.ref != statement.target) return;
      (i > at && !expr.fallback ? again : spoiled) = true;
    });
  }
  return again && !spoiled;
}

/// `kept[…] = value; target[…] = kept[…]`, and later statements read `kept`.
TensorId keep(Program& program, std::size_t at) {
  const Statement old = program.statements[at];
  const Tensor tensor = program.tensor(old.target);
  Statement definition;
  std::map<IndexId, ExprId> renamed;
  for (const Range& range : old.indices) {
    const IndexId index = add_index(program, program.indices[static_cast<std::size_t>(range.index)].name);
    renamed[range.index] = index_expression(program, index);
    definition.indices.push_back({index, range.lower, range.upper});
    definition.subscripts.push_back(renamed[range.index]);
  }
  definition.target = add_temporary(program, tensor.name + "_kept", NumberClass::real, tensor.shape);
  definition.value = substitute(program, old.value, renamed);
  program.statements[at].value = access(program, definition.target, old.subscripts);
  for (std::size_t i = at + 1; i < program.statements.size(); ++i) {
    for (ExprId read = 0; read >= 0;) {
      read = -1;
      visit(program, program.statements[i].value, [&](ExprId e) {
        if (program.expr(e).kind == ExprKind::access && program.expr(e).ref == old.target) read = e;
      });
      if (read < 0) break;
      const ExprId there = access(program, definition.target, program.expr(read).args);
      program.statements[i].value = replace(program, program.statements[i].value, read, {}, there);
    }
  }
  program.statements.insert(program.statements.begin() + static_cast<std::ptrdiff_t>(at), definition);
  return definition.target;
}

/// Each of the statement's own indices in its place: another order would make the copy a transpose.
bool in_order(const Statement& statement, const Program& program) {
  if (statement.indices.size() != statement.subscripts.size()) return false;
  for (std::size_t i = 0; i < statement.indices.size(); ++i) {
    if (!is_index(program, statement.subscripts[i], statement.indices[i].index)) return false;
  }
  return true;
}

}  // namespace

int keep_written_rows(Program& program) {
  int kept = 0;
  for (std::size_t at = 0; at < program.statements.size(); ++at) {
    if (!in_order(program.statements[at], program) || !read_again(program, at)) continue;
    Program changed = program;
    const TensorId tensor = keep(changed, at);
    // Only a row: a whole second array would cost what it saves.
    const Home home = fuse(changed).storage[static_cast<std::size_t>(tensor)].home;
    if (home != Home::row && home != Home::local) continue;
    program = std::move(changed);
    ++kept;
    ++at;
  }
  return kept;
}

}  // namespace ako::synth
