// SPDX-License-Identifier: Apache-2.0
// Reads of tensors: rank, fallback, and whether there is a value to read; a tensor that reads itself recurs.
#include <fmt/format.h>

#include "problem/resolver.h"
#include "problem/words.h"

namespace ako {

ExprId Resolver::access(const Syntax& syntax) {
  const Symbol* symbol = find(syntax.text);
  if (!symbol || symbol->kind != Symbol::Kind::tensor || constant_only_) {
    if (symbol && symbol->kind == Symbol::Kind::broken) return -1;
    if (symbol && !constant_only_)
      return mistake(syntax.spot, fmt::format("`{}` has no subscripts: it is a {}", syntax.text,
                                              symbol->kind == Symbol::Kind::dim ? "dim" : "scalar"));
    return unknown(syntax);
  }
  const Tensor& source = tensor(symbol->ref);
  if (syntax.args.size() != source.shape.size())
    return mistake(syntax.spot,
                   fmt::format("{} has {} {}, not {}", syntax.text, source.shape.size(),
                               source.shape.size() == 1 ? "axis" : "axes", syntax.args.size()),
                   source.shape.empty() ? fmt::format("write just `{}`", syntax.text)
                                        : "give one subscript for each axis of its shape");
  Expr value;
  value.kind = ExprKind::access;
  value.type = source.number;
  value.ref = symbol->ref;
  bool good = true;
  for (const Syntax& subscript : syntax.args) {
    value.args.push_back(integer_expression(subscript, "a subscript"));
    good &= value.args.back() >= 0;
  }
  if (!syntax.fallback.empty()) {
    ExprId fallback = real_or_same(expression(syntax.fallback[0]), value.type);
    if (fallback < 0) return -1;
    if (expr(fallback).type != value.type)
      return mistake(syntax.fallback[0].spot,
                     fmt::format("{} holds {} numbers, the value after `or` is {}", syntax.text,
                                 value.type == NumberClass::boolean ? "truth" : "integer",
                                 class_word(expr(fallback).type)));
    value.fallback = fallback;
  }
  if (!good || !readable(syntax, symbol->ref, value)) return -1;
  return add(std::move(value), syntax.spot);
}

/// Whether a tensor has a value at this point of the math.
bool Resolver::readable(const Syntax& syntax, TensorId which, const Expr& value) {
  Progress& progress = progress_[static_cast<std::size_t>(which)];
  TensorRole role = tensor(which).role;
  bool input = role == TensorRole::input || role == TensorRole::inout;
  if (which == target_ && !input && !progress.assigned) return recurs(syntax, which, value);
  progress.read = true;
  if (input || progress.assigned) return true;
  mistake(syntax.spot, fmt::format("{} is read before it is assigned", syntax.text),
          "statements are evaluated in the order written; move its definition up");
  return false;
}

/// h[t-1, d] inside h[t, d] = …: every subscript is the left side's, one of them less 1.
bool Resolver::recurs(const Syntax& syntax, TensorId which, const Expr& value) {
  Progress& progress = progress_[static_cast<std::size_t>(which)];
  if (!self_reads_allowed_ || loops_.size() != value.args.size()) {
    mistake(syntax.spot, fmt::format("{} is read inside its own definition", syntax.text),
            "give the intermediate value a name of its own");
    return false;
  }
  int axis = -1;
  for (std::size_t i = 0; i < value.args.size(); ++i) {
    const Expr& subscript = expr(value.args[i]);
    if (subscript.kind == ExprKind::index && subscript.ref == loops_[i].index) continue;
    bool step = subscript.kind == ExprKind::binary && subscript.op == Op::sub &&
                expr(subscript.args[0]).kind == ExprKind::index &&
                expr(subscript.args[0]).ref == loops_[i].index &&
                expr(subscript.args[1]).kind == ExprKind::int_literal && expr(subscript.args[1]).integer == 1;
    if (!step || axis >= 0) {
      mistake(syntax.spot,
              fmt::format("{} reads itself other than one step back along one axis", syntax.text),
              fmt::format(
                  "a recurrence is written `{0}[t, …] = … {0}[t-1, …] …` with the other subscripts unchanged",
                  syntax.text));
      return false;
    }
    axis = static_cast<int>(i);
  }
  if (axis < 0 || (recurrence_axis_ >= 0 && recurrence_axis_ != axis)) {
    mistake(syntax.spot,
            axis < 0 ? fmt::format("{} is defined by itself", syntax.text)
                     : fmt::format("{} recurs along two axes", syntax.text),
            "a recurrence steps back by one along one axis");
    return false;
  }
  if (progress.initial_axis != axis && !value.fallback) {
    mistake(syntax.spot, fmt::format("the recurrence of {} has no value before its first", syntax.text),
            fmt::format("add a line before it: `{}[{}] = 0.0`, or read `… or 0`", syntax.text,
                        axis == 0 ? "-1, …" : "…, -1, …"));
    return false;
  }
  progress.initial_used = true;
  progress.read = true;
  recurrence_axis_ = axis;
  return true;
}

}  // namespace ako
