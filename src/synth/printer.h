// SPDX-License-Identifier: Apache-2.0
// Expressions as C++ text: for one element, or for `lanes` neighbours along one index at once.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "synth/choices.h"
#include "synth/code.h"
#include "synth/groups.h"
#include "synth/program.h"

namespace ako::synth {

/// Text with the precedence of its outermost operator (C++'s order, larger binds tighter).
struct Text {
  std::string text;
  int precedence = 100;
  bool vector = false;
};

/// Everything that printing depends on. One per translation unit.
class Printer {
 public:
  /// The program must outlive it; expressions are added to it while printing.
  Printer(Program&, const Layout&, const Choices&);

  const Program& program() const { return program_; }
  const Choices& choices() const { return choices_; }
  Code& code() { return *code_; }
  const std::string& real() const { return real_; }  // "float" or "double"
  bool wide() const { return wide_; }

  /// Support code (support.h) that the text so far calls for.
  const std::set<std::string>& needs() const { return needs_; }
  void need(const std::string& support) { needs_.insert(support); }

  std::string take(std::string_view wanted) { return names_.take(wanted); }
  void give_back(const std::string& name) { names_.give_back(name); }
  const std::string& tensor_name(TensorId id) const { return tensors_[static_cast<std::size_t>(id)]; }
  const std::string& dim_name(DimId id) const { return dims_[static_cast<std::size_t>(id)]; }
  const std::string& scalar_name(ScalarId id) const { return scalars_[static_cast<std::size_t>(id)]; }
  const Storage& storage(TensorId id) const { return layout_.storage[static_cast<std::size_t>(id)]; }

  /// Gives an index a variable; `range` tells which values it takes.
  std::string bind(const Range& range);
  void bind_as(const Range& range, std::string text);
  void release(const Range& range);
  /// for (int64_t i = lower; i < upper; ++i) {
  void open_loop(const Range& range);
  void close_loop(const Range& range);
  const std::string& index_text(IndexId index) const { return indices_.at(index); }
  /// Lower and upper bound as text.
  std::pair<std::string, std::string> bounds(const Range& range);
  /// These indices are dealt out: loops over them run over [first, last) only.
  void share(std::set<IndexId> indices, std::string first, std::string last) {
    share_ = Share{std::move(indices), std::move(first), std::move(last)};
  }
  void clear_share() { share_.reset(); }

  /// One element. Loops for reductions inside go to code() first.
  std::string scalar(ExprId id, int precedence = 0);
  /// `lanes` elements, beginning where the vector index stands; `span` in scope is `whole` or `part`.
  Text lanes(ExprId id);
  std::string vector(ExprId id, int precedence = 0);  // a vector even where all lanes are equal
  /// A real expression as lanes where it varies along the vector index, else as one value.
  std::string lanes_or_one(ExprId id, int precedence);
  std::string mask(ExprId id);
  /// Lanes run along this index; -1: one element at a time.
  void vectorize(IndexId index) { vector_ = index; }
  IndexId vector_index() const { return vector_; }
  /// Within a pass, a temporary's current value is in this variable.
  void set_register(TensorId tensor, std::string name) { registers_[tensor] = std::move(name); }
  void clear_registers() { registers_.clear(); }
  const std::string* find_register(TensorId tensor) const;
  /// An expression's lanes are in this variable.
  void stand_in(ExprId id, std::string name) { stand_ins_[id] = std::move(name); }
  void clear_stand_ins() { stand_ins_.clear(); }

  /// Whether an access moves by one element when `index` does, in storage that vectors are loaded from.
  bool unit_stride(const Expr& access, IndexId index) const;
  bool vector_storage(TensorId) const;

  /// `target = value` for one element or for lanes; `value` is text of the arithmetic type.
  void store(TensorId target, const std::vector<ExprId>& subscripts, const std::string& value, bool lanes);
  void store_at(TensorId target, const std::string& offset, const std::string& value);
  /// A statement's value for one element, converted to what its target takes.
  std::string element(const Statement&);
  /// A value as a declared temporary holds it.
  std::string rounded(TensorId, const std::string& value);
  /// What an update reads before it writes.
  ExprId old_value(const Statement&);
  std::string offset(TensorId, const std::vector<ExprId>& subscripts);
  std::string load(TensorId, const std::string& offset);
  std::string value_type(TensorId) const;                     // of a variable that holds an element
  std::string extent_text(TensorId, std::size_t first_axis);  // product of extents from an axis on

  std::string identity(ReduceOp, NumberClass) const;
  /// "acc = acc op value;" as a statement's text.
  std::string combine(ReduceOp, const std::string& accumulator, const std::string& value);
  std::string index_bound(ExprId id) { return scalar(id); }
  const std::map<IndexId, Range>& ranges() const { return ranges_; }
  void add_initial(const Statement& statement) { initials_.push_back(statement); }

 private:
  Text one(ExprId id);
  Text one_access(const Expr&);
  Text one_unary(const Expr&);
  Text one_binary(const Expr&);
  Text one_call(const Expr&);
  Text one_select(const Expr&);
  bool reduces_by_lanes(const Expr&) const;
  Text one_reduce_by_lanes(const Expr&);
  Text one_place_by_lanes(const Expr&);
  Text one_reduce(const Expr&);
  Text lazily(ExprId id);
  Text one_scalar(ScalarId);
  Text real_operand(ExprId);
  Text real_operand_of(ExprId, NumberClass);
  std::optional<int> small_power(const Expr&) const;
  bool register_is_vector(const Expr& access) const;
  Text real_literal(double) const;
  std::string in_range(const Expr& access, IndexId trusted);
  std::optional<Text> before_first(const Expr& access);

  Text many(ExprId id);
  Text many_integer(ExprId id);
  Text real_lanes(ExprId id);
  std::string real_vector(ExprId id);
  Text many_access(ExprId id);
  Text many_binary(ExprId id);
  Text many_call(ExprId id);
  Text many_select(ExprId id);
  Text many_halves(ExprId id);
  Text many_reduce(ExprId id);
  Text element_by_element(ExprId id);
  bool integer_lanes(ExprId id) const;
  bool always_in_range(ExprId id) const;
  bool varies(ExprId id) const { return vector_ >= 0 && mentions(program_, id, vector_); }

  Program& program_;
  const Layout& layout_;
  const Choices& choices_;
  Code* code_ = nullptr;
  Names names_;
  std::vector<std::string> tensors_, dims_, scalars_;
  std::map<IndexId, std::string> indices_;
  std::map<IndexId, Range> ranges_;
  std::map<TensorId, std::string> registers_;
  std::map<ExprId, std::string> stand_ins_;
  struct Share {
    std::set<IndexId> indices;
    std::string first, last;
  };
  std::optional<Share> share_;
  std::vector<Statement> initials_;
  std::set<std::string> needs_;
  IndexId vector_ = -1;
  bool single_lane_ = false;  // inside element_by_element: registers are read at `lane`
  bool wide_ = false;
  std::string real_ = "float";

 public:
  /// Where text goes; the caller owns it.
  void write_to(Code& code) { code_ = &code; }
};

}  // namespace ako::synth
