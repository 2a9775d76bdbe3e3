// SPDX-License-Identifier: Apache-2.0
// Reductions on their own: the form that fusion, vectorization and contraction matching start from.
#include <utility>

#include "synth/program.h"

namespace ako::synth {

namespace {

/// The indices of a statement that an expression depends on, outermost first.
std::vector<Range> needed(const Program& program, const Statement& statement, ExprId value) {
  std::vector<Range> result;
  for (const Range& range : statement.indices) {
    if (mentions(program, value, range.index)) result.push_back(range);
  }
  return result;
}

/// `temporary[ranges] = value`, with indices of its own, and the access that stands for the value.
std::pair<Statement, ExprId> define_temporary(Program& program, const std::string& name,
                                              const std::vector<Range>& ranges, ExprId value) {
  Statement statement;
  std::map<IndexId, ExprId> renamed;
  std::vector<ExprId> shape;
  for (const Range& range : ranges) {
    const IndexId index = add_index(program, program.indices[static_cast<std::size_t>(range.index)].name);
    renamed[range.index] = index_expression(program, index);
    statement.indices.push_back({index, range.lower, range.upper});
    statement.subscripts.push_back(renamed[range.index]);
    shape.push_back(range.upper);
  }
  statement.target = add_temporary(program, name, program.expr(value).type, std::move(shape));
  statement.value = substitute(program, value, renamed);
  return {std::move(statement), access(program, statement.target, index_expressions(program, ranges))};
}

std::string reduction_name(const Program& program, const Expr& reduce) {
  static constexpr const char* names[] = {"sum",  "product", "largest",       "smallest",
                                          "some", "every",   "where_largest", "where_smallest"};
  std::string name = names[static_cast<int>(reduce.reduce)];
  for (const Range& range : reduce.bounds)
    name += "_" + program.indices[static_cast<std::size_t>(range.index)].name;
  return name;
}

class Hoist {
 public:
  Hoist(Program& program, const Statement& statement, std::vector<Statement>& before)
      : program_(program), statement_(statement), before_(before) {}

  ExprId value(ExprId id) {
    const Expr expr = program_.expr(id);
    if (expr.kind == ExprKind::reduce) return reduction(id, expr);
    // Only the chosen side of a choice is evaluated: what it reads may not exist otherwise.
    if (expr.kind == ExprKind::select || expr.fallback) return id;
    Expr copy = expr;
    for (ExprId& arg : copy.args) arg = value(arg);
    return copy.args == expr.args ? id : add(program_, std::move(copy));
  }

 private:
  ExprId reduction(ExprId id, const Expr& expr) {
    const std::vector<Range> ranges = needed(program_, statement_, id);
    for (const Range& range : ranges) {
      if (!rectangular(program_, range)) return id;
    }
    const bool everything = ranges.size() == statement_.indices.size();
    if (everything && (id == statement_.value || statement_.kind != StatementKind::define)) return id;
    auto [definition, stand_in] = define_temporary(program_, reduction_name(program_, expr), ranges, id);
    before_.push_back(std::move(definition));
    return stand_in;
  }

  Program& program_;
  const Statement& statement_;
  std::vector<Statement>& before_;
};

/// `y[i] = … y[other place] …`: the old values are wanted, so new ones go elsewhere first.
bool reads_elsewhere(const Program& program, const Statement& statement) {
  bool found = false;
  visit(program, statement.value, [&](ExprId e) {
    const Expr& expr = program.expr(e);
    if (expr.kind != ExprKind::access || expr.ref != statement.target) return;
    for (std::size_t axis = 0; axis < expr.args.size(); ++axis) {
      found = found || !same(program, expr.args[axis], statement.subscripts[axis]);
    }
  });
  return found;
}

}  // namespace

Program normalize(const Problem& problem) {
  Program program = problem;
  trim_to_readers(program);
  std::vector<Statement> statements;
  for (Statement statement : std::vector<Statement>(program.statements)) {
    statement.value = Hoist(program, statement, statements).value(statement.value);
    if (statement.kind == StatementKind::define && reads_elsewhere(program, statement)) {
      const std::string name = "new_" + program.tensor(statement.target).name;
      auto [definition, stand_in] = define_temporary(program, name, statement.indices, statement.value);
      statements.push_back(std::move(definition));
      statement.value = stand_in;
    }
    statements.push_back(std::move(statement));
  }
  program.statements = std::move(statements);
  return program;
}

}  // namespace ako::synth
