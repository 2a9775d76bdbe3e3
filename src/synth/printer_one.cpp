// SPDX-License-Identifier: Apache-2.0
// Expressions for one element.
#include <cmath>

#include "synth/element.h"
#include "synth/precedence.h"
#include "synth/printer.h"

namespace ako::synth {

using namespace precedence;

std::string Printer::scalar(ExprId id, int precedence) { return wrap(one(id), precedence); }

Text Printer::real_literal(double value) const {
  if (std::isnan(value)) return {real_ + "(__builtin_nanf(\"\"))"};
  if (std::isinf(value))
    return {(value < 0 ? "-" : "") + real_ + "(__builtin_inff())", value < 0 ? unary : 100};
  std::string text = wide_ ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  if (!wide_) text += "f";
  return {text, value < 0 ? unary : 100};
}

/// A real operand of a real operation: integers promote.
Text Printer::real_operand(ExprId id) {
  const Expr& expr = program_.expr(id);
  if (expr.type != NumberClass::integer) return one(id);
  if (expr.kind == ExprKind::int_literal) return real_literal(static_cast<double>(expr.integer));
  return {real_ + "(" + scalar(id) + ")"};
}

Text Printer::one(ExprId id) {
  const Expr expr = program_.expr(id);
  switch (expr.kind) {
    case ExprKind::real_literal:
      return real_literal(expr.real);
    case ExprKind::int_literal:
      return {std::to_string(expr.integer), expr.integer < 0 ? unary : 100};
    case ExprKind::bool_literal:
      return {expr.integer != 0 ? "true" : "false"};
    case ExprKind::dim:
      return {dim_name(expr.ref)};
    case ExprKind::scalar:
      return one_scalar(expr.ref);
    case ExprKind::index:
      return {indices_.at(expr.ref), indices_.at(expr.ref).find(' ') == std::string::npos ? 100 : sum};
    case ExprKind::access:
      return one_access(expr);
    case ExprKind::unary:
      return one_unary(expr);
    case ExprKind::binary:
      return one_binary(expr);
    case ExprKind::call:
      return one_call(expr);
    case ExprKind::select:
      return one_select(expr);
    case ExprKind::reduce:
      return one_reduce(expr);
  }
  return {"0"};
}

Text Printer::one_scalar(ScalarId id) {
  const Scalar& declared = program_.scalars[static_cast<std::size_t>(id)];
  const std::string& name = scalar_name(id);
  const Element element = element_of(declared.type);
  if (!element.decode.empty()) {
    need(element.decode);
    return {fmt::format("{}{}({})", wide_ ? "(double)" : "", element.decode, name), wide_ ? unary : 100};
  }
  if (class_of(declared.type) == NumberClass::boolean) return {name + " != 0", equality};
  if (class_of(declared.type) == NumberClass::integer)
    return {declared.type == ScalarType::i64 ? name : "int64_t(" + name + ")"};
  const bool exactly = wide_ == (declared.type == ScalarType::f64);
  return {exactly ? name : real_ + "(" + name + ")"};
}

std::optional<Text> Printer::before_first(const Expr& expr) {
  for (const Statement& initial : initials_) {
    if (initial.target != expr.ref || initial.axis < 0) continue;
    const ExprId at = expr.args[static_cast<std::size_t>(initial.axis)];
    if (non_negative(program_, at, ranges_)) continue;
    // The initial value's own indices stand for the other subscripts of this access.
    for (std::size_t axis = 0; axis < expr.args.size(); ++axis) {
      const IndexId index = bare_index(program_, initial.subscripts[axis]);
      if (index >= 0) indices_[index] = "(" + scalar(expr.args[axis]) + ")";
    }
    const std::string value =
        wrap(real_operand_of(initial.value, program_.tensor(expr.ref).number), choice + 1);
    const std::string old = load(expr.ref, offset(expr.ref, expr.args));
    return Text{fmt::format("{} < 0 ? {} : {}", scalar(at, sum), value, old), choice};
  }
  return std::nullopt;
}

Text Printer::real_operand_of(ExprId id, NumberClass number) {
  return number == NumberClass::real ? real_operand(id) : one(id);
}

Text Printer::one_access(const Expr& expr) {
  if (const std::string* name = find_register(expr.ref)) {
    const bool single = single_lane_ && register_is_vector(expr);
    return {single ? *name + "[lane]" : *name};
  }
  const Storage& where = storage(expr.ref);
  if (where.home == Home::local) return {tensor_name(expr.ref)};
  if (const auto initial = before_first(expr)) return *initial;
  std::string text = load(expr.ref, offset(expr.ref, expr.args));
  const bool compares = text.ends_with("!= 0");
  if (!expr.fallback) return {std::move(text), compares ? equality : 100};
  const Text other = real_operand_of(*expr.fallback, expr.type);
  return {fmt::format("{} ? {} : {}", in_range(expr, -1), text, wrap(other, choice)), choice};
}

/// The condition under which an access is inside its tensor; `trusted` is an index known to be.
std::string Printer::in_range(const Expr& expr, IndexId trusted) {
  std::string text;
  const Tensor& tensor = program_.tensor(expr.ref);
  for (std::size_t axis = 0; axis < expr.args.size(); ++axis) {
    const IndexId index = bare_index(program_, expr.args[axis]);
    const auto range = ranges_.find(index);
    const bool inside = index >= 0 && range != ranges_.end() &&
                        is_literal(program_, range->second.lower, 0) &&
                        same(program_, range->second.upper, tensor.shape[axis]);
    if (inside || (index >= 0 && index == trusted)) continue;
    if (!text.empty()) text += " && ";
    text += fmt::format("uint64_t({}) < uint64_t({})", scalar(expr.args[axis]), scalar(tensor.shape[axis]));
  }
  return text.empty() ? "true" : text;
}

Text Printer::one_select(const Expr& expr) {
  const auto side = [&](std::size_t i) {
    const Expr& arg = program_.expr(expr.args[i]);
    if (expr.type == NumberClass::real && arg.type == NumberClass::integer) return real_operand(expr.args[i]);
    return lazily(expr.args[i]);
  };
  const std::string condition = scalar(expr.args[0], choice + 1);
  return {fmt::format("{} ? {} : {}", condition, wrap(side(1), choice + 1), wrap(side(2), choice)), choice};
}

}  // namespace ako::synth
