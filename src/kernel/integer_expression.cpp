// SPDX-License-Identifier: Apache-2.0
// Integer expressions of launch plans: parsed into a postfix program, so that evaluating one on many shapes
// does not recurse and one grammar serves evaluation and the listing of names.
//
//   sum     = product { ("+" | "-") product }
//   product = factor { ("*" | "/" | "%") factor }
//   factor  = "-" factor | NUMBER | NAME | FUNCTION "(" sum "," sum ")" | "(" sum ")"
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>

#include "base/text.h"
#include "kernel/launch_plan.h"

namespace ako {
namespace {

constexpr std::size_t longest_text = 1000;
constexpr int deepest_nesting = 100;

enum class Code : std::uint8_t {
  number,
  name,
  negate,
  add,
  subtract,
  multiply,
  divide,
  modulo,
  ceil_div,
  min,
  max
};

struct Instruction {
  Code code;
  std::size_t offset;       // of its token in the text, for messages
  std::int64_t number = 0;  // Code::number
  std::string name = {};    // Code::name
};

struct Function {
  std::string_view name;
  Code code;
};
constexpr Function functions[] = {{"ceil_div", Code::ceil_div}, {"min", Code::min}, {"max", Code::max}};

Error mistake(std::string_view text, std::size_t offset, std::string what, std::string advice = {}) {
  std::string shown = printable(text);
  return {ErrorKind::invalid_input, fmt::format("{} at column {} of '{}'", what, offset + 1, shown),
          std::move(advice), std::nullopt, fmt::format("  {}\n  {}^", shown, std::string(offset, ' '))};
}

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<std::vector<Instruction>> parse() {
    if (text_.size() > longest_text)
      return fail(ErrorKind::limit,
                  fmt::format("an integer expression of {} characters is too long", text_.size()),
                  fmt::format("at most {} characters", longest_text));
    AKO_CHECK(sum(0));
    next();
    if (at_ < text_.size()) return unexpected("expected an operator or the end");
    return std::move(program_);
  }

 private:
  using Done = Result<void>;

  char next() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  std::unexpected<Error> unexpected(std::string what, std::string advice = {}) {
    if (at_ < text_.size()) what += fmt::format(", found '{}',", printable(text_.substr(at_, 1)));
    return std::unexpected(mistake(text_, at_, std::move(what), std::move(advice)));
  }
  void emit(Code code, std::size_t offset) { program_.push_back({code, offset}); }

  Done sum(int depth) {
    AKO_CHECK(product(depth));
    for (char c = next(); c == '+' || c == '-'; c = next()) {
      std::size_t offset = at_++;
      AKO_CHECK(product(depth));
      emit(c == '+' ? Code::add : Code::subtract, offset);
    }
    return {};
  }

  Done product(int depth) {
    AKO_CHECK(factor(depth));
    for (char c = next(); c == '*' || c == '/' || c == '%'; c = next()) {
      std::size_t offset = at_++;
      AKO_CHECK(factor(depth));
      emit(c == '*' ? Code::multiply : c == '/' ? Code::divide : Code::modulo, offset);
    }
    return {};
  }

  Done factor(int depth) {
    if (depth > deepest_nesting)
      return std::unexpected(
          mistake(text_, at_, fmt::format("more than {} levels of nesting", deepest_nesting)));
    char c = next();
    if (c == '-') {
      std::size_t offset = at_++;
      AKO_CHECK(factor(depth + 1));
      emit(Code::negate, offset);
      return {};
    }
    if (c == '(') {
      ++at_;
      AKO_CHECK(sum(depth + 1));
      return expect(')');
    }
    if (is_digit(c)) return number();
    if (starts_name(c)) return name_or_call(depth);
    return unexpected("expected a number, a name or '('");
  }

  Done expect(char c) {
    if (next() != c) return unexpected(fmt::format("expected '{}'", c));
    ++at_;
    return {};
  }

  Done number() {
    std::size_t start = at_;
    std::int64_t value = 0;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_)
      if (__builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, text_[at_] - '0', &value))
        return std::unexpected(mistake(text_, start, "a number beyond 64 bits"));
    if (at_ < text_.size() && (text_[at_] == '.' || starts_name(text_[at_])))
      return unexpected("expected an integer",
                        "sizes are integers: write ceil_div(a, b) rather than a fraction");
    program_.push_back({Code::number, start, value});
    return {};
  }

  Done name_or_call(int depth) {
    std::size_t start = at_;
    while (at_ < text_.size() && (starts_name(text_[at_]) || is_digit(text_[at_]))) ++at_;
    std::string_view name = text_.substr(start, at_ - start);
    if (next() != '(') {
      program_.push_back({Code::name, start, 0, std::string(name)});
      return {};
    }
    const Function* function = nullptr;
    for (const Function& known : functions)
      if (known.name == name) function = &known;
    if (!function)
      return std::unexpected(mistake(text_, start, fmt::format("there is no function '{}'", name),
                                     "the functions are ceil_div(a, b), min(a, b) and max(a, b)"));
    ++at_;
    AKO_CHECK(sum(depth + 1));
    AKO_CHECK(expect(','));
    AKO_CHECK(sum(depth + 1));
    AKO_CHECK(expect(')'));
    emit(function->code, start);
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Instruction> program_;
};

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
  std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

enum class Arithmetic : std::uint8_t { fine, overflow, by_zero };

Arithmetic divide(Code code, std::int64_t a, std::int64_t b, std::int64_t& out) {
  if (b == 0) return Arithmetic::by_zero;
  if (b == -1) {  // a / -1 overflows, and a % -1 traps on x86-64, for the least integer
    if (code == Code::modulo) return out = 0, Arithmetic::fine;
    return __builtin_sub_overflow(std::int64_t{0}, a, &out) ? Arithmetic::overflow : Arithmetic::fine;
  }
  out = code == Code::modulo ? floor_mod(a, b) : floor_div(a, b);
  if (code == Code::ceil_div) out += a % b != 0;
  return Arithmetic::fine;
}

Arithmetic apply(Code code, std::int64_t a, std::int64_t b, std::int64_t& out) {
  auto checked = [](bool overflowed) { return overflowed ? Arithmetic::overflow : Arithmetic::fine; };
  switch (code) {
    case Code::add:
      return checked(__builtin_add_overflow(a, b, &out));
    case Code::subtract:
      return checked(__builtin_sub_overflow(a, b, &out));
    case Code::multiply:
      return checked(__builtin_mul_overflow(a, b, &out));
    case Code::min:
      return out = std::min(a, b), Arithmetic::fine;
    case Code::max:
      return out = std::max(a, b), Arithmetic::fine;
    default:
      return divide(code, a, b, out);
  }
}

Error unknown_name(std::string_view text, const Instruction& name, const Bindings& bindings) {
  std::vector<std::string> known;
  for (const auto& [each, value] : bindings) known.push_back(each);
  std::string_view near = closest(name.name, known);
  std::string advice = !near.empty()   ? fmt::format("did you mean '{}'?", near)
                       : known.empty() ? "no names can be used here"
                                       : fmt::format("known names: {}", fmt::join(known, ", "));
  return mistake(text, name.offset, fmt::format("'{}' is neither a dim nor a tunable,", name.name), advice);
}

}  // namespace

Result<std::int64_t> evaluate(const IntegerExpression& expression, const Bindings& bindings) {
  const std::string& text = expression.text;
  AKO_TRY(std::vector<Instruction> program, Parser(text).parse());
  std::vector<std::int64_t> stack;
  for (const Instruction& step : program) {
    if (step.code == Code::number) {
      stack.push_back(step.number);
      continue;
    }
    if (step.code == Code::name) {
      auto bound = bindings.find(step.name);
      if (bound == bindings.end()) return std::unexpected(unknown_name(text, step, bindings));
      stack.push_back(bound->second);
      continue;
    }
    std::int64_t right = stack.back();
    stack.pop_back();
    if (step.code == Code::negate) stack.push_back(0);
    std::int64_t& left = stack.back();
    Arithmetic outcome = apply(step.code == Code::negate ? Code::subtract : step.code, left, right, left);
    if (outcome == Arithmetic::overflow)
      return std::unexpected(mistake(text, step.offset, "the value exceeds 64 bits"));
    if (outcome == Arithmetic::by_zero)
      return std::unexpected(mistake(text, step.offset, "division by zero"));
  }
  return stack.back();
}

Result<std::vector<std::string>> names_in(const IntegerExpression& expression) {
  AKO_TRY(std::vector<Instruction> program, Parser(expression.text).parse());
  std::vector<std::string> names;
  for (Instruction& step : program)
    if (step.code == Code::name && std::find(names.begin(), names.end(), step.name) == names.end())
      names.push_back(std::move(step.name));
  return names;
}

}  // namespace ako
