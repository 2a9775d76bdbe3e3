// SPDX-License-Identifier: Apache-2.0
// Expressions as device code, one element at a time, in fp32, or in fp64 for wide problems and for the
// reference.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "synth/code.h"
#include "synth/program.h"

namespace ako::synth::gpu {

/// How numbers are kept.
struct Numbers {
  bool wide = false;       // arithmetic in fp64
  bool reference = false;  // … and results unrounded; a later statement reads them rounded
  bool fast = false;       // elementary functions by the hardware's approximations
  const char* real() const { return wide || reference ? "double" : "float"; }
};

/// Where a tensor's elements are, and how they are written there.
struct Place {
  enum class Form : std::uint8_t {
    stored,  // in its declared type
    exact,   // in the arithmetic type, i64 or a byte
    real,    // fp64 whatever the class: the reference's results
  } form = Form::stored;
  std::string pointer;
  std::string before;  // recurrences: values ahead of the first, when the problem states them
  int axis = -1;       // … and the axis they lie ahead of
};

/// C++'s order, larger binds tighter.
struct Text {
  std::string text;
  int precedence = 100;
};

class Expressions {
 public:
  Expressions(const Program&, Numbers);

  const Program& program() const { return program_; }
  const Numbers& numbers() const { return numbers_; }
  std::string real() const { return numbers_.real(); }
  std::string type(NumberClass) const;

  std::string take(std::string_view wanted) { return names_.take(wanted); }
  void give_back(const std::string& name) { names_.give_back(name); }
  /// Names taken since a kernel began are free again when it ends.
  const Names& names() const { return names_; }
  void restore(Names names) { names_ = std::move(names); }
  const std::string& dim(DimId id) const { return dims_[static_cast<std::size_t>(id)]; }
  const std::string& scalar(ScalarId id) const { return scalars_[static_cast<std::size_t>(id)]; }
  const std::string& tensor(TensorId id) const { return tensors_[static_cast<std::size_t>(id)]; }
  Place& place(TensorId id) { return places_[static_cast<std::size_t>(id)]; }

  /// The variable that stands for an index; bind() makes a name for it.
  std::string bind(IndexId);
  void bind_as(IndexId index, std::string text) { indices_[index] = std::move(text); }
  void release(IndexId);
  const std::string& index_text(IndexId index) const { return indices_.at(index); }
  const Range& range_of(IndexId index) const { return ranges_.at(index); }

  /// A value of the wanted class. Loops of reductions go to the code first, or into a lambda where evaluation
  /// is conditional.
  std::string as(NumberClass, ExprId, int precedence = 0);
  /// Index arithmetic, in index_t.
  std::string position(ExprId, int precedence = 0);
  std::string offset(TensorId, const std::vector<ExprId>& subscripts);
  std::string load(TensorId, const std::string& offset);
  /// `pointer[offset] = value;` value is of the tensor's class.
  std::string store(TensorId, const std::string& offset, const std::string& value);
  std::string encoded(TensorId, const std::string& value);
  std::string storage_type(TensorId);

  std::string identity(ReduceOp, NumberClass) const;
  std::string combined(ReduceOp, const std::string& into, const std::string& value);
  std::string open_loop(const Range&);  // "for (…)"

  /// Called before an expression is printed: text that stands for it already.
  std::function<std::optional<std::string>(ExprId)> known;
  /// The statement whose recurrence is being written; its target's reads may lie ahead of the first.
  const Statement* recurrence = nullptr;

  void need(const std::string& support) { needs_.insert(support); }
  const std::set<std::string>& needs() const { return needs_; }
  void write_to(Code& code) { code_ = &code; }
  Code& code() { return *code_; }

 private:
  Text text(ExprId);
  Text access(const Expr&);
  Text unary(const Expr&);
  Text binary(const Expr&);
  Text call(const Expr&);
  Text cast(const Expr&);
  Text select(const Expr&);
  Text reduction(const Expr&);
  void reduction_loops(const Expr&, const std::string& result);
  Text position_text(ExprId);
  std::string inside(const Expr& access);
  std::string function(Op);
  std::string literal(double) const;
  Text converted(NumberClass from, NumberClass to, Text);

  const Program& program_;
  Numbers numbers_;
  Code* code_ = nullptr;
  Names names_;
  std::vector<std::string> dims_, scalars_, tensors_;
  std::vector<Place> places_;
  std::map<IndexId, std::string> indices_;
  std::map<IndexId, Range> ranges_;
  std::set<std::string> needs_;
  int lazy_ = 0;  // inside something that is evaluated only sometimes
};

/// The device header's name of a type in memory; packed ones are bytes.
std::string stored_type(ScalarType);
bool is_packed(ScalarType);

/// The text, in parentheses when it binds more loosely than its place wants.
std::string wrap(const Text&, int least);

}  // namespace ako::synth::gpu
