// SPDX-License-Identifier: Apache-2.0
// Expressions for `lanes` elements at once. What cannot be said in vectors is evaluated element by element
// and collected.
#include "synth/element.h"
#include "synth/polynomials.h"
#include "synth/precedence.h"
#include "synth/printer.h"

namespace ako::synth {

using namespace precedence;

namespace {

struct Infix {
  const char* symbol;
  int precedence;
};

std::optional<Infix> infix(Op op) {
  switch (op) {
    case Op::add:
      return Infix{"+", sum};
    case Op::sub:
      return Infix{"-", sum};
    case Op::mul:
      return Infix{"*", product};
    case Op::div:
      return Infix{"/", product};
    case Op::less:
      return Infix{"<", comparison};
    case Op::less_equal:
      return Infix{"<=", comparison};
    case Op::greater:
      return Infix{">", comparison};
    case Op::greater_equal:
      return Infix{">=", comparison};
    case Op::equal:
      return Infix{"==", equality};
    case Op::not_equal:
      return Infix{"!=", equality};
    default:
      return std::nullopt;
  }
}

bool compares(Op op) { return op >= Op::less && op <= Op::not_equal; }

/// Support function of one vector argument; null: none.
const char* vector_function(Op op) {
  switch (op) {
    case Op::exp:
      return "v_exp";
    case Op::exp2:
      return "v_exp2";
    case Op::log:
      return "v_log";
    case Op::log2:
      return "v_log2";
    case Op::tanh:
      return "v_tanh";
    case Op::erf:
      return "v_erf";
    case Op::sigmoid:
      return "v_sigmoid";
    case Op::abs:
      return "v_abs";
    case Op::sqrt:
      return "v_sqrt";
    case Op::rsqrt:
      return "v_rsqrt";
    default:
      return nullptr;
  }
}

}  // namespace

std::string Printer::lanes_or_one(ExprId id, int precedence) { return wrap(lanes(id), precedence); }

Text Printer::lanes(ExprId id) { return varies(id) ? many(id) : real_operand(id); }

std::string Printer::vector(ExprId id, int precedence) {
  if (varies(id)) return wrap(many(id), precedence);
  need("v_splat");
  return "v_splat(" + real_operand(id).text + ")";
}

std::string Printer::mask(ExprId id) {
  if (varies(id)) return wrap(many(id), bits + 1);
  return "(ivec{} - lane_int(" + scalar(id) + "))";  // all ones or all zeros
}

bool Printer::integer_lanes(ExprId id) const {
  if (!varies(id)) return true;
  const Expr& expr = program_.expr(id);
  if (expr.kind == ExprKind::index) return true;
  if (expr.kind == ExprKind::unary) return expr.op == Op::negate && integer_lanes(expr.args[0]);
  if (expr.kind != ExprKind::binary) return false;
  const bool linear = expr.op == Op::add || expr.op == Op::sub || expr.op == Op::mul;
  return linear && integer_lanes(expr.args[0]) && integer_lanes(expr.args[1]);
}

/// An integer expression as lanes; only for those integer_lanes accepts.
Text Printer::many_integer(ExprId id) {
  const Expr expr = program_.expr(id);
  if (!varies(id)) return {"lane_int(" + scalar(id) + ")"};
  if (expr.kind == ExprKind::index) {
    need("v_index");
    return {"v_index(" + indices_.at(expr.ref) + ")", 100, true};
  }
  if (expr.kind == ExprKind::unary) return {"-" + wrap(many_integer(expr.args[0]), unary + 1), unary, true};
  const Infix op = *infix(expr.op);
  return {fmt::format("{} {} {}", wrap(many_integer(expr.args[0]), op.precedence), op.symbol,
                      wrap(many_integer(expr.args[1]), op.precedence + 1)),
          op.precedence, true};
}

/// Whether evaluating it where its condition does not hold is harmless: it reads nothing that might not
/// exist.
bool Printer::always_in_range(ExprId id) const {
  bool harmless = true;
  visit(program_, id, [&](ExprId e) {
    const Expr& expr = program_.expr(e);
    if (expr.kind == ExprKind::reduce) harmless = false;
    if (expr.kind != ExprKind::access) return;
    for (std::size_t axis = 0; axis < expr.args.size(); ++axis) {
      const auto range = ranges_.find(bare_index(program_, expr.args[axis]));
      const bool inside = range != ranges_.end() && is_literal(program_, range->second.lower, 0) &&
                          same(program_, range->second.upper, program_.tensor(expr.ref).shape[axis]);
      harmless = harmless && inside;
    }
  });
  return harmless;
}

Text Printer::many(ExprId id) {
  if (const auto known = stand_ins_.find(id); known != stand_ins_.end()) return {known->second, 100, true};
  const Expr& expr = program_.expr(id);
  if (expr.type == NumberClass::integer) return element_by_element(id);
  switch (expr.kind) {
    case ExprKind::access:
      return many_access(id);
    case ExprKind::unary:
      if (expr.op == Op::logical_not) return {"~" + mask(expr.args[0]), unary, true};
      return {"-" + wrap(real_lanes(expr.args[0]), unary + 1), unary, true};
    case ExprKind::binary:
      return many_binary(id);
    case ExprKind::call:
      return many_call(id);
    case ExprKind::select:
      return many_select(id);
    case ExprKind::reduce:
      return many_reduce(id);
    default:
      return element_by_element(id);
  }
}

/// A real operand that may be an integer expression of the vector index.
Text Printer::real_lanes(ExprId id) {
  if (!varies(id)) return real_operand(id);
  if (program_.expr(id).type != NumberClass::integer) return many(id);
  if (!integer_lanes(id)) return element_by_element(id);
  return {"__builtin_convertvector(" + many_integer(id).text + ", vec)", 100, true};
}

bool Printer::register_is_vector(const Expr& expr) const {
  for (const ExprId arg : expr.args) {
    if (mentions(program_, arg, vector_)) return true;
  }
  return false;
}

Text Printer::many_access(ExprId id) {
  const Expr expr = program_.expr(id);
  if (const std::string* name = find_register(expr.ref)) return {*name, 100, true};
  if (!unit_stride(expr, vector_) || storage(expr.ref).home == Home::local) return element_by_element(id);
  for (const Statement& initial : initials_) {
    if (initial.target == expr.ref) return element_by_element(id);
  }
  const Tensor& tensor = program_.tensor(expr.ref);
  const bool plain = tensor.exact || element_of(tensor.type).decode.empty();
  const std::string function = plain ? "v_load" : "v_load_" + std::string(name_of(tensor.type));
  const std::string load =
      fmt::format("{}({} + {}, span)", function, tensor_name(expr.ref), offset(expr.ref, expr.args));
  if (!expr.fallback) {
    need(function);
    return {load, 100, true};
  }
  const bool along = is_index(program_, expr.args.back(), vector_) && ranges_.contains(vector_) &&
                     same(program_, ranges_.at(vector_).upper, tensor.shape.back());
  if (!along || varies(*expr.fallback)) return element_by_element(id);
  need(function);
  return {fmt::format("{} ? {} : {}", in_range(expr, vector_), load, vector(*expr.fallback, choice)), choice,
          true};
}

Text Printer::many_binary(ExprId id) {
  const Expr expr = program_.expr(id);
  if (expr.op == Op::logical_and || expr.op == Op::logical_or) {
    if (!always_in_range(expr.args[1])) return element_by_element(id);
    const bool both = expr.op == Op::logical_and;
    return {fmt::format("{} {} {}", mask(expr.args[0]), both ? "&" : "|", mask(expr.args[1])),
            both ? bits : bits - 5, true};
  }
  const auto class_of_arg = [&](std::size_t i) { return program_.expr(expr.args[i]).type; };
  if (compares(expr.op) && class_of_arg(0) != NumberClass::real && class_of_arg(1) != NumberClass::real) {
    if (class_of_arg(0) == NumberClass::boolean || !integer_lanes(expr.args[0]) ||
        !integer_lanes(expr.args[1])) {
      return element_by_element(id);
    }
    const Infix op = *infix(expr.op);
    return {fmt::format("{} {} {}", wrap(many_integer(expr.args[0]), op.precedence), op.symbol,
                        wrap(many_integer(expr.args[1]), op.precedence + 1)),
            op.precedence, true};
  }
  if (expr.op == Op::pow) {
    const auto n = small_power(expr);
    if (!n) return element_by_element(id);
    if (*n == 1) return real_lanes(expr.args[0]);
    need("v_power");
    return {fmt::format("v_power<{}>({})", *n, real_lanes(expr.args[0]).text), 100, true};
  }
  const auto op = infix(expr.op);
  if (!op) return element_by_element(id);
  Text left = real_lanes(expr.args[0]), right = real_lanes(expr.args[1]);
  if (expr.op == Op::div && choices_.reciprocal && !right.vector) {
    // One division for the row instead of one per element; the compiler moves it out of the loop.
    return {
        fmt::format("{} * ({} / {})", wrap(left, product), wide_ ? "1.0" : "1.0f", wrap(right, product + 1)),
        product, true};
  }
  return {fmt::format("{} {} {}", wrap(left, op->precedence), op->symbol, wrap(right, op->precedence + 1)),
          op->precedence, true};
}

Text Printer::many_call(ExprId id) {
  const Expr expr = program_.expr(id);
  switch (expr.op) {
    case Op::to_real:
      return real_lanes(expr.args[0]);
    case Op::min:
    case Op::max: {
      const std::string name = expr.op == Op::max ? "larger" : "smaller";
      need(name);
      return {fmt::format("{}({}, {})", name, real_vector(expr.args[0]), real_vector(expr.args[1])), 100,
              true};
    }
    case Op::clamp:
      need("larger"), need("smaller");
      return {fmt::format("smaller(larger({}, {}), {})", real_vector(expr.args[0]), real_vector(expr.args[1]),
                          real_vector(expr.args[2])),
              100, true};
    case Op::relu:
      need("larger");
      return {fmt::format("larger({}, vec{{}})", real_vector(expr.args[0])), 100, true};
    case Op::cast:
      if (element_of(expr.cast).encode.empty() && !wide_) return real_lanes(expr.args[0]);
      return element_by_element(id);
    default:
      break;
  }
  const char* function = vector_function(expr.op);
  if (function == nullptr) return element_by_element(id);
  if (has_polynomial(expr.op) && !choices_.polynomial) return element_by_element(id);
  std::string name = function;
  if (expr.op == Op::sigmoid && !choices_.polynomial) name = "v_sigmoid_libm";
  need(name);
  return {fmt::format("{}({})", name, real_vector(expr.args[0])), 100, true};
}

std::string Printer::real_vector(ExprId id) {
  if (varies(id)) return real_lanes(id).text;
  return vector(id);
}

Text Printer::many_select(ExprId id) {
  const Expr expr = program_.expr(id);
  if (expr.type != NumberClass::real) return element_by_element(id);
  if (!varies(expr.args[0])) {
    return {fmt::format("{} ? {} : {}", scalar(expr.args[0], choice + 1),
                        "(" + real_vector(expr.args[1]) + ")", "(" + real_vector(expr.args[2]) + ")"),
            choice, true};
  }
  if (!always_in_range(expr.args[1]) || !always_in_range(expr.args[2])) return many_halves(id);
  return {fmt::format("{} ? {} : {}", mask(expr.args[0]), "(" + real_vector(expr.args[1]) + ")",
                      "(" + real_vector(expr.args[2]) + ")"),
          choice, true};
}

/// `where(d < half, …, …)` with sides that exist only on their own: all lanes of most vectors are on one side,
/// and only those are evaluated; the vector across the border goes element by element.
Text Printer::many_halves(ExprId id) {
  const Expr expr = program_.expr(id);
  const Expr condition = program_.expr(expr.args[0]);
  bool simple = condition.kind == ExprKind::binary && condition.op == Op::less &&
                is_index(program_, condition.args[0], vector_) && !varies(condition.args[1]);
  visit(program_, id, [&](ExprId e) { simple = simple && program_.expr(e).kind != ExprKind::reduce; });
  if (!simple) return element_by_element(id);
  const std::string border = scalar(condition.args[1], sum + 1), index = indices_.at(vector_);
  return {fmt::format("{0} + span.count <= {1} ? ({2}) : {0} >= {1} ? ({3}) : {4}", index, border,
                      real_vector(expr.args[1]), real_vector(expr.args[2]), element_by_element(id).text),
          choice, true};
}

/// The lanes one after another: a function of the index, collected into a vector.
Text Printer::element_by_element(ExprId id) {
  const NumberClass kind = program_.expr(id).type;
  const std::string index = indices_.at(vector_);
  const IndexId vector = vector_;
  Code* outer = code_;
  Code inner;
  inner.set_depth(outer->depth() + 1);
  code_ = &inner;
  const bool before = single_lane_;
  single_lane_ = true;
  const Text value = kind == NumberClass::boolean ? one(id) : real_operand(id);
  single_lane_ = before;
  code_ = outer;
  vector_ = vector;
  const std::string function = kind == NumberClass::boolean ? "v_each_mask" : "v_each";
  need(function);
  const std::string head =
      fmt::format("{}({}, span, [&](int64_t {}, [[maybe_unused]] int lane)", function, index, index);
  if (inner.text().empty()) return {fmt::format("{} {{ return {}; }})", head, value.text), 100, true};
  inner.line("return {};", value.text);
  const std::string indent(static_cast<std::size_t>(outer->depth()) * 2, ' ');
  return {fmt::format("{} {{\n{}{}}})", head, inner.text(), indent), 100, true};
}

}  // namespace ako::synth
