// SPDX-License-Identifier: Apache-2.0
// From a problem's math to the C++ of its reference. A statement becomes a loop nest in the order written;
// before its nest, some of its reductions become arrays of their own:
//   contraction  sum of a product that splits in two operands: a blocked matrix product
//   scan         one running pass over the axis
// and reductions that do not change along inner loops are computed outside of them. What remains of a
// reduction is a loop in place, inside an immediately called lambda, so that branches not taken cost nothing.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "problem/dependence.h"
#include "problem/problem.h"

namespace ako {

/// Helpers that every reference starts with, and those for contractions.
std::string_view reference_basics();
std::string_view reference_contraction();

/// double, i64 or bool; the value of an empty reduction; "into += value;".
std::string reference_type(NumberClass);
std::string reference_identity(ReduceOp, NumberClass);
std::string combined(ReduceOp, NumberClass, const std::string& into, const std::string& value);
/// Every line but the first moved right.
std::string indented(std::string_view text, int spaces);
std::string indented_comment(std::string_view text);

/// Lines of C++ at a depth; text of several lines keeps its relative indentation, directives go where they
/// stand.
class CodeWriter {
 public:
  void line(std::string_view text);
  void open(std::string_view text) {
    line(text);
    ++depth_;
  }
  void close(std::string_view text = "}") {
    --depth_;
    line(text);
  }
  const std::string& text() const { return text_; }

 private:
  int depth_ = 0;
  std::string text_;
};

/// Gives every entity an identifier of its own, its name in the problem file where C++ and the helpers leave
/// it free.
class CodeNames {
 public:
  explicit CodeNames(const Problem&);
  std::string fresh(std::string_view wanted);
  const std::string& dim(DimId which) const { return dims_[static_cast<std::size_t>(which)]; }
  const std::string& scalar(ScalarId which) const { return scalars_[static_cast<std::size_t>(which)]; }
  const std::string& tensor(TensorId which) const { return tensors_[static_cast<std::size_t>(which)]; }
  const std::string& before(TensorId which) const { return before_[static_cast<std::size_t>(which)]; }
  const std::string& index(IndexId which) const { return indices_[static_cast<std::size_t>(which)]; }

 private:
  std::set<std::string> taken_;
  std::vector<std::string> dims_, scalars_, tensors_, before_, indices_;
};

/// Where the values of a tensor are while statements are lowered one after the other.
enum class Residence : std::uint8_t { nowhere, storage, array };

class ReferenceLowering {
 public:
  explicit ReferenceLowering(const Problem&);
  std::string source();

 private:
  using Ranges = std::vector<Range>;
  struct Contraction {
    ExprId reduction = -1;
    Ranges batch, rows, columns, depth;
    std::vector<ExprId> left, right;  // factors
  };
  struct Hoisted {
    ExprId reduction = -1;
    std::size_t level = 0;  // computed inside the loops before this one
  };
  /// The part of an index's range that the running thread walks.
  struct Share {
    IndexId index = -1;
    std::string from, to;
  };

  // reference_expression.cpp: C++ for expressions, of their natural type or converted to another.
  std::string expression(ExprId);
  std::string as(NumberClass, ExprId);
  static std::string converted(NumberClass from, NumberClass to, const std::string& text);
  std::string real(ExprId which) { return as(NumberClass::real, which); }
  std::string integer(ExprId which) { return as(NumberClass::integer, which); }
  std::string access(const Expr&);
  bool always_inside(ExprId subscript, ExprId extent);
  std::string element(const Expr&);
  std::string rounded(const Tensor&, const std::string& value) const;
  std::string cast(const Expr&);
  std::string unary(const Expr&);
  std::string binary(const Expr&);
  std::string call(const Expr&);
  std::string select(const Expr&);
  std::string reduction(ExprId);
  std::string loop_header(const Range&);
  /// Row-major position from subscripts and extents.
  static std::string position(const std::vector<std::string>& subscripts,
                              const std::vector<std::string>& extents);
  std::vector<std::string> extent_texts(const Tensor&);
  std::string extent(const Range&);
  std::string product_of_extents(const Ranges&);

  // reference_contraction.cpp: what is computed ahead of a statement's loops.
  std::optional<Contraction> as_contraction(ExprId, const Statement&);
  void extract(const Statement&);
  void extract_contraction(const Contraction&, bool guarded);
  bool extract_scan(ExprId, const Statement&, bool guarded);
  std::string unflatten(const Ranges&, const std::string& flat);
  std::string replacement_position(const Ranges& order);

  // reference_source.cpp
  void tables();
  void arguments();

  // reference_statement.cpp
  void statement(std::size_t number);
  void prepare_target(const Statement&);
  void initial(const Statement&);
  void recurrence(const Statement&);
  void accumulate(const Statement&);
  void elementwise(const Statement&);
  std::vector<Hoisted> hoistable(const Statement&, const Ranges& loops);
  void emit_hoisted(const std::vector<Hoisted>&, std::size_t level, std::vector<ExprId>& replaced);
  void nest(const Statement&, const Ranges& loops, std::size_t parallel, bool vectorizable);
  std::string store(const Statement&);
  void release_after(std::size_t number);
  void allocate(const std::string& type, const std::string& name, const std::string& count);
  std::string element_type(const Tensor&) const;
  bool constant_bounds(const Range&) const;

  const Problem& problem_;
  CodeNames names_;
  CodeWriter out_;
  std::vector<Range> range_of_index_;
  std::vector<Residence> residence_;
  std::vector<bool> has_initial_;
  std::map<ExprId, std::string> replaced_;     // reductions computed ahead, by what they became
  std::vector<std::string> statement_arrays_;  // freed when the statement ends
  bool guarded_ = false;  // evaluated ahead of a guard: reads must check their subscripts
  const Statement* current_ = nullptr;
  std::optional<Share> share_;
};

}  // namespace ako
