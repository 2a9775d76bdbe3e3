// SPDX-License-Identifier: Apache-2.0
#include "synth/code.h"

#include <cctype>

namespace ako::synth {

void Code::comment(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view first = text.substr(0, end);
    line(first.empty() ? "//" : "// " + std::string(first));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
}

Names::Names() {
  for (const char* word :
       {"alignas",   "alignof",   "and",       "asm",       "auto",     "bitand",  "bitor",   "bool",
        "break",     "case",      "catch",     "char",      "class",    "compl",   "concept", "const",
        "constexpr", "constinit", "continue",  "decltype",  "default",  "delete",  "do",      "double",
        "else",      "enum",      "explicit",  "export",    "extern",   "false",   "float",   "for",
        "friend",    "goto",      "if",        "inline",    "int",      "long",    "mutable", "namespace",
        "new",       "noexcept",  "not",       "nullptr",   "operator", "or",      "private", "protected",
        "public",    "register",  "requires",  "return",    "short",    "signed",  "sizeof",  "static",
        "struct",    "switch",    "template",  "this",      "throw",    "true",    "try",     "typedef",
        "typeid",    "typename",  "union",     "unsigned",  "using",    "virtual", "void",    "volatile",
        "while",     "xor",       "main",      "std",       "linux",    "unix",    "span",    "whole",
        "part",      "lanes",     "lane",      "lane_int",  "vec_at",   "half",    "half_at", "word",
        "larger",    "smaller",   "floor_div", "floor_mod", "real_t",   "vec",     "ivec",    "INFINITY",
        "NAN",       "I",         "mr",        "nr"}) {
    taken_.emplace(word);
  }
}

std::string Names::take(std::string_view wanted) {
  std::string name;
  for (const char c : wanted) name += std::isalnum(static_cast<unsigned char>(c)) || c == '_' ? c : '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front()))) name = "k" + name;
  // Prefixes of the support code, of the compiler, and of the C library's functions that are called by name.
  const bool reserved = name.starts_with("v_") || name.starts_with("from_") || name.starts_with("to_") ||
                        name.starts_with("round_") || name.starts_with("__") || name.starts_with("omp_") ||
                        name.starts_with("ako_");
  std::string base = reserved ? "p_" + name : name;
  std::string result = base;
  for (int i = 2; !taken_.insert(result).second; ++i) result = base + "_" + std::to_string(i);
  return result;
}

}  // namespace ako::synth
