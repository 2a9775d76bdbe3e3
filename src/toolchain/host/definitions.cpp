// SPDX-License-Identifier: Apache-2.0
#include "toolchain/host/definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace ako {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Comments and literals blanked, line breaks kept.
std::string code_only(const std::string& text) {
  std::string code = text;
  auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < std::min(to, code.size()); ++i)
      if (code[i] != '\n') code[i] = ' ';
  };
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    if (text.compare(i, 2, "//") == 0) {
      end = std::min(text.find('\n', i), text.size());
      blank(i, end);
    } else if (text.compare(i, 2, "/*") == 0) {
      std::size_t close = text.find("*/", i + 2);
      end = close == std::string::npos ? text.size() : close + 2;
      blank(i, end);
    } else if (text[i] == '"' || (text[i] == '\'' && (i == 0 || !is_word(text[i - 1])))) {
      while (end < text.size() && text[end] != text[i] && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
      blank(i + 1, end);
      ++end;
    }
    i = end;
  }
  return code;
}

std::string trimmed(std::string_view text) {
  std::string out;
  for (char c : text)
    if (!std::isspace(static_cast<unsigned char>(c)))
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

/// The bracket that closes the one at `open`.
std::size_t closing(const std::string& code, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < code.size(); ++i) {
    depth += code[i] == '(';
    depth -= code[i] == ')';
    if (depth == 0) return i;
  }
  return std::string::npos;
}

std::vector<std::string> split_parameters(const std::string& text) {
  std::vector<std::string> parts;
  int depth = 0;
  std::string part;
  for (char c : text) {
    depth += c == '(' || c == '<' || c == '[' || c == '{';
    depth -= c == ')' || c == '>' || c == ']' || c == '}';
    if (c == ',' && depth == 0)
      parts.push_back(trimmed(std::exchange(part, {})));
    else
      part += c;
  }
  parts.push_back(trimmed(part));
  if (parts.size() == 1 && (parts[0].empty() || parts[0] == "void")) parts.clear();
  return parts;
}

/// At `at` stands the symbol: is it "void SYMBOL(…) {", and what is between the brackets?
std::optional<std::vector<std::string>> definition_at(const std::string& code, std::size_t at,
                                                      std::size_t length) {
  std::string before = trimmed(std::string_view(code).substr(at > 80 ? at - 80 : 0, at > 80 ? 80 : at));
  if (!before.ends_with("void") || (before.size() > 4 && is_word(before[before.size() - 5])))
    return std::nullopt;
  std::size_t open = code.find_first_not_of(" \t\r\n", at + length);
  if (open == std::string::npos || code[open] != '(') return std::nullopt;
  std::size_t close = closing(code, open);
  if (close == std::string::npos) return std::nullopt;
  std::size_t body = code.find_first_not_of(" \t\r\n", close + 1);
  if (body != std::string::npos && code.compare(body, 8, "noexcept") == 0)
    body = code.find_first_not_of(" \t\r\n", body + 8);
  if (body == std::string::npos || code[body] != '{') return std::nullopt;
  std::string inside = code.substr(open + 1, close - open - 1);
  if (inside.find('#') != std::string::npos || inside.find("...") != std::string::npos) return std::nullopt;
  return split_parameters(inside);
}

enum class Kind : std::uint8_t { pointer, f32, f64, integer, unknown };

Kind kind_of_word(const std::string& word) {
  if (word == "float") return Kind::f32;
  if (word == "double") return Kind::f64;
  for (std::string_view integer :
       {"int", "long", "short", "char", "bool", "unsigned", "signed", "size_t", "ssize_t", "ptrdiff_t",
        "int64_t", "int32_t", "int16_t", "int8_t", "uint64_t", "uint32_t", "uint16_t", "uint8_t"})
    if (word == integer) return Kind::integer;
  return Kind::unknown;
}

/// Of a parameter as written. The last word may be its name, which is no type.
Kind kind_of_parameter(const std::string& parameter) {
  if (parameter.find_first_of("*&[") != std::string::npos) return Kind::pointer;
  std::vector<std::string> words;
  std::string word;
  for (char c : parameter + " ") {
    if (is_word(c)) {
      word += c;
    } else if (!word.empty()) {
      if (word != "const" && word != "std" && word != "volatile") words.push_back(word);
      word.clear();
    }
  }
  if (words.empty() || parameter.find('<') != std::string::npos) return Kind::unknown;
  return kind_of_word(words.front());
}

Kind kind_of_passed(const std::string& type) {
  if (type == "void*") return Kind::pointer;
  return kind_of_word(type);
}

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::pointer:
      return "a pointer";
    case Kind::f32:
      return "a float";
    case Kind::f64:
      return "a double";
    default:
      return "an integer";
  }
}

std::string complaint(const KernelSignature& kernel, const Definition& found, const std::string& what) {
  return fmt::format(
      "{}:{}: error: {}\n  the plan: {{kernel: {}, args: [{}]}}\n  the source: void {}({})\n  help: define "
      "it as {}\n",
      found.file, found.line, what, kernel.symbol, fmt::join(kernel.names, ", "), kernel.symbol,
      fmt::join(found.parameters, ", "), declaration(kernel));
}

}  // namespace

std::optional<Definition> find_definition(std::span<const SourceFile> sources, const std::string& symbol) {
  std::optional<Definition> found;
  for (const SourceFile& source : sources) {
    std::string code = code_only(source.text);
    for (std::size_t at = code.find(symbol); at != std::string::npos; at = code.find(symbol, at + 1)) {
      if ((at > 0 && is_word(code[at - 1])) ||
          (at + symbol.size() < code.size() && is_word(code[at + symbol.size()])))
        continue;
      auto parameters = definition_at(code, at, symbol.size());
      if (!parameters) continue;
      if (found && found->parameters != *parameters)
        return std::nullopt;  // conditional compilation, overloads
      int line = 1 + static_cast<int>(
                         std::count(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
      if (!found) found = Definition{source.path, line, std::move(*parameters)};
    }
  }
  return found;
}

std::optional<std::string> signature_mismatch(const KernelSignature& kernel, const Definition& found) {
  if (found.parameters.size() != kernel.types.size())
    return complaint(
        kernel, found,
        fmt::format("'{}' takes {} parameter{}, and the plan passes {}", kernel.symbol,
                    found.parameters.size(), found.parameters.size() == 1 ? "" : "s", kernel.types.size()));
  for (std::size_t i = 0; i < kernel.types.size(); ++i) {
    Kind passed = kind_of_passed(kernel.types[i]), declared = kind_of_parameter(found.parameters[i]);
    if (declared == Kind::unknown || passed == Kind::unknown || declared == passed) continue;
    return complaint(
        kernel, found,
        fmt::format("parameter {} of '{}', '{}', is {}, and the plan passes {} ('{}')", i + 1, kernel.symbol,
                    found.parameters[i], name_of(declared), name_of(passed), kernel.names[i]));
  }
  return std::nullopt;
}

}  // namespace ako
