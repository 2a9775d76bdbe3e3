// SPDX-License-Identifier: Apache-2.0
// The language's own notation from expressions: parsing the result gives the same expressions again.
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "problem/problem.h"
#include "problem/words.h"

namespace ako {
namespace {

class Printer {
 public:
  explicit Printer(const Problem& problem) : problem_(problem) {}

  std::string text(ExprId which) { return within(which, 0); }

  std::string statement(const Statement& statement) {
    for (const Range& range : statement.indices)
      if (range.stated) stated_.push_back(range);
    std::string left = problem_.tensor(statement.target).name;
    if (!statement.subscripts.empty()) left += "[" + list(statement.subscripts) + "]";
    stated_.clear();
    return fmt::format("{} {} {}", left, assignment(statement), text(statement.value));
  }

 private:
  static std::string_view assignment(const Statement& statement) {
    if (statement.kind != StatementKind::accumulate) return "=";
    switch (statement.accumulate) {
      case ReduceOp::prod:
        return "*=";
      case ReduceOp::max:
        return "max=";
      case ReduceOp::min:
        return "min=";
      default:
        return "+=";
    }
  }

  /// In parentheses if it binds weaker than `level`.
  std::string within(ExprId which, int level) {
    std::string text = plain(which);
    return precedence(problem_.expr(which)) < level ? "(" + text + ")" : text;
  }

  int precedence(const Expr& expr) const {
    if (expr.kind == ExprKind::unary || expr.kind == ExprKind::binary) return precedence_of(expr.op);
    if (expr.kind == ExprKind::int_literal && expr.integer < 0) return unary_precedence;
    if (expr.kind == ExprKind::access && expr.fallback) return 1;  // as it reads, not as it parses
    return tightest_precedence;
  }

  std::string list(const std::vector<ExprId>& parts) {
    std::string result;
    for (ExprId part : parts) result += (result.empty() ? "" : ", ") + text(part);
    return result;
  }

  std::string plain(ExprId which) {
    const Expr& expr = problem_.expr(which);
    switch (expr.kind) {
      case ExprKind::real_literal:
        return real(expr.real);
      case ExprKind::int_literal:
        return std::to_string(expr.integer);
      case ExprKind::bool_literal:
        return expr.integer ? "true" : "false";
      case ExprKind::dim:
        return problem_.dims[static_cast<std::size_t>(expr.ref)].name;
      case ExprKind::scalar:
        return problem_.scalars[static_cast<std::size_t>(expr.ref)].name;
      case ExprKind::index:
        return index(expr.ref);
      case ExprKind::access:
        return access(expr);
      case ExprKind::unary:
        return std::string(symbol_of(expr.op)) + within(expr.args[0], precedence_of(expr.op));
      case ExprKind::binary:
        return binary(expr);
      case ExprKind::call:
        return fmt::format("{}({})", expr.op == Op::cast ? name_of(expr.cast) : find_function(expr.op)->name,
                           list(expr.args));
      case ExprKind::select:
        return fmt::format("where({})", list(expr.args));
      case ExprKind::reduce:
        return reduce(expr);
    }
    return {};
  }

  static std::string real(double value) {
    if (std::isinf(value)) return "inf";
    std::string text = fmt::format("{}", value);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
  }

  std::string index(IndexId which) {
    std::string name = problem_.indices[static_cast<std::size_t>(which)].name;
    for (auto range = stated_.begin(); range != stated_.end(); ++range)
      if (range->index == which) {
        ExprId upper = range->upper;
        stated_.erase(range);
        return fmt::format("{} {}", name, ends(upper));
      }
    return name;
  }

  std::string access(const Expr& expr) {
    std::string result = problem_.tensor(expr.ref).name;
    if (!expr.args.empty())
      result += "[" + list(expr.args) + "]";
    else if (expr.fallback)
      result += "[]";
    if (expr.fallback) result += " or " + text(*expr.fallback);
    return result;
  }

  std::string binary(const Expr& expr) {
    int level = precedence_of(expr.op);
    // Comparisons do not associate; `^` associates to the right and takes a negated exponent without
    // parentheses.
    int left = is_comparison(expr.op) || expr.op == Op::pow ? level + 1 : level;
    int right = expr.op == Op::pow ? unary_precedence : level + 1;
    std::string_view gap = expr.op == Op::pow ? "" : " ";
    return fmt::format("{}{}{}{}{}", within(expr.args[0], left), gap, symbol_of(expr.op), gap,
                       within(expr.args[1], right));
  }

  /// `<= q` for an upper bound q + 1.
  std::string ends(ExprId upper) {
    const Expr& expr = problem_.expr(upper);
    bool inclusive = expr.kind == ExprKind::binary && expr.op == Op::add &&
                     problem_.expr(expr.args[1]).kind == ExprKind::int_literal &&
                     problem_.expr(expr.args[1]).integer == 1;
    return inclusive ? "<= " + within(expr.args[0], 40) : "< " + within(upper, 40);
  }

  std::string reduce(const Expr& expr) {
    std::string bounds;
    for (const Range& range : expr.bounds) {
      const Expr& lower = problem_.expr(range.lower);
      bool from_zero = lower.kind == ExprKind::int_literal && lower.integer == 0;
      bounds += fmt::format("{}{}{} {}", bounds.empty() ? "" : ", ",
                            from_zero ? "" : within(range.lower, 40) + " <= ", index(range.index),
                            ends(range.upper));
    }
    if (expr.condition) bounds += " if " + text(*expr.condition);
    return fmt::format("{}{}({}: {})", expr.scan ? "scan " : "", name_of(expr.reduce), bounds,
                       text(expr.args[0]));
  }

  const Problem& problem_;
  std::vector<Range>
      stated_;  // bounds of the left side still to be written, at the first occurrence of the index
};

}  // namespace

std::string to_text(const Problem& problem, ExprId which) { return Printer(problem).text(which); }
std::string to_text(const Problem& problem, const Statement& statement) {
  return Printer(problem).statement(statement);
}

}  // namespace ako
