// SPDX-License-Identifier: Apache-2.0
#include "problem/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ako {
namespace {

constexpr Function functions[] = {
    {"exp", Op::exp},
    {"exp2", Op::exp2},
    {"expm1", Op::expm1},
    {"log", Op::log},
    {"log2", Op::log2},
    {"log1p", Op::log1p},
    {"sqrt", Op::sqrt},
    {"rsqrt", Op::rsqrt},
    {"floor", Op::floor},
    {"ceil", Op::ceil},
    {"round", Op::round},
    {"trunc", Op::trunc},
    {"sin", Op::sin},
    {"cos", Op::cos},
    {"tan", Op::tan},
    {"tanh", Op::tanh},
    {"sinh", Op::sinh},
    {"cosh", Op::cosh},
    {"asin", Op::asin},
    {"acos", Op::acos},
    {"atan", Op::atan},
    {"erf", Op::erf},
    {"relu", Op::relu, 1, Signature::number_to_same},
    {"sigmoid", Op::sigmoid},
    {"abs", Op::abs, 1, Signature::number_to_same},
    {"sign", Op::sign, 1, Signature::number_to_same},
    {"is_nan", Op::is_nan, 1, Signature::real_to_bool},
    {"is_inf", Op::is_inf, 1, Signature::real_to_bool},
    {"int", Op::to_int, 1, Signature::any_to_integer},
    {"real", Op::to_real, 1, Signature::any_to_real},
    {"min", Op::min, 2, Signature::number_to_same},
    {"max", Op::max, 2, Signature::number_to_same},
    {"pow", Op::pow, 2},
    {"atan2", Op::atan2, 2},
    {"clamp", Op::clamp, 3, Signature::number_to_same},
};

constexpr std::array<std::string_view, 8> reductions = {"sum", "prod", "max",    "min",
                                                        "any", "all",  "argmax", "argmin"};

constexpr DistributionForm distributions[] = {
    {"normal", Distribution::normal, 0, 2, "normal(mean, sd)", {0, 1}},
    {"uniform", Distribution::uniform, 0, 2, "uniform(low, high)", {0, 1}},
    {"integers", Distribution::integers, 2, 2, "integers(low, high)", {0, 0}},
    {"categorical", Distribution::categorical, 1, 2, "categorical(n, skew)", {0, 0}},
    {"constant", Distribution::constant, 1, 1, "constant(c)", {0, 0}},
    {"permutation", Distribution::permutation, 1, 1, "permutation(n)", {0, 0}},
    {"sorted", Distribution::sorted, 1, 1, "sorted(DISTRIBUTION)", {0, 0}},
    {"ragged", Distribution::ragged, 1, 2, "ragged(total, skew)", {0, 0}},
    {"adversarial", Distribution::adversarial, 0, 1, "adversarial(scale)", {1, 0}},
};

constexpr std::string_view language_words[] = {"and",    "or",   "not",   "if",  "scan", "where",
                                               "inf",    "true", "false", "any", "all",  "argmax",
                                               "argmin", "sum",  "prod",  "max", "min",  "nan"};

/// Kernels are written in C++ and Python dialects and take tensors and dims by name.
constexpr std::string_view host_words[] = {
    "alignas",   "alignof", "asm",      "auto",     "bool",      "break",     "case",     "catch",
    "char",      "class",   "concept",  "const",    "constexpr", "continue",  "decltype", "default",
    "delete",    "do",      "double",   "else",     "enum",      "explicit",  "export",   "extern",
    "float",     "for",     "friend",   "goto",     "inline",    "int",       "long",     "mutable",
    "namespace", "new",     "noexcept", "operator", "private",   "protected", "public",   "register",
    "requires",  "return",  "short",    "signed",   "sizeof",    "static",    "struct",   "switch",
    "template",  "this",    "throw",    "try",      "typedef",   "typeid",    "typename", "union",
    "unsigned",  "using",   "virtual",  "void",     "volatile",  "while",     "main",     "def",
    "del",       "elif",    "except",   "finally",  "from",      "global",    "import",   "in",
    "is",        "lambda",  "nonlocal", "pass",     "raise",     "with",      "yield",    "None",
    "True",      "False",   "assert",   "async",    "await",     "as",        "restrict"};

bool contains(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::string why_not_a_problem_name(std::string_view name) {
  bool function = name == "max" || name == "min";
  return reduce_op_from(name) && !function ? std::string{} : why_not_a_name(name);
}

const Function* find_function(std::string_view name) {
  for (const Function& function : functions)
    if (function.name == name) return &function;
  return nullptr;
}

const Function* find_function(Op op) {
  for (const Function& function : functions)
    if (function.op == op) return &function;
  return nullptr;
}

std::vector<std::string> function_names() {
  std::vector<std::string> names = {"where"};
  for (const Function& function : functions) names.emplace_back(function.name);
  for (std::string_view name : reductions) names.emplace_back(name);
  for (std::string_view name :
       {"f64", "f32", "tf32", "f16", "bf16", "f8e4m3", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz", "f6e2m3",
        "f6e3m2", "f4e2m1", "e8m0", "i64", "i32", "i16", "i8", "u8", "i4"})
    names.emplace_back(name);
  return names;
}

std::optional<ReduceOp> reduce_op_from(std::string_view name) {
  auto found = std::find(reductions.begin(), reductions.end(), name);
  if (found == reductions.end()) return std::nullopt;
  return static_cast<ReduceOp>(found - reductions.begin());
}

std::string_view name_of(ReduceOp op) { return reductions[static_cast<std::size_t>(op)]; }

std::string_view symbol_of(Op op) {
  switch (op) {
    case Op::negate:
      return "-";
    case Op::logical_not:
      return "not ";
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
    case Op::pow:
      return "^";
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
      return "and";
    case Op::logical_or:
      return "or";
    default:
      return {};
  }
}

std::string_view c_symbol_of(Op op) {
  switch (op) {
    case Op::logical_and:
      return "&&";
    case Op::logical_or:
      return "||";
    case Op::logical_not:
      return "!";
    case Op::pow:
      return {};
    default:
      return symbol_of(op);
  }
}

int precedence_of(Op op) {
  switch (op) {
    case Op::logical_or:
      return 10;
    case Op::logical_and:
      return 20;
    case Op::logical_not:
      return not_precedence;
    case Op::less:
    case Op::less_equal:
    case Op::greater:
    case Op::greater_equal:
    case Op::equal:
    case Op::not_equal:
      return 30;
    case Op::add:
    case Op::sub:
      return 40;
    case Op::mul:
    case Op::div:
    case Op::mod:
      return 50;
    case Op::negate:
      return unary_precedence;
    case Op::pow:
      return 70;
    default:
      return tightest_precedence;
  }
}

std::span<const DistributionForm> distribution_forms() { return distributions; }

std::string_view name_of(Distribution distribution) {
  for (const DistributionForm& form : distributions)
    if (form.distribution == distribution) return form.name;
  return {};
}

std::string_view class_word(NumberClass number) {
  switch (number) {
    case NumberClass::real:
      return "real";
    case NumberClass::integer:
      return "an integer";
    case NumberClass::boolean:
      return "a truth value";
  }
  return {};
}

bool is_comparison(Op op) { return op >= Op::less && op <= Op::not_equal; }
bool is_logical(Op op) { return op == Op::logical_and || op == Op::logical_or; }

std::string why_not_a_name(std::string_view name) {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (name.empty()) return "it is empty";
  if (name.size() > 64) return "it is longer than 64 characters";
  if (!letter(name[0]) ||
      !std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || digit(c); }))
    return "names are letters, digits and underscores, and begin with a letter";
  if (name.find("__") != std::string_view::npos || name[0] == '_' || name.starts_with("ako_"))
    return "names with a leading underscore, with `__`, or beginning with `ako_` are kept for generated code";
  if (contains(language_words, name)) return "it is a word of the problem language";
  if (find_function(name)) return "it is the name of a function";
  if (scalar_type_from(name)) return "it is the name of a type";
  if (contains(host_words, name)) return "it is a word of C++ or Python, in which kernels are written";
  return {};
}

}  // namespace ako
