// SPDX-License-Identifier: Apache-2.0
// Recursive descent, one function per level of precedence. Inside this file a mistake is thrown and caught
// where its statement ends, so that the next statement is still read.
#include "problem/grammar.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <limits>
#include <utility>

#include "problem/words.h"

namespace ako {
namespace {

constexpr int deepest_tree = 500;

struct Mistake {
  Spot spot;
  std::string what, advice;
};

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  bool at_end() const { return now().kind == TokenKind::end; }
  void skip_newlines() {
    while (now().kind == TokenKind::newline) ++at_;
  }
  void skip_statement() {
    while (now().kind != TokenKind::newline && !at_end()) ++at_;
    skip_newlines();
    recursion_ = 0;
    left_side_ = false;
  }

  /// What stands for the statement if it cannot be read.
  SyntaxStatement unread_statement() const {
    SyntaxStatement result;
    result.spot = now().spot;
    if (now().kind == TokenKind::name) result.target = now().text;
    result.broken = true;
    return result;
  }

  SyntaxStatement statement() {
    SyntaxStatement result;
    result.spot = now().spot;
    if (now().kind != TokenKind::name) unexpected("a statement begins with the name of a tensor");
    result.target = take().text;
    if (is("(")) {
      throw Mistake{now().spot, fmt::format("`{}(…)` cannot be assigned", result.target),
                    "subscripts stand in square brackets: `y[t, d] = …`"};
    }
    if (accept("[")) {
      left_side_ = true;
      result.subscripts = subscripts();
      left_side_ = false;
    }
    result.assignment = assignment();
    result.value = expression();
    end_of_statement();
    return result;
  }

  Syntax expression() { return logical_or(); }

  void end_of_statement() {
    if (now().kind == TokenKind::newline) return skip_newlines();
    if (is("=")) {
      throw Mistake{now().spot, "`=` inside an expression",
                    "equality is written `==`; one statement per line"};
    }
    if (is("if"))
      throw Mistake{now().spot, "`if` does not choose between values",
                    "write `where(condition, then, else)`"};
    unexpected("expected an operator or the end of the line");
  }

 private:
  struct Deeper {  // guards the recursion of operators that nest without brackets: `- - - x`
    explicit Deeper(Parser& parser) : parser_(parser) {
      if (++parser_.recursion_ > 4 * deepest_tree) parser_.too_deep(parser_.now().spot);
    }
    ~Deeper() { --parser_.recursion_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    Parser& parser_;
  };

  const Token& now() const { return tokens_[at_]; }
  const Token& next(std::size_t ahead = 1) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  const Token& take() { return at_end() ? now() : tokens_[at_++]; }
  bool is(std::string_view text) const {
    return now().text == text && (now().kind == TokenKind::symbol || now().kind == TokenKind::name);
  }
  bool accept(std::string_view text) { return is(text) && (take(), true); }

  [[noreturn]] void unexpected(std::string_view expected, std::string advice = {}) const {
    bool end = now().kind == TokenKind::newline || at_end();
    std::string found = end ? "the statement ends here" : fmt::format("found `{}`", now().text);
    throw Mistake{now().spot, fmt::format("{}; {}", found, expected), std::move(advice)};
  }
  [[noreturn]] void too_deep(const Spot& spot) const {
    throw Mistake{spot, fmt::format("the expression nests deeper than {} levels", deepest_tree),
                  "name a part of it as a temporary of its own"};
  }
  void expect(std::string_view symbol) {
    if (accept(symbol)) return;
    const bool value = now().kind == TokenKind::name || now().kind == TokenKind::integer;
    unexpected(fmt::format("expected `{}`", symbol),
               value ? "an operator or a comma is missing before it, or a bracket" : "");
  }

  Syntax node(Syntax::Kind kind, const Spot& spot, std::vector<Syntax> args = {}) const {
    Syntax result;
    result.kind = kind;
    result.spot = spot;
    for (const Syntax& arg : args) result.depth = std::max(result.depth, arg.depth + 1);
    if (result.depth > deepest_tree) too_deep(spot);
    result.args = std::move(args);
    return result;
  }

  Syntax binary(Op op, const Spot& spot, Syntax left, Syntax right) const {
    std::vector<Syntax> args;
    args.push_back(std::move(left));
    args.push_back(std::move(right));
    Syntax result = node(Syntax::Kind::binary, spot, std::move(args));
    result.op = op;
    return result;
  }

  Assignment assignment() {
    const Token& token = now();
    if (accept("=")) return Assignment::define;
    if (accept("+=")) return Assignment::sum;
    if (accept("*=")) return Assignment::prod;
    if (token.kind == TokenKind::name && next().text == "=" && (token.text == "max" || token.text == "min")) {
      at_ += 2;
      return token.text == "max" ? Assignment::max : Assignment::min;
    }
    if (is("-=")) throw Mistake{token.spot, "`-=` is not an update", "add the negative: `y[…] += -(…)`"};
    if (is("/="))
      throw Mistake{token.spot, "`/=` is not an update", "multiply by the inverse: `y[…] *= 1.0 / (…)`"};
    if (is("==")) throw Mistake{token.spot, "`==` compares; a statement assigns with `=`", {}};
    unexpected("expected `=`, `+=`, `*=`, `max=` or `min=` after the left side",
               is(":") ? "a definition is written with `=` alone" : "");
  }

  std::vector<Syntax> subscripts() {
    std::vector<Syntax> result;
    if (accept("]")) return result;
    do {
      Syntax subscript = additive();
      if (left_side_ && (is("<") || is("<="))) subscript = bounded(std::move(subscript));
      result.push_back(std::move(subscript));
    } while (accept(","));
    expect("]");
    return result;
  }

  Syntax bounded(Syntax index) {
    if (index.kind != Syntax::Kind::name)
      throw Mistake{index.spot, "a bound on the left side belongs to an index: `s[q < S] = …`", {}};
    Syntax result = node(Syntax::Kind::bounded, index.spot);
    SyntaxBound bound;
    bound.index = index.text;
    bound.spot = index.spot;
    bound.upper_inclusive = take().text == "<=";
    bound.upper.push_back(additive());
    result.text = index.text;
    result.bounds.push_back(std::move(bound));
    return result;
  }

  Syntax logical_or() {
    Deeper guard(*this);
    Syntax left = logical_and();
    while (is("or")) {
      Spot spot = take().spot;
      left = binary(Op::logical_or, spot, std::move(left), logical_and());
    }
    return left;
  }

  Syntax logical_and() {
    Syntax left = logical_not();
    while (is("and")) {
      Spot spot = take().spot;
      left = binary(Op::logical_and, spot, std::move(left), logical_not());
    }
    return left;
  }

  Syntax logical_not() {
    if (!is("not")) return comparison();
    Deeper guard(*this);
    Spot spot = take().spot;
    std::vector<Syntax> args;
    args.push_back(logical_not());
    return node(Syntax::Kind::logical_not, spot, std::move(args));
  }

  std::optional<Op> comparison_operator() const {
    if (now().kind != TokenKind::symbol) return std::nullopt;
    for (Op op : {Op::less, Op::less_equal, Op::greater, Op::greater_equal, Op::equal, Op::not_equal})
      if (now().text == symbol_of(op)) return op;
    return std::nullopt;
  }

  Syntax comparison() {
    Syntax first = additive();
    std::optional<Op> op = comparison_operator();
    if (!op) return first;
    Spot spot = now().spot;
    std::vector<Syntax> args;
    args.push_back(std::move(first));
    std::vector<Op> comparisons;
    for (; op; op = comparison_operator()) {
      take();
      comparisons.push_back(*op);
      args.push_back(additive());
    }
    Syntax result = node(Syntax::Kind::chain, spot, std::move(args));
    result.comparisons = std::move(comparisons);
    return result;
  }

  Syntax additive() {
    Syntax left = multiplicative();
    while (now().kind == TokenKind::symbol && (is("+") || is("-"))) {
      const Token& token = take();
      left = binary(token.text == "+" ? Op::add : Op::sub, token.spot, std::move(left), multiplicative());
    }
    return left;
  }

  Syntax multiplicative() {
    Syntax left = negation();
    while (now().kind == TokenKind::symbol && (is("*") || is("/") || is("%"))) {
      const Token& token = take();
      Op op = token.text == "*" ? Op::mul : token.text == "/" ? Op::div : Op::mod;
      left = binary(op, token.spot, std::move(left), negation());
    }
    return left;
  }

  /// Binds weaker than `^`, as in mathematics: -x^2 is -(x^2).
  Syntax negation() {
    if (is("+") && now().kind == TokenKind::symbol)
      unexpected("expected a value", "a leading `+` is not needed");
    if (!is("-")) return power();
    Deeper guard(*this);
    Spot spot = take().spot;
    std::vector<Syntax> args;
    args.push_back(negation());
    return node(Syntax::Kind::negate, spot, std::move(args));
  }

  Syntax power() {
    Deeper guard(*this);
    Syntax base = primary();
    if (!is("^") && !is("**")) return base;
    Spot spot = take().spot;
    return binary(Op::pow, spot, std::move(base), negation());
  }

  Syntax primary() {
    const Token& token = now();
    switch (token.kind) {
      case TokenKind::integer:
        return integer_literal();
      case TokenKind::real:
        return real_literal();
      case TokenKind::name:
        return named();
      case TokenKind::symbol:
        if (accept("(")) {
          bool outer = std::exchange(left_side_, false);
          Syntax inside = expression();
          left_side_ = outer;
          expect(")");
          return inside;
        }
        break;
      default:
        break;
    }
    unexpected("expected a value");
  }

  Syntax integer_literal() {
    const Token& token = take();
    Syntax result = node(Syntax::Kind::integer, token.spot);
    auto [end, status] = std::from_chars(token.text.begin(), token.text.end(), result.integer);
    if (status != std::errc{} || end != token.text.end())
      throw Mistake{token.spot, fmt::format("{} does not fit in 64 bits", token.text),
                    "write it as a real number: 1e20"};
    return result;
  }

  Syntax real_literal() {
    const Token& token = take();
    Syntax result = node(Syntax::Kind::real, token.spot);
    result.real = std::strtod(std::string(token.text).c_str(), nullptr);
    if (result.real > std::numeric_limits<double>::max())
      throw Mistake{token.spot, fmt::format("{} is too large for fp64", token.text),
                    "infinity is written `inf`"};
    return result;
  }

  Syntax named() {
    Token token = take();
    if (token.text == "true" || token.text == "false" || token.text == "inf") return constant(token);
    if (token.text == "scan") return scan(token);
    if (token.text == "not" || token.text == "and" || token.text == "or" || token.text == "if") {
      --at_;
      unexpected("expected a value");
    }
    if (is("(")) return call(token);
    if (is("[")) return access(token);
    Syntax result = node(Syntax::Kind::name, token.spot);
    result.text = token.text;
    return result;
  }

  Syntax constant(const Token& token) const {
    Syntax result = node(token.text == "inf" ? Syntax::Kind::real : Syntax::Kind::boolean, token.spot);
    result.real = std::numeric_limits<double>::infinity();
    result.integer = token.text == "true";
    return result;
  }

  Syntax scan(const Token& token) {
    Token operation = now();
    if (operation.kind != TokenKind::name || next().text != "(" || !reduce_op_from(operation.text))
      unexpected("`scan` is followed by a reduction", "for example `scan sum(k <= t: x[k])`");
    take();
    Syntax result = call(operation);
    if (result.kind != Syntax::Kind::reduce)
      throw Mistake{operation.spot, "`scan` needs a bound", "for example `scan sum(k <= t: x[k])`"};
    result.scan = true;
    result.spot = token.spot;
    return result;
  }

  Syntax access(const Token& token) {
    take();
    Syntax result = node(Syntax::Kind::access, token.spot, subscripts());
    result.text = token.text;
    if (is("or") && fallback_follows()) {
      take();
      result.fallback.push_back(fallback());
    }
    return result;
  }

  /// `x[i] or 0`: only a number or truth value makes it a fallback; `mask[i] or other[i]` is logic.
  bool fallback_follows() const {
    const Token& value = next().text == "-" ? next(2) : next();
    return value.kind == TokenKind::integer || value.kind == TokenKind::real || value.text == "inf" ||
           value.text == "true" || value.text == "false";
  }

  Syntax fallback() {
    if (!is("-")) return primary();
    Spot spot = take().spot;
    std::vector<Syntax> args;
    args.push_back(primary());
    return node(Syntax::Kind::negate, spot, std::move(args));
  }

  /// A `:` before the parenthesis closes makes it a reduction: max(k < K: x[k]) and max(a, b) differ in that
  /// only.
  bool colon_ahead() const {
    int depth = 0;
    for (std::size_t i = at_; i < tokens_.size(); ++i) {
      std::string_view text = tokens_[i].text;
      if (tokens_[i].kind != TokenKind::symbol) continue;
      if (text == "(" || text == "[") ++depth;
      if (text == ")" || text == "]") --depth;
      if (depth == 0) return false;
      if (depth == 1 && text == ":") return true;
    }
    return false;
  }

  Syntax call(const Token& token) {
    std::optional<ReduceOp> reduction = reduce_op_from(token.text);
    bool outer = std::exchange(left_side_, false);
    Syntax result = reduction && colon_ahead() ? reduce(token, *reduction) : function_call(token, reduction);
    left_side_ = outer;
    return result;
  }

  Syntax function_call(const Token& token, std::optional<ReduceOp> reduction) {
    if (reduction && token.text != "max" && token.text != "min")
      throw Mistake{token.spot, fmt::format("{} needs a bound", token.text),
                    fmt::format("say over what: `{}(k < K: …)`", token.text)};
    if (colon_ahead())
      throw Mistake{token.spot, fmt::format("there is no reduction `{}`", token.text),
                    token.text == "mean" ? "a mean is a sum divided by its length: `sum(d < D: x[t, d]) / D`"
                                         : "known are sum, prod, max, min, any, all, argmax, argmin"};
    expect("(");
    std::vector<Syntax> args;
    if (!accept(")")) {
      do args.push_back(expression());
      while (accept(","));
      expect(")");
    }
    Syntax result = node(Syntax::Kind::call, token.spot, std::move(args));
    result.text = token.text;
    return result;
  }

  Syntax reduce(const Token& token, ReduceOp op) {
    expect("(");
    std::vector<SyntaxBound> bounds;
    do bounds.push_back(bound());
    while (accept(","));
    std::vector<Syntax> condition;
    if (accept("if")) condition.push_back(expression());
    expect(":");
    std::vector<Syntax> args;
    args.push_back(expression());
    expect(")");
    Syntax result = node(Syntax::Kind::reduce, token.spot, std::move(args));
    result.text = token.text;
    result.reduce = op;
    result.bounds = std::move(bounds);
    result.condition = std::move(condition);
    return result;
  }

  /// `k < K`, `k <= q`, `a <= k < b`, `a < k <= b`.
  SyntaxBound bound() {
    Syntax first = additive();
    Token relation = bound_relation();
    Syntax second = additive();
    SyntaxBound result;
    if (is("<") || is("<=")) {
      result.lower_strict = relation.text == "<";
      result.lower.push_back(std::move(first));
      relation = take();
      first = std::move(second);
      second = additive();
    }
    if (first.kind != Syntax::Kind::name)
      throw Mistake{first.spot, "a bound belongs to an index", "write `k < K` or `a <= k < b`"};
    result.index = first.text;
    result.spot = first.spot;
    result.upper_inclusive = relation.text == "<=";
    result.upper.push_back(std::move(second));
    return result;
  }

  Token bound_relation() {
    if (is("<") || is("<=")) return take();
    if (is(">") || is(">="))
      throw Mistake{now().spot, "bounds are written with `<` and `<=`", "write `a <= k < b`"};
    unexpected("expected a bound `k < K`",
               "a reduction is written `sum(k < K: …)`, a condition `sum(k < K if …: …)`");
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int recursion_ = 0;
  bool left_side_ = false;
};

}  // namespace

std::vector<SyntaxStatement> parse_math(const SourceText& source, Diagnostics& diagnostics) {
  std::vector<SyntaxStatement> statements;
  std::size_t before = diagnostics.size();
  std::vector<Token> tokens = tokenize(source, diagnostics);
  if (diagnostics.size() > before) return statements;
  Parser parser(std::move(tokens));
  for (parser.skip_newlines(); !parser.at_end();) {
    SyntaxStatement unread = parser.unread_statement();
    try {
      statements.push_back(parser.statement());
    } catch (const Mistake& mistake) {
      diagnostics.add(mistake.spot, mistake.what, mistake.advice);
      parser.skip_statement();
      statements.push_back(std::move(unread));
    }
  }
  return statements;
}

std::optional<Syntax> parse_expression(const SourceText& source, Diagnostics& diagnostics) {
  std::size_t before = diagnostics.size();
  std::vector<Token> tokens = tokenize(source, diagnostics);
  if (diagnostics.size() > before) return std::nullopt;
  Parser parser(std::move(tokens));
  try {
    parser.skip_newlines();
    Syntax result = parser.expression();
    parser.end_of_statement();
    if (!parser.at_end()) parser.end_of_statement();
    return result;
  } catch (const Mistake& mistake) {
    diagnostics.add(mistake.spot, mistake.what, mistake.advice);
    return std::nullopt;
  }
}

}  // namespace ako
