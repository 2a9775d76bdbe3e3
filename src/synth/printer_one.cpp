// SPDX-License-Identifier: Apache-2.0
// Expressions for one element.
#include <cmath>

#include "synth/element.h"
#include "synth/lanes.h"
#include "synth/printer.h"

namespace ako::synth {

namespace {

constexpr int unary_precedence = 90, product = 80, sum = 70, comparison = 60, equality = 55, conjunction = 40,
              disjunction = 35, choice = 20;

std::string wrap(const Text& text, int least) {
  return text.precedence < least ? "(" + text.text + ")" : text.text;
}

const char* symbol(Op op) {
  switch (op) {
    case Op::add:
      return "+";
    case Op::sub:
      return "-";
    case Op::mul:
      return "*";
    case Op::div:
      return "/";
    case Op::mod:
      return "%";
    case Op::less:
      return "<";
    case Op::less_equal:
      return "<=";
    case Op::greater:
      return ">";
    case Op::greater_equal:
      return ">=";
    case Op::equal:
      return "==";
    case Op::not_equal:
      return "!=";
    case Op::logical_and:
      return "&&";
    case Op::logical_or:
      return "||";
    default:
      return "?";
  }
}

int precedence_of(Op op) {
  switch (op) {
    case Op::mul:
    case Op::div:
    case Op::mod:
      return product;
    case Op::add:
    case Op::sub:
      return sum;
    case Op::less:
    case Op::less_equal:
    case Op::greater:
    case Op::greater_equal:
      return comparison;
    case Op::equal:
    case Op::not_equal:
      return equality;
    case Op::logical_and:
      return conjunction;
    default:
      return disjunction;
  }
}

/// The C library's function, without its f; null: not one of its.
const char* library_name(Op op) {
  switch (op) {
    case Op::exp:
      return "exp";
    case Op::exp2:
      return "exp2";
    case Op::expm1:
      return "expm1";
    case Op::log:
      return "log";
    case Op::log2:
      return "log2";
    case Op::log1p:
      return "log1p";
    case Op::sqrt:
      return "sqrt";
    case Op::abs:
      return "fabs";
    case Op::floor:
      return "floor";
    case Op::ceil:
      return "ceil";
    case Op::round:
      return "rint";
    case Op::trunc:
      return "trunc";
    case Op::sin:
      return "sin";
    case Op::cos:
      return "cos";
    case Op::tan:
      return "tan";
    case Op::tanh:
      return "tanh";
    case Op::sinh:
      return "sinh";
    case Op::cosh:
      return "cosh";
    case Op::asin:
      return "asin";
    case Op::acos:
      return "acos";
    case Op::atan:
      return "atan";
    case Op::erf:
      return "erf";
    default:
      return nullptr;
  }
}

}  // namespace

std::string Printer::scalar(ExprId id, int precedence) { return wrap(one(id), precedence); }

Text Printer::real_literal(double value) const {
  if (std::isnan(value)) return {real_ + "(__builtin_nanf(\"\"))"};
  if (std::isinf(value))
    return {(value < 0 ? "-" : "") + real_ + "(__builtin_inff())", value < 0 ? unary_precedence : 100};
  std::string text = wide_ ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  if (!wide_) text += "f";
  return {text, value < 0 ? unary_precedence : 100};
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
      return {std::to_string(expr.integer), expr.integer < 0 ? unary_precedence : 100};
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
    return {fmt::format("{}{}({})", wide_ ? "(double)" : "", element.decode, name),
            wide_ ? unary_precedence : 100};
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

Text Printer::one_unary(const Expr& expr) {
  return {(expr.op == Op::negate ? "-" : "!") + wrap(one(expr.args[0]), unary_precedence + 1),
          unary_precedence};
}

/// x ** n for a small whole n by multiplication.
std::optional<int> Printer::small_power(const Expr& expr) const {
  const Expr& exponent = program_.expr(expr.args[1]);
  double value = 0;
  if (exponent.kind == ExprKind::int_literal)
    value = static_cast<double>(exponent.integer);
  else if (exponent.kind == ExprKind::real_literal)
    value = exponent.real;
  else
    return std::nullopt;
  if (value != std::floor(value) || value < 1 || value > 4) return std::nullopt;
  return static_cast<int>(value);
}

Text Printer::one_binary(const Expr& expr) {
  const auto left_type = program_.expr(expr.args[0]).type;
  const auto right_type = program_.expr(expr.args[1]).type;
  const bool in_reals =
      left_type == NumberClass::real || right_type == NumberClass::real || expr.type == NumberClass::real;
  if (expr.op == Op::logical_and || expr.op == Op::logical_or) {
    const int p = precedence_of(expr.op);
    const Text right = lazily(expr.args[1]);
    const std::string left = scalar(expr.args[0], expr.op == Op::logical_or ? conjunction + 1 : p);
    return {fmt::format("{} {} {}", left, symbol(expr.op), wrap(right, conjunction + 1)), p};
  }
  const auto operand = [&](std::size_t i) {
    return in_reals ? real_operand(expr.args[i]) : one(expr.args[i]);
  };
  const Text left = operand(0), right = operand(1);
  if (expr.op == Op::pow) {
    if (const auto n = small_power(expr)) {
      if (*n == 1) return left;
      need("v_power");
      return {fmt::format("v_power<{}>({})", *n, left.text)};
    }
    if (!in_reals) {
      need("int_power");
      return {fmt::format("int_power({}, {})", left.text, right.text)};
    }
    const std::string function = wide_ ? "pow" : "powf";
    need("libm2:" + function);
    return {fmt::format("{}({}, {})", function, left.text, right.text)};
  }
  if (expr.op == Op::div && !in_reals) {
    if (non_negative(program_, expr.args[0], ranges_) && non_negative(program_, expr.args[1], ranges_)) {
      return {fmt::format("{} / {}", wrap(left, product), wrap(right, product + 1)), product};
    }
    need("floor_div");
    return {fmt::format("floor_div({}, {})", left.text, right.text)};
  }
  if (expr.op == Op::mod) {
    if (!in_reals && non_negative(program_, expr.args[0], ranges_) &&
        non_negative(program_, expr.args[1], ranges_)) {
      return {fmt::format("{} % {}", wrap(left, product), wrap(right, product + 1)), product};
    }
    need("floor_mod");
    return {fmt::format("floor_mod({}, {})", left.text, right.text)};
  }
  const int p = precedence_of(expr.op);
  return {fmt::format("{} {} {}", wrap(left, p), symbol(expr.op), wrap(right, p + 1)), p};
}

Text Printer::one_call(const Expr& expr) {
  const auto real_arg = [&](std::size_t i) { return real_operand(expr.args[i]).text; };
  const auto any_arg = [&](std::size_t i) {
    return expr.type == NumberClass::real ? real_operand(expr.args[i]).text : scalar(expr.args[i]);
  };
  const std::string suffix = wide_ ? "" : "f";
  const std::string one_text = wide_ ? "1.0" : "1.0f";
  const auto library = [&](const std::string& name) {
    need("libm:" + name + suffix);
    return name + suffix;
  };
  switch (expr.op) {
    case Op::to_int:
      return {"int64_t(" + scalar(expr.args[0]) + ")"};
    case Op::to_real:
      return real_operand(expr.args[0]);
    case Op::cast: {
      if (class_of(expr.cast) != NumberClass::real) return one(expr.args[0]);
      const Element element = element_of(expr.cast);
      if (element.encode.empty())
        return expr.cast == ScalarType::f32 && wide_ ? Text{"double(float(" + real_arg(0) + "))"}
                                                     : real_operand(expr.args[0]);
      const std::string function = "round_" + std::string(name_of(expr.cast));
      need(function);
      return {fmt::format("{}({})", function, real_arg(0))};
    }
    case Op::min:
      need("smaller");
      return {fmt::format("smaller({}, {})", any_arg(0), any_arg(1))};
    case Op::max:
      need("larger");
      return {fmt::format("larger({}, {})", any_arg(0), any_arg(1))};
    case Op::clamp:
      need("larger"), need("smaller");
      return {fmt::format("smaller(larger({}, {}), {})", any_arg(0), any_arg(1), any_arg(2))};
    case Op::relu:
      need("larger");
      return {
          fmt::format("larger({}, {}(0))", any_arg(0), expr.type == NumberClass::real ? real_ : "int64_t")};
    case Op::sign:
      need("sign");
      return {fmt::format("sign({})", any_arg(0))};
    case Op::abs:
      if (expr.type == NumberClass::integer)
        return {fmt::format("__builtin_llabs({})", scalar(expr.args[0]))};
      break;
    case Op::rsqrt:
      return {fmt::format("{} / {}({})", one_text, library("sqrt"), real_arg(0)), product};
    case Op::sigmoid:
      return {fmt::format("{0} / ({0} + {1}(-{2}))", one_text, library("exp"),
                          wrap(real_operand(expr.args[0]), unary_precedence + 1)),
              product};
    case Op::is_nan:
      need("is_nan");
      return {fmt::format("is_nan({})", real_arg(0))};
    case Op::is_inf:
      need("is_inf");
      return {fmt::format("is_inf({})", real_arg(0))};
    case Op::atan2:
      need("libm2:atan2" + suffix);
      return {fmt::format("atan2{}({}, {})", suffix, real_arg(0), real_arg(1))};
    default:
      break;
  }
  const char* name = library_name(expr.op);
  std::string call = fmt::format("{}({})", library(name == nullptr ? "fabs" : name), real_arg(0));
  // floor and its kin may be whole numbers in the language.
  if (expr.type == NumberClass::integer) return {"int64_t(" + call + ")"};
  return {std::move(call)};
}

/// Printed so that it is evaluated only where it stands.
Text Printer::lazily(ExprId id) {
  bool loops = false;
  visit(program_, id, [&](ExprId e) { loops = loops || program_.expr(e).kind == ExprKind::reduce; });
  if (!loops) return one(id);
  Code* outer = code_;
  Code inner;
  inner.set_depth(outer->depth() + 1);
  code_ = &inner;
  inner.line("return {};", scalar(id));
  code_ = outer;
  return {"[&] {\n" + inner.text() + std::string(static_cast<std::size_t>(outer->depth()) * 2, ' ') + "}()"};
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

/// A reduction along neighbours goes by lanes even where the expression round it is for one element.
bool Printer::reduces_by_lanes(const Expr& expr) const {
  const bool simple = expr.type == NumberClass::real && expr.reduce <= ReduceOp::min && !expr.scan;
  if (choices_.lanes <= 1 || vector_ >= 0 || !simple) return false;
  const IndexId inner = expr.bounds.back().index;
  int neighbours = 0, scattered = 0;
  visit(program_, expr.args[0], [&](ExprId e) {
    const Expr& access = program_.expr(e);
    if (access.kind == ExprKind::reduce) ++scattered;
    if (access.kind != ExprKind::access || !mentions(program_, e, inner)) return;
    ++(unit_stride(access, inner) && !access.fallback ? neighbours : scattered);
  });
  return neighbours > 0 && scattered == 0;
}

Text Printer::one_reduce_by_lanes(const Expr& expr) {
  const std::string total = names_.take(expr.reduce == ReduceOp::sum ? "total" : "result");
  const std::string lanes = names_.take(total + "_lanes"), function = names_.take("term");
  const std::string start = identity(expr.reduce, NumberClass::real);
  for (int copy = 0; copy < choices_.unroll; ++copy) {
    code_->line("vec {}{} = {}({}) - vec{{}};", lanes, copy, real_, start);
  }
  code_->open_block();
  for (std::size_t i = 0; i + 1 < expr.bounds.size(); ++i) open_loop(expr.bounds[i]);
  const Range& inner = expr.bounds.back();
  const std::string index = bind(inner);
  code_->open("const auto {} = [&](int64_t {}, auto span, vec& {}) __attribute__((always_inline))", function,
              index, lanes);
  vectorize(inner.index);
  std::string value = vector(expr.args[0]);
  if (expr.condition) {
    need("v_where");
    value = fmt::format("v_where({}, {}, {})", mask(*expr.condition), value, start);
  }
  need("v_keep");
  code_->line(combine(expr.reduce, lanes, fmt::format("v_keep({}, span, {})", value, start)));
  vectorize(-1);
  code_->close("};");
  lane_loops(*this, inner, index, function, {lanes});
  release(inner);
  for (std::size_t i = expr.bounds.size() - 1; i-- > 0;) close_loop(expr.bounds[i]);
  code_->close();
  for (int copy = 1; copy < choices_.unroll; ++copy) {
    code_->line(combine(expr.reduce, lanes + "0", fmt::format("{}{}", lanes, copy)));
  }
  need(fold_of(expr.reduce));
  code_->line("const {} {} = {}({}0);", real_, total, fold_of(expr.reduce), lanes);
  return {total};
}

Text Printer::one_reduce(const Expr& expr) {
  if (reduces_by_lanes(expr)) return one_reduce_by_lanes(expr);
  const bool arg = expr.reduce == ReduceOp::argmax || expr.reduce == ReduceOp::argmin;
  static constexpr const char* names[] = {"total", "product", "largest", "smallest",
                                          "some",  "every",   "best",    "best"};
  const std::string accumulator = names_.take(names[static_cast<int>(expr.reduce)]);
  const NumberClass body_class = program_.expr(expr.args[0]).type;
  const std::string type = body_class == NumberClass::real      ? real_
                           : body_class == NumberClass::integer ? "int64_t"
                                                                : "bool";
  const ReduceOp comparing = expr.reduce == ReduceOp::argmax   ? ReduceOp::max
                             : expr.reduce == ReduceOp::argmin ? ReduceOp::min
                                                               : expr.reduce;
  std::string where;
  code_->line("{} {} = {};", type, accumulator, identity(comparing, body_class));
  if (arg) {
    where = names_.take("where");
    code_->line("int64_t {} = -1;", where);
  }
  for (const Range& range : expr.bounds) open_loop(range);
  if (expr.condition) code_->open("if ({})", scalar(*expr.condition));
  if (arg) {
    const std::string value = names_.take("value");
    code_->line("const {} {} = {};", type, value, scalar(expr.args[0]));
    code_->open("if ({0} < 0 || {1} {2} {3})", where, value, comparing == ReduceOp::max ? ">" : "<",
                accumulator);
    code_->line("{} = {};", accumulator, value);
    code_->line("{} = {};", where, indices_.at(expr.bounds[0].index));
    code_->close();
    names_.give_back(value);
  } else {
    code_->line(combine(expr.reduce, accumulator, scalar(expr.args[0])));
  }
  if (expr.condition) code_->close();
  for (auto range = expr.bounds.rbegin(); range != expr.bounds.rend(); ++range) close_loop(*range);
  return {arg ? where : accumulator};
}

}  // namespace ako::synth
