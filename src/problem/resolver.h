// SPDX-License-Identifier: Apache-2.0
// Gives meaning to syntax: names become dims, scalars, tensors and indices; every expression gets its number
// class. An ExprId of -1 stands for an expression in which a mistake was already reported; it never causes
// another.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "problem/document.h"
#include "problem/problem.h"
#include "problem/syntax.h"

namespace ako {

class Resolver {
 public:
  Resolver(Problem& problem, Diagnostics& diagnostics) : problem_(problem), diagnostics_(diagnostics) {}

  /// Dims, scalars and tensors; the shapes, of which temporaries' extents are compared on; then the
  /// statements.
  void declare(const Document&);
  void read_shapes(const Document&);
  void read_math(const Document&);

 private:
  struct Symbol {
    enum class Kind : std::uint8_t { dim, scalar, tensor, broken } kind = Kind::broken;
    std::int32_t ref = -1;
  };
  struct Scope {
    std::string name;
    IndexId index;
  };
  /// What has happened to a tensor in the statements so far.
  struct Progress {
    bool assigned_somewhere = false;
    bool assigned = false;  // by a statement before this one
    bool read = false;
    int first_line = 0;
    int initial_axis = -1;
    Spot initial_spot;
    bool initial_used = false;
  };

  // declare.cpp
  void declare_outputs(const Document&);
  void declare_cost(const Document&);
  bool claim(const Text& name, std::string_view what, Symbol symbol);
  void declare_scalar(const Document::Scalar&);
  void declare_tensor(const Document::Tensor&);
  std::optional<ScalarType> type_named(const Text&);
  void resolve_values();
  std::optional<ValueSpec> value_spec(const Syntax&, const Tensor&);
  std::optional<ValueSpec> value_arguments(const Syntax&, const Tensor&, ValueSpec);
  void check_use();
  void check_tensor_use(const Tensor&, const Progress&);

  // resolve_statement.cpp
  void statement(std::size_t which);
  void define(const SyntaxStatement&, TensorId, std::vector<Range>);
  void initial(const SyntaxStatement&, TensorId, int axis);
  void accumulate(const SyntaxStatement&, TensorId);
  std::optional<TensorId> target_of(const SyntaxStatement&, std::size_t which);
  bool rank_agrees(const SyntaxStatement&, const Tensor&);
  std::optional<std::vector<Range>> left_indices(const SyntaxStatement&, const Tensor&, int skip_axis);
  ExprId assigned_value(const SyntaxStatement&, TensorId);
  void finish(Statement, const Spot&);
  void broken_target(const std::string& name);

  // infer_extents.cpp
  std::optional<TensorId> new_temporary(const SyntaxStatement&, NumberClass);
  ExprId inferred_extent(const std::string& index, const SyntaxStatement&, const Spot&);
  ExprId explicit_extent(const Syntax& bounded);

  // resolve_expression.cpp
  ExprId expression(const Syntax&);
  ExprId integer_expression(const Syntax&, std::string_view where);
  ExprId real_or_same(ExprId, NumberClass wanted);  // promotes an integer to real where asked
  ExprId name(const Syntax&);
  ExprId negation(const Syntax&);
  ExprId binary(const Syntax&);
  ExprId arithmetic(Op, const Spot&, ExprId left, ExprId right);
  ExprId comparison(Op, const Spot&, ExprId left, ExprId right);
  ExprId chain(const Syntax&);
  ExprId call(const Syntax&);
  ExprId select(const Syntax&);
  ExprId apply(const struct Function&, const Syntax&, std::vector<ExprId>);
  ExprId unknown(const Syntax&);
  bool arity_is(const Syntax&, std::size_t);
  bool is_number(ExprId, const Spot&, std::string_view user);

  // resolve_access.cpp
  ExprId access(const Syntax&);
  bool readable(const Syntax&, TensorId, const Expr&);
  bool recurs(const Syntax&, TensorId, const Expr&);

  // resolve_reduction.cpp
  ExprId reduction(const Syntax&);
  bool bind(const SyntaxBound&, Range&);
  bool scan_is_a_prefix(const Syntax&, const Expr&);

  // expressions of the arena
  ExprId add(Expr, const Spot&);
  ExprId int_literal(std::int64_t, const Spot&);
  ExprId plus_one(ExprId, const Spot&);
  Expr& expr(ExprId which) { return problem_.exprs[static_cast<std::size_t>(which)]; }
  Tensor& tensor(TensorId which) { return problem_.tensors[static_cast<std::size_t>(which)]; }
  bool mentions(ExprId, IndexId) const;
  bool divides_integers(ExprId) const;

  const Symbol* find(const std::string& symbol_name) const;
  const Scope* find_scope(const std::string& index) const;
  IndexId new_index(const std::string& index_name);
  std::vector<std::string> known_names() const;
  std::vector<std::string> dim_names() const;
  ExprId mistake(const Spot& spot, std::string what, std::string advice = {}) {
    diagnostics_.add(spot, std::move(what), std::move(advice));
    return -1;
  }

  Problem& problem_;
  Diagnostics& diagnostics_;
  std::map<std::string, Symbol> symbols_;
  std::vector<Progress> progress_;                // by TensorId
  std::vector<std::optional<Text>> value_texts_;  // by TensorId
  std::set<std::string> dims_used_, scalars_used_;
  std::map<std::string, Spot> declared_at_;
  std::vector<SyntaxStatement> syntax_;
  std::set<std::string> python_outputs_;

  // of the statement being resolved
  std::vector<Scope> scopes_;
  std::vector<Range> loops_;  // its indices: what a scan may end at and a recurrence must step
  TensorId target_ = -1;
  bool self_reads_allowed_ = false;
  int recurrence_axis_ = -1;
  int reduce_depth_ = 0;
  bool constant_only_ = false;
  bool too_large_ = false;
};

}  // namespace ako
