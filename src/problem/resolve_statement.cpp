// SPDX-License-Identifier: Apache-2.0
// Statements: definitions, updates, recurrences.
#include <fmt/format.h>

#include <algorithm>

#include "problem/resolver.h"
#include "problem/words.h"

namespace ako {
namespace {

bool is_minus_one(const Syntax& syntax) {
  return syntax.kind == Syntax::Kind::negate && syntax.args[0].kind == Syntax::Kind::integer &&
         syntax.args[0].integer == 1;
}

bool is_index(const Syntax& syntax) {
  return syntax.kind == Syntax::Kind::name || syntax.kind == Syntax::Kind::bounded;
}

/// The names that stand free in a piece of syntax, in order, each once. Names bound by reductions are left
/// out.
void free_names(const Syntax& syntax, std::vector<std::string>& names, std::vector<std::string> bound = {}) {
  if (is_index(syntax) && std::find(bound.begin(), bound.end(), syntax.text) == bound.end() &&
      std::find(names.begin(), names.end(), syntax.text) == names.end())
    names.push_back(syntax.text);
  for (const SyntaxBound& one : syntax.bounds) {
    for (const Syntax& part : one.lower) free_names(part, names, bound);
    for (const Syntax& part : one.upper) free_names(part, names, bound);
    bound.push_back(one.index);
  }
  for (const auto* parts : {&syntax.args, &syntax.condition, &syntax.fallback})
    for (const Syntax& part : *parts) free_names(part, names, bound);
}

const Syntax* find_bounded(const Syntax& syntax, const std::string& index) {
  if (syntax.kind == Syntax::Kind::bounded && syntax.text == index) return &syntax;
  for (const Syntax& part : syntax.args)
    if (const Syntax* found = find_bounded(part, index)) return found;
  return nullptr;
}

}  // namespace

void Resolver::read_math(const Document&) {
  for (std::size_t i = 0; i < syntax_.size() && !too_large_; ++i) {
    scopes_.clear();
    loops_.clear();
    target_ = -1;
    self_reads_allowed_ = false;
    recurrence_axis_ = -1;
    reduce_depth_ = 0;
    statement(i);
  }
  scopes_.clear();
  target_ = -1;
  resolve_values();
  if (diagnostics_.empty()) check_use();
}

void Resolver::broken_target(const std::string& name) {
  if (!find(name))
    symbols_[name] = {Symbol::Kind::broken, -1};
  else if (find(name)->kind == Symbol::Kind::tensor)
    progress_[static_cast<std::size_t>(find(name)->ref)].assigned = true;  // reported already
}

void Resolver::statement(std::size_t which) {
  const SyntaxStatement& syntax = syntax_[which];
  if (syntax.broken) return broken_target(syntax.target);
  std::size_t before = problem_.statements.size();
  std::optional<TensorId> target = target_of(syntax, which);
  if (!target || !rank_agrees(syntax, tensor(*target))) return broken_target(syntax.target);
  target_ = *target;
  auto before_first = std::find_if(syntax.subscripts.begin(), syntax.subscripts.end(), is_minus_one);
  if (syntax.assignment != Assignment::define)
    accumulate(syntax, *target);
  else if (before_first != syntax.subscripts.end())
    initial(syntax, *target, static_cast<int>(before_first - syntax.subscripts.begin()));
  else if (auto indices = left_indices(syntax, tensor(*target), -1))
    define(syntax, *target, std::move(*indices));
  if (problem_.statements.size() == before) broken_target(syntax.target);
}

/// The tensor a statement assigns; made here when it is a temporary seen for the first time.
std::optional<TensorId> Resolver::target_of(const SyntaxStatement& syntax, std::size_t which) {
  if (const Symbol* symbol = find(syntax.target)) {
    if (symbol->kind == Symbol::Kind::tensor) return symbol->ref;
    if (symbol->kind == Symbol::Kind::broken) return std::nullopt;
    mistake(syntax.spot, fmt::format("{} is a {} and cannot be assigned", syntax.target,
                                     symbol->kind == Symbol::Kind::dim ? "dim" : "scalar"));
    return std::nullopt;
  }
  if (std::string reason = why_not_a_name(syntax.target); !reason.empty()) {
    mistake(syntax.spot, fmt::format("`{}` cannot be a temporary: {}", syntax.target, reason),
            "choose another name");
    return std::nullopt;
  }
  if (syntax.assignment != Assignment::define) {
    mistake(syntax.spot, fmt::format("{} has no value to update", syntax.target),
            did_you_mean(syntax.target, known_names(),
                         fmt::format("define it first, or declare it under `tensors:`")));
    return std::nullopt;
  }
  bool starts_recurrence = std::any_of(syntax.subscripts.begin(), syntax.subscripts.end(), is_minus_one);
  if (!starts_recurrence) return new_temporary(syntax, NumberClass::real);
  // h[-1, d] = …: the extents are those of the definition that follows.
  for (std::size_t later = which + 1; later < syntax_.size(); ++later)
    if (syntax_[later].target == syntax.target && syntax_[later].assignment == Assignment::define)
      return new_temporary(syntax_[later], NumberClass::real);
  mistake(syntax.spot, fmt::format("no recurrence of {} follows", syntax.target),
          fmt::format("write `{0}[t, …] = … {0}[t-1, …] …` below", syntax.target));
  return std::nullopt;
}

bool Resolver::rank_agrees(const SyntaxStatement& syntax, const Tensor& target) {
  if (syntax.subscripts.size() == target.shape.size()) return true;
  mistake(syntax.spot,
          fmt::format("{} has {} {}, but {} subscript{} here", syntax.target, target.shape.size(),
                      target.shape.size() == 1 ? "axis" : "axes", syntax.subscripts.size(),
                      syntax.subscripts.size() == 1 ? "" : "s"),
          "give one index for each axis of its shape");
  return false;
}

/// The loops of a definition: every subscript is an index of its own that runs over its axis.
std::optional<std::vector<Range>> Resolver::left_indices(const SyntaxStatement& syntax, const Tensor& target,
                                                         int skip_axis) {
  std::vector<Range> result;
  for (std::size_t axis = 0; axis < syntax.subscripts.size(); ++axis) {
    if (static_cast<int>(axis) == skip_axis) continue;
    const Syntax& subscript = syntax.subscripts[axis];
    if (!is_index(subscript)) {
      mistake(
          subscript.spot, "the left side of `=` takes indices only",
          "each runs over its axis; to write to computed places use `+=`, or choose by `where` on the right");
      return std::nullopt;
    }
    if (find_scope(subscript.text) || find(subscript.text)) {
      mistake(subscript.spot,
              find_scope(subscript.text)
                  ? fmt::format("the index {} stands twice on the left", subscript.text)
                  : fmt::format("{} is declared above and cannot be an index", subscript.text),
              find_scope(subscript.text) ? "read a diagonal on the right: `x[i, i]`" : "use another name");
      return std::nullopt;
    }
    if (std::string reason = why_not_a_name(subscript.text); !reason.empty()) {
      mistake(subscript.spot, fmt::format("`{}` cannot be an index: {}", subscript.text, reason));
      return std::nullopt;
    }
    Range range;
    range.index = new_index(subscript.text);
    range.lower = int_literal(0, subscript.spot);
    range.upper = target.shape[axis];
    range.stated = subscript.kind == Syntax::Kind::bounded;
    if (range.stated && !target.exact) {
      mistake(subscript.spot, fmt::format("{} is declared: its indices run over its shape", syntax.target),
              "remove the bound; to fill a part, choose by `where` on the right");
      return std::nullopt;
    }
    scopes_.push_back({subscript.text, range.index});
    result.push_back(range);
  }
  return result;
}

ExprId Resolver::assigned_value(const SyntaxStatement& syntax, TensorId target) {
  ExprId value = expression(syntax.value);
  if (value < 0) return -1;
  NumberClass wanted = tensor(target).number;
  value = real_or_same(value, wanted);
  if (value < 0 || expr(value).type == wanted) return value;
  if (wanted == NumberClass::real && expr(value).type == NumberClass::integer) return value;  // promoted
  const char* advice = "";
  if (wanted == NumberClass::integer)
    advice = "say `int(…)` to truncate; a temporary that begins with `0` holds integers, with `0.0` reals";
  if (wanted == NumberClass::boolean) advice = "compare: `x != 0`";
  if (wanted == NumberClass::real) advice = "say `where(condition, 1.0, 0.0)`";
  static constexpr std::string_view words[] = {"real numbers", "integers", "truth values"};
  return mistake(syntax.value.spot,
                 fmt::format("{} holds {}, the value is of {}", syntax.target,
                             words[static_cast<int>(wanted)], words[static_cast<int>(expr(value).type)]),
                 advice);
}

void Resolver::finish(Statement statement, const Spot& spot) {
  statement.line = spot.line;
  statement.column = spot.column;
  Progress& progress = progress_[static_cast<std::size_t>(statement.target)];
  if (statement.kind != StatementKind::initial) progress.assigned = true;
  if (progress.first_line == 0) progress.first_line = spot.line;
  problem_.statements.push_back(std::move(statement));
}

void Resolver::define(const SyntaxStatement& syntax, TensorId target, std::vector<Range> indices) {
  if (progress_[static_cast<std::size_t>(target)].assigned) {
    mistake(syntax.spot,
            fmt::format("{} is assigned already, in line {}", syntax.target,
                        progress_[static_cast<std::size_t>(target)].first_line),
            "each tensor is defined once; use another name, or update it by `+=`");
    return;
  }
  Statement statement;
  statement.target = target;
  statement.indices = std::move(indices);
  for (const Range& range : statement.indices) {
    Expr index;
    index.kind = ExprKind::index;
    index.type = NumberClass::integer;
    index.ref = range.index;
    statement.subscripts.push_back(add(std::move(index), syntax.spot));
  }
  loops_ = statement.indices;
  self_reads_allowed_ = true;
  bool fresh = tensor(target).exact && progress_[static_cast<std::size_t>(target)].initial_axis < 0;
  if (fresh) {  // a temporary is of the class of its value
    ExprId value = expression(syntax.value);
    if (value < 0) return;
    tensor(target).number = expr(value).type;
    tensor(target).type = expr(value).type == NumberClass::real      ? ScalarType::f64
                          : expr(value).type == NumberClass::integer ? ScalarType::i64
                                                                     : ScalarType::boolean;
    statement.value = value;
  } else {
    statement.value = assigned_value(syntax, target);
  }
  if (statement.value < 0) return;
  if (recurrence_axis_ >= 0) {
    statement.kind = StatementKind::recurrence;
    statement.axis = recurrence_axis_;
  }
  finish(std::move(statement), syntax.spot);
}

void Resolver::initial(const SyntaxStatement& syntax, TensorId target, int axis) {
  Progress& progress = progress_[static_cast<std::size_t>(target)];
  if (progress.assigned || progress.initial_axis >= 0) {
    mistake(syntax.spot,
            fmt::format("the value of {} before its first must be given once, before its definition",
                        syntax.target),
            "move this line up, or remove it");
    return;
  }
  if (tensor(target).role == TensorRole::inout) {
    mistake(syntax.spot, fmt::format("{} has values: its reads see them, so it cannot recur", syntax.target),
            "recur in a temporary and copy");
    return;
  }
  auto indices = left_indices(syntax, tensor(target), axis);
  if (!indices) return;
  Statement statement;
  statement.kind = StatementKind::initial;
  statement.target = target;
  statement.axis = axis;
  statement.indices = *indices;
  std::size_t next = 0;
  for (std::size_t i = 0; i < syntax.subscripts.size(); ++i) {
    if (static_cast<int>(i) == axis) {
      statement.subscripts.push_back(int_literal(-1, syntax.subscripts[i].spot));
      continue;
    }
    Expr index;
    index.kind = ExprKind::index;
    index.type = NumberClass::integer;
    index.ref = (*indices)[next++].index;
    statement.subscripts.push_back(add(std::move(index), syntax.spot));
  }
  statement.value = assigned_value(syntax, target);
  if (statement.value < 0) return;
  progress.initial_axis = axis;
  progress.initial_spot = syntax.spot;
  finish(std::move(statement), syntax.spot);
}

void Resolver::accumulate(const SyntaxStatement& syntax, TensorId target) {
  NumberClass number = tensor(target).number;
  Progress& progress = progress_[static_cast<std::size_t>(target)];
  if (number == NumberClass::boolean) {
    mistake(syntax.spot, fmt::format("{} holds truth values, which are not updated", syntax.target),
            "define it by `any(…)` or `all(…)`");
    return;
  }
  bool extreme = syntax.assignment == Assignment::max || syntax.assignment == Assignment::min;
  bool has_values = tensor(target).role == TensorRole::inout;
  if (extreme && number == NumberClass::integer && !progress.assigned && !has_values) {
    mistake(syntax.spot, fmt::format("{} has no value to compare with", syntax.target), "define it first");
    return;
  }
  Statement statement;
  statement.kind = StatementKind::accumulate;
  statement.target = target;
  statement.accumulate = syntax.assignment == Assignment::sum    ? ReduceOp::sum
                         : syntax.assignment == Assignment::prod ? ReduceOp::prod
                         : syntax.assignment == Assignment::max  ? ReduceOp::max
                                                                 : ReduceOp::min;
  std::vector<std::string> names;
  for (const Syntax& subscript : syntax.subscripts) free_names(subscript, names);
  free_names(syntax.value, names);
  for (const std::string& index : names) {
    if (find(index)) continue;  // a dim, scalar or single-valued tensor
    const Syntax* stated = nullptr;
    for (const Syntax& subscript : syntax.subscripts)
      if (!stated) stated = find_bounded(subscript, index);
    if (std::string reason = why_not_a_name(index); !reason.empty()) {
      mistake(syntax.spot, fmt::format("`{}` cannot be an index: {}", index, reason));
      return;
    }
    Range range;
    range.upper = stated ? explicit_extent(*stated) : inferred_extent(index, syntax, syntax.spot);
    if (range.upper < 0) return;
    range.lower = int_literal(0, syntax.spot);
    range.index = new_index(index);
    range.stated = stated != nullptr;
    scopes_.push_back({index, range.index});
    statement.indices.push_back(range);
  }
  for (const Syntax& subscript : syntax.subscripts) {
    statement.subscripts.push_back(integer_expression(subscript, "a subscript"));
    if (statement.subscripts.back() < 0) return;
  }
  statement.value = assigned_value(syntax, target);
  if (statement.value < 0) return;
  progress_[static_cast<std::size_t>(target)].read |= has_values;
  finish(std::move(statement), syntax.spot);
}

}  // namespace ako
