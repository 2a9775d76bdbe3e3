// SPDX-License-Identifier: Apache-2.0
#include "synth/gpu/expressions.h"

#include <cmath>
#include <limits>

#include "synth/element.h"

namespace ako::synth::gpu {

namespace {

constexpr int kUnary = 90, kProduct = 80, kSum = 70, kComparison = 60, kEquality = 55, kAnd = 40, kOr = 35,
              kChoice = 20;

struct Infix {
  const char* symbol;
  int precedence;
};

Infix infix(Op op) {
  switch (op) {
    case Op::add:
      return {"+", kSum};
    case Op::sub:
      return {"-", kSum};
    case Op::mul:
      return {"*", kProduct};
    case Op::div:
      return {"/", kProduct};
    case Op::less:
      return {"<", kComparison};
    case Op::less_equal:
      return {"<=", kComparison};
    case Op::greater:
      return {">", kComparison};
    case Op::greater_equal:
      return {">=", kComparison};
    case Op::equal:
      return {"==", kEquality};
    case Op::not_equal:
      return {"!=", kEquality};
    case Op::logical_and:
      return {"&&", kAnd};
    default:
      return {"||", kOr};
  }
}

/// What emitted text and the device header call their own.
constexpr const char* kWords[] = {
    "i8",         "i16",        "i32",         "i64",         "u8",           "u16",
    "u32",        "u64",        "f32",         "f64",         "f16",          "bf16",
    "vec",        "ako",        "f8",          "bf8",         "f8e4m3",       "f8e5m2",
    "f8e4m3fnuz", "f8e5m2fnuz", "index_t",     "infinity",    "not_a_number", "thread",
    "element",    "V",          "v",           "chunk",       "chunks",       "first",
    "threads",    "place",      "row",         "number",      "base",         "item",
    "vectors",    "left",       "right",       "left_stride", "right_stride", "row_0",
    "column_0",   "sums",       "memory",      "lane",        "wave",         "now",
    "more",       "m_0",        "n_0",         "step",        "steps",        "stages",
    "slice",      "across",     "down",        "band",        "whole",        "tile",
    "tiles",      "line",       "next",        "part",        "fetch",        "load",
    "left_tile",  "right_tile", "tile_m",      "tile_n",      "tile_k",       "across_0",
    "along_0",    "real_t",     "place_0",     "square",      "cube",         "inside",
    "saturated",  "rounded",    "result_best", "place_best"};

/// One-letter names are left to loops.
std::string parameter_name(const std::string& name) {
  static const std::set<std::string_view> letters{"i", "j", "k", "m", "n", "a", "b"};
  return letters.contains(name) ? name + "_" : name;
}

bool is_argument(ReduceOp op) { return op == ReduceOp::argmax || op == ReduceOp::argmin; }

}  // namespace

std::string wrap(const Text& text, int least) {
  return text.precedence < least ? "(" + text.text + ")" : text.text;
}

std::string stored_type(ScalarType type) {
  switch (type) {
    case ScalarType::f32:
    case ScalarType::tf32:
      return "float";
    case ScalarType::f64:
      return "double";
    case ScalarType::e8m0:
    case ScalarType::boolean:
      return "u8";
    default:
      // Types with a name of their own in the device header; what is packed is bytes.
      return element_of(type).packed ? "u8" : std::string(name_of(type));
  }
}

bool is_packed(ScalarType type) { return element_of(type).packed; }

namespace {

/// Structures of the device header that convert to and from float by themselves.
bool converts(ScalarType type) {
  return class_of(type) == NumberClass::real && storage_bits(type) <= 16 && !is_packed(type) &&
         type != ScalarType::e8m0;
}

}  // namespace

Expressions::Expressions(const Program& program, Numbers numbers) : program_(program), numbers_(numbers) {
  for (const char* word : kWords) take(word);
  for (const Dim& dim : program.dims) dims_.push_back(take(parameter_name(dim.name)));
  for (const Scalar& scalar : program.scalars) scalars_.push_back(take(parameter_name(scalar.name)));
  for (const Tensor& tensor : program.tensors) tensors_.push_back(take(parameter_name(tensor.name)));
  for (std::size_t i = 0; i < program.tensors.size(); ++i) {
    const bool exact = program.tensors[i].exact;
    places_.push_back({exact ? Place::Form::exact : Place::Form::stored, tensors_[i], {}, -1});
  }
  for (const Expr& expr : program.exprs)
    for (const Range& range : expr.bounds) ranges_[range.index] = range;
  for (const Statement& statement : program.statements)
    for (const Range& range : statement.indices) ranges_[range.index] = range;
}

std::string Expressions::type(NumberClass number) const {
  return number == NumberClass::real ? real() : number == NumberClass::integer ? "i64" : "bool";
}

std::string Expressions::bind(IndexId index) {
  const std::string name = take(program_.indices[static_cast<std::size_t>(index)].name);
  indices_[index] = name;
  return name;
}

void Expressions::release(IndexId index) {
  names_.give_back(indices_.at(index));
  indices_.erase(index);
}

std::string Expressions::literal(double value) const {
  if (std::isnan(value)) return fmt::format("{}(not_a_number)", real());
  if (std::isinf(value)) return fmt::format("{}{}(infinity)", value < 0 ? "-" : "", real());
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return numbers_.wide || numbers_.reference ? text : text + "f";
}

Text Expressions::converted(NumberClass from, NumberClass to, Text value) {
  if (from == to) return value;
  if (to == NumberClass::boolean) return {wrap(value, kEquality + 1) + " != 0", kEquality};
  if (to == NumberClass::integer && from == NumberClass::real) {
    need("to_integer");
    return {"to_integer(" + value.text + ")"};
  }
  return {fmt::format("({}){}", type(to), wrap(value, kUnary)), kUnary};
}

std::string Expressions::as(NumberClass wanted, ExprId id, int precedence) {
  const Expr& expr = program_.expr(id);
  if (wanted == NumberClass::real && expr.kind == ExprKind::int_literal)
    return literal(static_cast<double>(expr.integer));
  if (wanted == NumberClass::real && (expr.kind == ExprKind::dim || expr.kind == ExprKind::index))
    return wrap({fmt::format("({}){}", real(), wrap(position_text(id), kUnary)), kUnary}, precedence);
  return wrap(converted(expr.type, wanted, text(id)), precedence);
}

// --- positions
// ------------------------------------------------------------------------------------------------

std::string Expressions::position(ExprId id, int precedence) { return wrap(position_text(id), precedence); }

Text Expressions::position_text(ExprId id) {
  const Expr& expr = program_.expr(id);
  switch (expr.kind) {
    case ExprKind::int_literal:
      return {std::to_string(expr.integer), expr.integer < 0 ? kUnary : 100};
    case ExprKind::dim:
      return {dim(expr.ref)};
    case ExprKind::index:
      return {indices_.at(expr.ref)};
    case ExprKind::binary:
      break;
    default:
      return {"(index_t)" + wrap(text(id), kUnary), kUnary};
  }
  const std::string left = position(expr.args[0]), right = position(expr.args[1]);
  if (expr.op == Op::div || expr.op == Op::mod) {
    if (!non_negative(program_, expr.args[0], ranges_) || !non_negative(program_, expr.args[1], ranges_)) {
      const char* name = expr.op == Op::div ? "floor_div" : "floor_mod";
      return {fmt::format("(index_t)ako::{}({}, {})", name, left, right), kUnary};
    }
    return {fmt::format("{} {} {}", position(expr.args[0], kProduct), expr.op == Op::div ? "/" : "%",
                        position(expr.args[1], kProduct + 1)),
            kProduct};
  }
  if (expr.op != Op::add && expr.op != Op::sub && expr.op != Op::mul)
    return {"(index_t)" + wrap(binary(expr), kUnary), kUnary};
  const Infix sign = infix(expr.op);
  return {fmt::format("{} {} {}", position(expr.args[0], sign.precedence), sign.symbol,
                      position(expr.args[1], sign.precedence + 1)),
          sign.precedence};
}

std::string Expressions::offset(TensorId id, const std::vector<ExprId>& subscripts) {
  if (subscripts.empty()) return "0";
  const Tensor& tensor = program_.tensor(id);
  Text result = position_text(subscripts[0]);
  for (std::size_t axis = 1; axis < subscripts.size(); ++axis) {
    result = {fmt::format("{} * {} + {}", wrap(result, kProduct), position(tensor.shape[axis], kProduct + 1),
                          position(subscripts[axis], kSum + 1)),
              kSum};
  }
  return result.text;
}

// --- memory
// ---------------------------------------------------------------------------------------------------

std::string Expressions::storage_type(TensorId id) {
  const Tensor& tensor = program_.tensor(id);
  switch (place(id).form) {
    case Place::Form::real:
      return "double";
    case Place::Form::exact:
      return tensor.number == NumberClass::boolean ? "u8" : type(tensor.number);
    default:
      return stored_type(tensor.type);
  }
}

namespace {

/// What reading a declared tensor's unrounded value gives.
std::string rounding(const Tensor& tensor) {
  if (tensor.exact || tensor.type == ScalarType::f64 || class_of(tensor.type) != NumberClass::real) return {};
  return "round_" + std::string(name_of(tensor.type));
}

std::pair<std::int64_t, std::int64_t> limits(ScalarType type) {
  const auto high = static_cast<std::int64_t>(largest(type));
  return {type == ScalarType::u8 ? 0 : -high - 1, high};
}

bool narrow_integer(ScalarType type) {
  return class_of(type) == NumberClass::integer && type != ScalarType::i64;
}

}  // namespace

std::string Expressions::load(TensorId id, const std::string& offset) {
  const Tensor& tensor = program_.tensor(id);
  const Place& from = place(id);
  std::string value = fmt::format("{}[{}]", from.pointer, offset);
  if (from.form == Place::Form::stored) {
    if (tensor.number == NumberClass::boolean) return "(" + value + " != 0)";
    const Element element = element_of(tensor.type);
    if (element.packed) value = fmt::format("{}({}, {})", element.decode, from.pointer, offset);
    if (tensor.type == ScalarType::e8m0) value = fmt::format("from_e8m0({})", value);
    if (element.packed || tensor.type == ScalarType::e8m0) need(element.decode);
    if (tensor.number == NumberClass::integer) return "(i64)" + value;
    if (converts(tensor.type)) value = fmt::format("float({})", value);
    const bool same = (tensor.type == ScalarType::f64) == (numbers_.wide || numbers_.reference);
    return same ? value : fmt::format("({}){}", real(), value);
  }
  if (tensor.number == NumberClass::boolean) return "(" + value + " != 0)";
  if (from.form == Place::Form::exact && !numbers_.reference) return value;
  if (tensor.number == NumberClass::integer) {
    if (from.form == Place::Form::real) {
      need("to_integer");
      value = "to_integer(" + value + ")";
    }
    if (tensor.exact || !narrow_integer(tensor.type)) return value;
    const auto [low, high] = limits(tensor.type);
    need("saturated");
    return fmt::format("saturated({}, {}, {})", value, low, high);
  }
  const std::string round = rounding(tensor);
  if (round.empty()) return value;
  need(round);
  return fmt::format("{}({})", round, value);
}

std::string Expressions::encoded(TensorId id, const std::string& value) {
  const Tensor& tensor = program_.tensor(id);
  if (place(id).form != Place::Form::stored) return value;
  const Element element = element_of(tensor.type);
  if (narrow_integer(tensor.type)) {
    const auto [low, high] = limits(tensor.type);
    need("saturated");
    return fmt::format("({})saturated({}, {}, {})", stored_type(tensor.type), value, low, high);
  }
  const std::string narrow = numbers_.wide ? "(float)(" + value + ")" : value;
  if (converts(tensor.type)) return fmt::format("{}({})", stored_type(tensor.type), narrow);
  if (tensor.type != ScalarType::tf32 && tensor.type != ScalarType::e8m0) return value;
  need(element.encode);
  return fmt::format("{}({})", element.encode, narrow);
}

std::string Expressions::store(TensorId id, const std::string& offset, const std::string& value) {
  const Element element = element_of(program_.tensor(id).type);
  if (place(id).form == Place::Form::stored && element.packed) {
    need(element.encode);
    return fmt::format("{}({}, {}, {});", element.encode, place(id).pointer, offset, value);
  }
  return fmt::format("{}[{}] = {};", place(id).pointer, offset, encoded(id, value));
}

// --- expressions
// ----------------------------------------------------------------------------------------------

Text Expressions::text(ExprId id) {
  if (known) {
    if (auto ready = known(id)) return {*ready};
  }
  const Expr& expr = program_.expr(id);
  switch (expr.kind) {
    case ExprKind::real_literal:
      return {literal(expr.real), expr.real < 0 || std::isinf(expr.real) ? kUnary : 100};
    case ExprKind::int_literal:
      return {
          std::abs(expr.integer) < 1000 ? std::to_string(expr.integer) : fmt::format("(i64){}", expr.integer),
          kUnary};
    case ExprKind::bool_literal:
      return {expr.integer ? "true" : "false"};
    case ExprKind::dim:
    case ExprKind::index:
      return {"(i64)" + wrap(position_text(id), kUnary), kUnary};
    case ExprKind::scalar: {
      const ScalarType declared = program_.scalars[static_cast<std::size_t>(expr.ref)].type;
      if (numbers_.reference) return {scalar(expr.ref)};
      if (converts(declared)) return {fmt::format("float({})", scalar(expr.ref))};
      if (class_of(declared) == NumberClass::boolean) return {"(" + scalar(expr.ref) + " != 0)"};
      return {fmt::format("({}){}", type(class_of(declared)), scalar(expr.ref)), kUnary};
    }
    case ExprKind::access:
      return access(expr);
    case ExprKind::unary:
      return unary(expr);
    case ExprKind::binary:
      return binary(expr);
    case ExprKind::call:
      return call(expr);
    case ExprKind::select:
      return select(expr);
    case ExprKind::reduce:
      return reduction(expr);
  }
  return {};
}

/// The condition under which an access lies inside its tensor; empty: always.
std::string Expressions::inside(const Expr& access) {
  const Tensor& tensor = program_.tensor(access.ref);
  std::string result;
  for (std::size_t axis = 0; axis < access.args.size(); ++axis) {
    const IndexId index = bare_index(program_, access.args[axis]);
    if (index >= 0 && ranges_.contains(index)) {
      const Range& range = ranges_.at(index);
      if (is_literal(program_, range.lower, 0) && same(program_, range.upper, tensor.shape[axis])) continue;
    }
    need("inside");
    if (!result.empty()) result += " && ";
    result += fmt::format("inside({}, {})", position(access.args[axis]), position(tensor.shape[axis]));
  }
  return result;
}

Text Expressions::access(const Expr& expr) {
  const Tensor& tensor = program_.tensor(expr.ref);
  const std::string guard = expr.fallback ? inside(expr) : std::string();
  if (!guard.empty()) ++lazy_;
  std::string value = load(expr.ref, offset(expr.ref, expr.args));
  const Place& from = place(expr.ref);
  Text result{value, value.starts_with("(") ? kUnary : 100};
  if (recurrence != nullptr && recurrence->target == expr.ref && !from.before.empty()) {
    std::vector<ExprId> others = expr.args;
    others.erase(others.begin() + from.axis);
    std::string at;
    for (std::size_t axis = 0, rank = 0; axis < expr.args.size(); ++axis) {
      if (static_cast<int>(axis) == from.axis) continue;
      const std::string subscript = position(expr.args[axis], kSum + 1);
      at = rank++ == 0
               ? subscript
               : fmt::format("({}) * {} + {}", at, position(tensor.shape[axis], kProduct + 1), subscript);
    }
    if (at.empty()) at = "0";
    const std::string ahead = position(expr.args[static_cast<std::size_t>(from.axis)], kComparison + 1);
    result = {fmt::format("{} < 0 ? {}[{}] : {}", ahead, from.before, at, value), kChoice};
  }
  if (!guard.empty()) {
    --lazy_;
    result = {fmt::format("{} ? {} : {}", guard, wrap(result, kChoice + 1), as(expr.type, *expr.fallback)),
              kChoice};
  }
  return result;
}

Text Expressions::unary(const Expr& expr) {
  if (expr.op == Op::logical_not) return {"!" + as(NumberClass::boolean, expr.args[0], kUnary), kUnary};
  return {"-" + as(expr.type, expr.args[0], kUnary + 1), kUnary};
}

Text Expressions::binary(const Expr& expr) {
  const ExprId left = expr.args[0], right = expr.args[1];
  const bool logic = expr.op == Op::logical_and || expr.op == Op::logical_or;
  const bool compares = expr.op >= Op::less && expr.op <= Op::not_equal;
  NumberClass number = logic ? NumberClass::boolean : expr.type;
  if (compares) {
    const NumberClass a = program_.expr(left).type, b = program_.expr(right).type;
    number = a == b                                             ? a
             : a == NumberClass::real || b == NumberClass::real ? NumberClass::real
                                                                : NumberClass::integer;
  }
  const bool whole = number == NumberClass::integer && !compares;
  if (expr.op == Op::mod || (expr.op == Op::div && whole)) {
    return {fmt::format("ako::{}({}, {})", expr.op == Op::div ? "floor_div" : "floor_mod", as(number, left),
                        as(number, right))};
  }
  if (expr.op == Op::pow) {
    const Expr& exponent = program_.expr(right);
    const double power = exponent.kind == ExprKind::int_literal    ? static_cast<double>(exponent.integer)
                         : exponent.kind == ExprKind::real_literal ? exponent.real
                                                                   : 0;
    if (!whole && (power == 2 || power == 3)) {
      const char* name = power == 2 ? "square" : "cube";
      need(name);
      return {fmt::format("{}({})", name, as(number, left))};
    }
    if (whole) need("integer_power");
    return {fmt::format("{}({}, {})", whole ? "integer_power" : function(Op::pow), as(number, left),
                        as(number, right))};
  }
  const Infix sign = infix(expr.op);
  const std::string first = as(number, left, sign.precedence);
  if (logic) ++lazy_;
  const std::string second = as(number, right, sign.precedence + 1);
  if (logic) --lazy_;
  return {fmt::format("{} {} {}", first, sign.symbol, second), sign.precedence};
}

std::string Expressions::function(Op op) {
  const bool fast = numbers_.fast && !numbers_.wide && !numbers_.reference;
  switch (op) {
    case Op::exp:
      return fast ? "ako::fast_exp" : "ako::exp";
    case Op::exp2:
      return fast ? "ako::fast_exp2" : "ako::exp2";
    case Op::log:
      return fast ? "ako::fast_log" : "ako::log";
    case Op::log2:
      return fast ? "ako::fast_log2" : "ako::log2";
    case Op::sigmoid:
      return fast ? "ako::fast_sigmoid" : "ako::sigmoid";
    case Op::expm1:
      return "ako::expm1";
    case Op::log1p:
      return "ako::log1p";
    case Op::sqrt:
      return "ako::sqrt";
    case Op::rsqrt:
      return fast ? "ako::fast_rsqrt" : "ako::rsqrt";
    case Op::floor:
      return "ako::floor";
    case Op::ceil:
      return "ako::ceil";
    case Op::round:
      return "ako::round";
    case Op::trunc:
      return "ako::trunc";
    case Op::sin:
      return "ako::sin";
    case Op::cos:
      return "ako::cos";
    case Op::tan:
      return "ako::tan";
    case Op::tanh:
      return "ako::tanh";
    case Op::sinh:
      return "ako::sinh";
    case Op::cosh:
      return "ako::cosh";
    case Op::asin:
      return "ako::asin";
    case Op::acos:
      return "ako::acos";
    case Op::atan:
      return "ako::atan";
    case Op::atan2:
      return "ako::atan2";
    case Op::erf:
      return "ako::erf";
    case Op::pow:
      return "ako::pow";
    case Op::abs:
      return "ako::abs";
    default:
      return "?";
  }
}

Text Expressions::cast(const Expr& expr) {
  const ExprId value = expr.args[0];
  const NumberClass number = class_of(expr.cast);
  if (number == NumberClass::boolean) return {as(NumberClass::boolean, value, 100)};
  if (number == NumberClass::real) {
    if (expr.cast == ScalarType::f64) return {as(NumberClass::real, value, 100)};
    if (expr.cast == ScalarType::f32 && !numbers_.wide && !numbers_.reference)
      return {as(NumberClass::real, value, 100)};
    const std::string round = "round_" + std::string(name_of(expr.cast));
    need(round);
    return {fmt::format("({}){}({})", real(), round, as(NumberClass::real, value)), kUnary};
  }
  const auto [low, high] = limits(expr.cast);
  if (program_.expr(value).type == NumberClass::real) {
    need("rounded_integer");
    return {fmt::format("rounded_integer({}, {}, {})", as(NumberClass::real, value),
                        expr.cast == ScalarType::i64 ? "-0x1p63" : fmt::format("{}.0", low),
                        expr.cast == ScalarType::i64 ? "0x1p63" : fmt::format("{}.0", high))};
  }
  if (expr.cast == ScalarType::i64) return {as(NumberClass::integer, value, 100)};
  need("saturated");
  return {fmt::format("saturated({}, {}, {})", as(NumberClass::integer, value), low, high)};
}

Text Expressions::call(const Expr& expr) {
  const auto argument = [&](std::size_t which) { return as(expr.type, expr.args[which]); };
  const auto chosen = [&](const char* name, const std::string& rest) {
    return Text{fmt::format("ako::{}<{}>({}, {})", name, type(expr.type), argument(0), rest)};
  };
  const bool takes_integer = program_.expr(expr.args[0]).type == NumberClass::integer;
  switch (expr.op) {
    case Op::cast:
      return cast(expr);
    case Op::to_int:
      return {as(NumberClass::integer, expr.args[0], 100)};
    case Op::to_real:
      return {as(NumberClass::real, expr.args[0], 100)};
    case Op::min:
      return chosen("min", argument(1));
    case Op::max:
      return chosen("max", argument(1));
    case Op::relu:
      return chosen("max", "0");
    case Op::clamp:
      return {fmt::format("ako::min<{0}>(ako::max<{0}>({1}, {2}), {3})", type(expr.type), argument(0),
                          argument(1), argument(2))};
    case Op::abs:
      return {fmt::format("ako::abs({})", argument(0))};
    case Op::sign:
      return {fmt::format("ako::sign<{}>({})", type(expr.type), argument(0))};
    case Op::atan2:
      return {fmt::format("{}({}, {})", function(Op::atan2), as(NumberClass::real, expr.args[0]),
                          as(NumberClass::real, expr.args[1]))};
    case Op::is_nan: {
      return {fmt::format("ako::is_nan<{}>({})", real(), as(NumberClass::real, expr.args[0]))};
    }
    case Op::is_inf: {
      return {fmt::format("ako::is_inf({})", as(NumberClass::real, expr.args[0]))};
    }
    case Op::floor:
    case Op::ceil:
    case Op::round:
    case Op::trunc:
      if (expr.type == NumberClass::integer && takes_integer)
        return {as(NumberClass::integer, expr.args[0], 100)};
      break;
    default:
      break;
  }
  Text value{fmt::format("{}({})", function(expr.op), as(NumberClass::real, expr.args[0]))};
  if (expr.type == NumberClass::integer) return converted(NumberClass::real, NumberClass::integer, value);
  return value;
}

Text Expressions::select(const Expr& expr) {
  const std::string condition = as(NumberClass::boolean, expr.args[0], kChoice + 1);
  ++lazy_;
  const std::string yes = as(expr.type, expr.args[1], kChoice + 1), no = as(expr.type, expr.args[2], kChoice);
  --lazy_;
  return {fmt::format("{} ? {} : {}", condition, yes, no), kChoice};
}

// --- reductions
// -----------------------------------------------------------------------------------------------

std::string Expressions::identity(ReduceOp op, NumberClass number) const {
  const bool whole = number == NumberClass::integer;
  switch (op) {
    case ReduceOp::sum:
      return whole ? "0" : literal(0);
    case ReduceOp::prod:
      return whole ? "1" : literal(1);
    case ReduceOp::max:
      return whole ? "(i64)0x8000000000000000ull" : literal(-std::numeric_limits<double>::infinity());
    case ReduceOp::min:
      return whole ? "(i64)0x7fffffffffffffffull" : literal(std::numeric_limits<double>::infinity());
    case ReduceOp::all:
      return "true";
    default:
      return "false";
  }
}

std::string Expressions::combined(ReduceOp op, const std::string& into, const std::string& value) {
  switch (op) {
    case ReduceOp::sum:
      return fmt::format("{} += {};", into, value);
    case ReduceOp::prod:
      return fmt::format("{} *= {};", into, value);
    case ReduceOp::max:
      return fmt::format("{0} = ako::max<decltype({0} + 0)>({0}, {1});", into, value);
    case ReduceOp::min:
      return fmt::format("{0} = ako::min<decltype({0} + 0)>({0}, {1});", into, value);
    case ReduceOp::any:
      return fmt::format("{0} = {0} || {1};", into, value);
    default:
      return fmt::format("{0} = {0} && {1};", into, value);
  }
}

std::string Expressions::open_loop(const Range& range) {
  const std::string lower = position(range.lower), upper = position(range.upper, kComparison + 1);
  const std::string index = bind(range.index);
  return fmt::format("for (index_t {0} = {1}; {0} < {2}; ++{0})", index, lower, upper);
}

void Expressions::reduction_loops(const Expr& expr, const std::string& result) {
  Code& code = *code_;
  for (const Range& range : expr.bounds) code.open("{}", open_loop(range));
  const int lazy = std::exchange(lazy_, 0);
  if (expr.condition) code.open("if ({})", as(NumberClass::boolean, *expr.condition));
  if (is_argument(expr.reduce)) {
    const NumberClass number = program_.expr(expr.args[0]).type;
    const std::string value = take("value");
    code.line("const {} {} = {};", type(number), value, as(number, expr.args[0]));
    // NaN wins over any number, the first of equals stays.
    code.line(
        "if ({0} < 0 || {1} {2} {0}_best || ({1} != {1} && {0}_best == {0}_best)) {0}_best = {1}, {0} = {3};",
        result, value, expr.reduce == ReduceOp::argmax ? ">" : "<", indices_.at(expr.bounds.front().index));
    give_back(value);
  } else {
    code.line(combined(expr.reduce, result, as(expr.type, expr.args[0], kProduct)));
  }
  lazy_ = lazy;
  if (expr.condition) code.close();
  for (std::size_t i = expr.bounds.size(); i-- > 0;) {
    code.close();
    release(expr.bounds[i].index);
  }
}

Text Expressions::reduction(const Expr& expr) {
  const std::string result = take(is_argument(expr.reduce) ? "place" : "result");
  const bool inside_lambda = lazy_ > 0;
  Code* outer = code_;
  Code body;
  if (inside_lambda) {
    body.set_depth(outer->depth() + 1);
    code_ = &body;
  }
  if (is_argument(expr.reduce)) {
    const NumberClass number = program_.expr(expr.args[0]).type;
    code_->line("i64 {} = -1;", result);
    code_->line("{} {}_best = 0;", type(number), result);
  } else {
    code_->line("{} {} = {};", type(expr.type), result, identity(expr.reduce, expr.type));
  }
  reduction_loops(expr, result);
  if (!inside_lambda) return {result};
  code_->line("return {};", result);
  code_ = outer;
  give_back(result);
  return {fmt::format("[&] {{\n{}{}}}()", body.text(),
                      std::string(static_cast<std::size_t>(outer->depth()) * 2, ' '))};
}

}  // namespace ako::synth::gpu
