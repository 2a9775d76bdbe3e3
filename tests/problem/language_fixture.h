// SPDX-License-Identifier: Apache-2.0
// Small problem files around a few lines of math.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "problem/problem.h"

namespace ako {

/// A problem with common tensors of which the math uses some: the others are left out, since unused ones are
/// errors.
struct ProblemText {
  std::string math;
  std::string shapes = "  - {T: 6, D: 8}\n  - {T: 1, D: 1}\n  - {T: 100000, D: 4096}\n";
  std::string extra = {};  // further lines under `tensors:`

  std::string text() const {
    std::string result = "problem: small\ndims: {T: rows, D: columns}\ntensors:\n";
    auto offer = [&](const std::string& name, const std::string& rest) {
      if (mentions(name)) result += "  " + name + ": {" + rest + "}\n";
    };
    offer("x", "type: f32, shape: [T, D]");
    offer("w", "type: f32, shape: [D]");
    offer("idx", "type: i32, shape: [T], values: \"integers(0, D)\"");
    offer("off", "type: i32, shape: [T + 1], values: \"ragged(D, 0)\"");
    offer("flag", "type: bool, shape: [T], values: \"integers(0, 2)\"");
    offer("h0", "type: f32, shape: [D]");
    offer("y", "type: f32, shape: [T, D]");
    offer("r", "type: f32, shape: [T]");
    offer("n", "type: i32, shape: [T]");
    result += extra + "scalars:\n";
    if (mentions("eps"))
      result += "  eps: {type: f32, value: 1e-6}\n";
    else
      result.resize(result.size() - std::string("scalars:\n").size());
    result += "math: |\n";
    for (std::size_t begin = 0; begin < math.size();) {
      std::size_t end = std::min(math.find('\n', begin), math.size());
      result += "  " + math.substr(begin, end - begin) + "\n";
      begin = end + 1;
    }
    return result + "shapes:\n" + shapes + "tolerance: {snr_db: 100}\n";
  }

  bool mentions(const std::string& word) const {
    auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    for (std::size_t at = math.find(word); at != std::string::npos; at = math.find(word, at + 1)) {
      bool starts = at == 0 || !letter(math[at - 1]);
      bool ends = at + word.size() >= math.size() || !letter(math[at + word.size()]);
      if (starts && ends) return true;
    }
    return false;
  }

  Parsed<Problem> parse() const { return parse_problem(text(), "small.yaml"); }
};

inline std::string errors_of(const Parsed<Problem>& parsed) { return parsed ? "" : to_text(parsed.error()); }

/// The messages for math in which T and D need not be mentioned: names of dims are used by x, y.
inline std::string errors_in(const std::string& math) { return errors_of(ProblemText{math}.parse()); }

inline std::vector<std::string> statements_of(const Problem& problem) {
  std::vector<std::string> result;
  for (const Statement& statement : problem.statements) result.push_back(to_text(problem, statement));
  return result;
}

}  // namespace ako
