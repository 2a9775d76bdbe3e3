// SPDX-License-Identifier: Apache-2.0
#include "problem/lexer.h"

#include <fmt/format.h>

#include <array>

namespace ako {
namespace {

constexpr int deepest_brackets = 200;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

class Lexer {
 public:
  Lexer(const SourceText& source, Diagnostics& diagnostics)
      : text_(source.text), column_shift_(source.column), line_(source.line), diagnostics_(diagnostics) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) step();
    if (!open_.empty())
      diagnostics_.add(open_.back().spot, fmt::format("`{}` is never closed", open_.back().text),
                       fmt::format("add the `{}` that belongs to it", open_.back().text == "(" ? ")" : "]"));
    push(TokenKind::newline, 0);
    push(TokenKind::end, 0);
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  Spot here(std::size_t length) const {
    return {line_, column_shift_ + static_cast<int>(at_ - line_start_), static_cast<int>(length)};
  }

  void push(TokenKind kind, std::size_t length) {
    tokens_.push_back({kind, text_.substr(at_, length), here(length)});
    at_ += length;
  }

  void step() {
    char c = peek();
    if (c == '\n') return newline();
    if (c == ' ' || c == '\t' || c == '\r') return void(++at_);
    if (c == '#') return skip_comment();
    if (is_letter(c)) return word();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    symbol();
  }

  void skip_comment() {
    while (at_ < text_.size() && peek() != '\n') ++at_;
  }

  bool continues() const {
    if (!open_.empty()) return true;
    if (tokens_.empty() || tokens_.back().kind == TokenKind::newline) return true;
    std::string_view last = tokens_.back().text;
    if (tokens_.back().kind == TokenKind::name)
      return last == "and" || last == "or" || last == "not" || last == "scan";
    return tokens_.back().kind == TokenKind::symbol && last != ")" && last != "]";
  }

  void newline() {
    if (continues())
      ++at_;
    else
      push(TokenKind::newline, 1);
    ++line_;
    line_start_ = at_;
  }

  void word() {
    std::size_t length = 0;
    while (is_letter(peek(length)) || is_digit(peek(length))) ++length;
    push(TokenKind::name, length);
  }

  void number() {
    std::size_t length = 0;
    bool real = false;
    while (is_digit(peek(length))) ++length;
    if (peek(length) == '.') {
      real = true;
      ++length;
      while (is_digit(peek(length))) ++length;
    }
    if (peek(length) == 'e' || peek(length) == 'E') {
      std::size_t sign = peek(length + 1) == '-' || peek(length + 1) == '+' ? 2 : 1;
      if (is_digit(peek(length + sign))) {
        real = true;
        length += sign;
        while (is_digit(peek(length))) ++length;
      }
    }
    if (is_letter(peek(length))) {
      diagnostics_.add(here(length + 1),
                       fmt::format("`{}` is followed by a letter", text_.substr(at_, length)),
                       "multiplication is written with `*`; names do not begin with a digit");
    }
    push(real ? TokenKind::real : TokenKind::integer, length);
  }

  void symbol() {
    static constexpr std::array<std::string_view, 8> two = {"**", "+=", "-=", "*=", "/=", "<=", ">=", "=="};
    for (std::string_view symbol : two)
      if (text_.substr(at_, 2) == symbol) return push(TokenKind::symbol, 2);
    if (text_.substr(at_, 2) == "!=") return push(TokenKind::symbol, 2);
    char c = peek();
    static constexpr std::string_view known = "+-*/%^()[],:=<>";
    if (known.find(c) == std::string_view::npos) return stray(c);
    if (c == '(' || c == '[') open();
    if (c == ')' || c == ']') {
      if (!close(c)) return;
    }
    push(TokenKind::symbol, 1);
  }

  void open() {
    if (open_.size() == deepest_brackets)
      diagnostics_.add(here(1), fmt::format("brackets nest deeper than {} levels", deepest_brackets),
                       "name a part of the expression as a temporary of its own");
    open_.push_back({TokenKind::symbol, text_.substr(at_, 1), here(1)});
  }

  bool close(char c) {
    char expected = c == ')' ? '(' : '[';
    if (!open_.empty() && open_.back().text[0] == expected) return open_.pop_back(), true;
    if (open_.empty())
      diagnostics_.add(here(1), fmt::format("`{}` closes nothing", c));
    else
      diagnostics_.add(here(1), fmt::format("`{}` does not close the `{}` of line {}", c, open_.back().text,
                                            open_.back().spot.line));
    ++at_;
    return false;
  }

  void stray(char c) {
    std::size_t length = 1;
    while ((static_cast<unsigned char>(peek(length)) & 0xC0) == 0x80) ++length;
    std::string advice;
    if (c == '&' || c == '|' || c == '!') advice = "logic is written `and`, `or`, `not`";
    if (c == '{' || c == '}') advice = "use `( )` for grouping and `[ ]` for subscripts";
    if (c == ';') advice = "write each statement on a line of its own";
    if (c == '?') advice = "a choice is written `where(condition, then, else)`";
    std::string shown = static_cast<unsigned char>(c) < 32
                            ? fmt::format("byte 0x{:02x}", static_cast<unsigned char>(c))
                            : fmt::format("`{}`", text_.substr(at_, length));
    diagnostics_.add(here(length), fmt::format("{} has no meaning in math", shown), std::move(advice));
    at_ += length;
  }

  std::string_view text_;
  int column_shift_;
  int line_;
  Diagnostics& diagnostics_;
  std::size_t at_ = 0, line_start_ = 0;
  std::vector<Token> tokens_, open_;
};

}  // namespace

std::vector<Token> tokenize(const SourceText& source, Diagnostics& diagnostics) {
  return Lexer(source, diagnostics).run();
}

}  // namespace ako
