// SPDX-License-Identifier: Apache-2.0
#include <cctype>

#include "judge/audit.h"

namespace ako {
namespace {

bool starts_identifier(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80);
}
bool continues_identifier(char c) {
  return starts_identifier(c) || std::isdigit(static_cast<unsigned char>(c));
}

class Scanner {
 public:
  explicit Scanner(std::string_view source) : source_(source) {}

  std::vector<CppToken> scan() {
    while (at_ < source_.size()) step();
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }
  char take() {
    char c = source_[at_++];
    line_ += c == '\n';
    return c;
  }
  bool looking_at(std::string_view text) const { return source_.substr(at_).starts_with(text); }
  void add(CppToken::Kind kind, std::string text, int line) {
    tokens_.push_back({kind, std::move(text), line});
  }

  void step() {
    char c = peek();
    if (looking_at("\\\n")) return void((take(), take()));
    if (std::isspace(static_cast<unsigned char>(c))) return void(take());
    if (looking_at("//")) return line_comment();
    if (looking_at("/*")) return block_comment();
    if (c == '"' || c == '\'') return literal(c);
    if (starts_identifier(c)) return identifier();
    if (std::isdigit(static_cast<unsigned char>(c))) return number();
    int line = line_;
    add(CppToken::Kind::punctuation, std::string(1, take()), line);
  }

  void line_comment() {
    while (at_ < source_.size() && peek() != '\n')
      if (looking_at("\\\n"))
        take(), take();
      else
        take();
  }
  void block_comment() {
    take(), take();
    while (at_ < source_.size() && !looking_at("*/")) take();
    if (at_ < source_.size()) take(), take();
  }
  void literal(char quote) {
    int line = line_;
    std::string text;
    take();
    while (at_ < source_.size() && peek() != quote && peek() != '\n') {
      if (peek() == '\\' && at_ + 1 < source_.size()) text += take();
      text += take();
    }
    if (peek() == quote) take();
    add(CppToken::Kind::text, std::move(text), line);
  }
  void raw_literal() {  // after R, at the quote
    int line = line_;
    take();
    std::string end = ")";
    while (at_ < source_.size() && peek() != '(' && end.size() < 18) end += take();
    end += '"';
    std::string text;
    if (at_ < source_.size()) take();
    while (at_ < source_.size() && !looking_at(end)) text += take();
    for (std::size_t i = 0; i < end.size() && at_ < source_.size(); ++i) take();
    add(CppToken::Kind::text, std::move(text), line);
  }
  void identifier() {
    int line = line_;
    std::string text;
    while (at_ < source_.size()) {
      if (looking_at("\\\n")) {
        take(), take();
        continue;
      }
      if (!continues_identifier(peek())) break;
      text += take();
    }
    bool prefix = text == "R" || text == "LR" || text == "uR" || text == "UR" || text == "u8R";
    if (prefix && peek() == '"') return raw_literal();
    add(CppToken::Kind::identifier, std::move(text), line);
  }
  void number() {  // 1'000'000 has quotes in it
    while (at_ < source_.size() && (continues_identifier(peek()) || peek() == '.' || peek() == '\'')) take();
  }

  std::string_view source_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::vector<CppToken> tokens_;
};

}  // namespace

std::vector<CppToken> cpp_tokens(std::string_view source) { return Scanner(source).scan(); }

}  // namespace ako
