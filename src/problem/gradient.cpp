// SPDX-License-Identifier: Apache-2.0
// Statements, last to first.
#include "problem/gradient.h"

#include <fmt/format.h>

#include <algorithm>

#include "problem/dependence.h"
#include "problem/gradient_pass.h"
#include "problem/invariance.h"
#include "problem/words.h"

namespace ako {

Differentiator::Differentiator(const Problem& forward, std::vector<TensorId> wanted, Diagnostics& diagnostics)
    : problem_(math_.problem),
      algebra_(math_.problem),
      diagnostics_(diagnostics),
      wanted_(std::move(wanted)) {
  problem_ = forward;
  forward_tensors_ = forward.tensors.size();
}

void Differentiator::refuse(const Spot& spot, std::string what, std::string advice) {
  if (!refused_) diagnostics_.add(spot, std::move(what), std::move(advice));
  refused_ = true;
}

Spot Differentiator::spot_of(ExprId which) const {
  const Expr& expr = problem_.expr(which);
  return {expr.line, expr.column, 1};
}

std::string Differentiator::free_name(const std::string& wanted) const {
  const auto taken = [&](const std::string& name) {
    const auto is = [&](const auto& one) { return one.name == name; };
    return std::any_of(problem_.dims.begin(), problem_.dims.end(), is) ||
           std::any_of(problem_.scalars.begin(), problem_.scalars.end(), is) ||
           std::any_of(problem_.tensors.begin(), problem_.tensors.end(), is) ||
           std::any_of(problem_.indices.begin(), problem_.indices.end(), is) || !why_not_a_name(name).empty();
  };
  if (!taken(wanted)) return wanted;
  if (wanted.starts_with("d"))  // `do` is a word of C++: d_o
    if (std::string name = "d_" + wanted.substr(1); !taken(name)) return name;
  for (int number = 2;; ++number)
    if (std::string name = fmt::format("{}_{}", wanted, number); !taken(name)) return name;
}

TensorId Differentiator::new_tensor(const std::string& wanted, const Tensor& like, bool exact) {
  Tensor made = like;
  made.name = free_name(wanted);
  made.exact = exact;
  made.role = TensorRole::temporary;
  made.values.reset();
  if (exact) made.type = ScalarType::f64;
  problem_.tensors.push_back(std::move(made));
  return static_cast<TensorId>(problem_.tensors.size() - 1);
}

/// A temporary over loops with constant bounds from zero.
TensorId Differentiator::helper(const std::string& wanted, const std::vector<Range>& loops,
                                NumberClass number) {
  Tensor like;
  like.number = number;
  for (const Range& loop : loops) like.shape.push_back(loop.upper);
  return new_tensor(wanted, like, true);
}

void Differentiator::emit(StatementKind kind, TensorId target, const std::vector<IndexId>& at, ExprId value,
                          int axis) {
  Statement statement;
  statement.kind = kind;
  statement.target = target;
  statement.axis = axis;
  statement.value = algebra_.substitute(value, {});  // indices bound inside become this statement's own
  const Tensor tensor = problem_.tensor(target);
  for (std::size_t i = 0; i < at.size(); ++i) {
    Range range{at[i], algebra_.integer(0), tensor.shape[i], tensor.exact};
    statement.indices.push_back(range);
    statement.subscripts.push_back(algebra_.index(at[i]));
  }
  backward_.push_back(std::move(statement));
}

/// Tensors whose values change with the wanted inputs, but for those that no result depends on.
void Differentiator::find_active() {
  std::set<TensorId> ignored;
  for (const Statement& statement : problem_.statements) {
    const Expr& value = problem_.expr(statement.value);
    const bool extreme =
        value.kind == ExprKind::reduce && (value.reduce == ReduceOp::max || value.reduce == ReduceOp::min);
    if (statement.kind == StatementKind::define && extreme && outputs_ignore(problem_, statement.target))
      ignored.insert(statement.target);
  }
  active_.insert(wanted_.begin(), wanted_.end());
  for (std::size_t before = 0; before != active_.size();) {  // recurrences and updates read what follows
    before = active_.size();
    for (const Statement& statement : problem_.statements)
      if (problem_.tensor(statement.target).number == NumberClass::real &&
          !ignored.contains(statement.target) && depends(statement.value))
        active_.insert(statement.target);
  }
}

bool Differentiator::check_statements() {
  for (const Statement& statement : problem_.statements) {
    const Tensor& target = problem_.tensor(statement.target);
    if (!active_.contains(statement.target)) continue;
    const Spot spot{statement.line, statement.column, static_cast<int>(target.name.size())};
    if (target.role == TensorRole::inout)
      refuse(spot, fmt::format("{} is updated in place and cannot be differentiated", target.name),
             "give the result a name of its own in the forward problem");
    else if (statement.kind == StatementKind::accumulate && statement.accumulate != ReduceOp::sum)
      refuse(spot,
             fmt::format("an update by `{}=` is not differentiated",
                         statement.accumulate == ReduceOp::prod ? "*" : name_of(statement.accumulate)),
             "of updates only `+=` is; write the gradient by hand");
  }
  return !refused_;
}

std::vector<IndexId> Differentiator::axes_of(TensorId which) {
  std::vector<std::string> names(problem_.tensor(which).shape.size());
  for (const Statement& statement : problem_.statements)
    if (statement.target == which && statement.kind != StatementKind::accumulate)
      for (std::size_t i = 0; i < statement.subscripts.size(); ++i)
        if (const Expr& subscript = problem_.expr(statement.subscripts[i]); subscript.kind == ExprKind::index)
          names[i] = problem_.indices[static_cast<std::size_t>(subscript.ref)].name;
  for (const Contribution& one : contributions_[which])
    for (std::size_t i = 0; i < one.subscripts.size(); ++i)
      if (const Expr& subscript = problem_.expr(one.subscripts[i]);
          subscript.kind == ExprKind::index && names[i].empty())
        names[i] = problem_.indices[static_cast<std::size_t>(subscript.ref)].name;
  std::vector<IndexId> axes;
  for (const std::string& name : names) axes.push_back(algebra_.new_index(name.empty() ? "i" : name));
  return axes;
}

/// The sum of what reads make at one element; those that cannot be solved are handed back.
ExprId Differentiator::gathered(TensorId which, const std::vector<IndexId>& at,
                                std::vector<const Contribution*>& scattered) {
  ExprId sum = algebra_.real(0);
  for (const Contribution& one : contributions_[which]) {
    if (auto part = IndexSolver(algebra_, problem_.tensor(which), at).gather(one))
      sum = algebra_.add(sum, *part);
    else
      scattered.push_back(&one);
  }
  return sum;
}

/// dA[idx[t], d] += …: over all loops of the read that its subscripts mention, the others summed before.
void Differentiator::scatter(const Contribution& one, TensorId of, TensorId result) {
  const std::string& name = problem_.tensor(of).name;
  if (one.may_leave)
    return refuse(one.spot, fmt::format("{} is read at computed places that may lie outside", name),
                  "bound the subscript by `clamp` instead of reading `or …`");
  IndexSet used;
  for (ExprId subscript : one.subscripts) used.merge(free_indices(problem_, subscript));
  std::vector<Range> loops, inner;
  Algebra::Replacement fresh;
  for (const Range& range : one.path.ranges) {
    if (!used.contains(range.index)) {
      inner.push_back(range);
      continue;
    }
    if (!algebra_.is_zero(range.lower) || !free_indices(problem_, range.upper).empty())
      return refuse(one.spot, fmt::format("{} is read at computed places inside a range that varies", name),
                    "let the range be constant and choose inside it by `where`");
    Range loop = range;
    loop.stated = false;
    loop.index = algebra_.new_index(problem_.indices[static_cast<std::size_t>(range.index)].name);
    fresh[range.index] = algebra_.index(loop.index);
    loops.push_back(loop);
  }
  std::optional<ExprId> condition;
  if (!one.path.conditions.empty()) condition = algebra_.all(one.path.conditions);
  const ExprId value = algebra_.substitute(algebra_.sum(inner, condition, one.value), fresh);
  Statement update;
  update.kind = StatementKind::accumulate;
  update.target = result;
  update.indices = loops;
  for (ExprId subscript : one.subscripts) update.subscripts.push_back(algebra_.substitute(subscript, fresh));
  update.value = value;
  if (!ranges_follow(update)) {
    const TensorId through = helper("into_" + name, loops, NumberClass::real);
    std::vector<IndexId> at;
    std::vector<ExprId> subscripts;
    Algebra::Replacement again;
    for (Range& loop : update.indices) {
      at.push_back(loop.index);
      loop.index = algebra_.new_index(problem_.indices[static_cast<std::size_t>(loop.index)].name);
      subscripts.push_back(algebra_.index(loop.index));
      again[at.back()] = subscripts.back();
    }
    emit(StatementKind::define, through, at, value);
    for (ExprId& subscript : update.subscripts) subscript = algebra_.substitute(subscript, again);
    update.value = algebra_.access(through, subscripts);
  }
  backward_.push_back(std::move(update));
}

/// Whether the language finds the ranges of an update's loops: each index stands alone in a subscript of an
/// axis that is as long.
bool Differentiator::ranges_follow(const Statement& update) const {
  IndexSet found;
  visit(problem_, update.value, [&](ExprId id) {
    const Expr& access = problem_.expr(id);
    if (access.kind != ExprKind::access) return true;
    for (std::size_t axis = 0; axis < access.args.size(); ++axis)
      for (const Range& loop : update.indices) {
        const Expr& subscript = problem_.expr(access.args[axis]);
        const bool alone = subscript.kind == ExprKind::index && subscript.ref == loop.index;
        if (alone && algebra_.same(problem_.tensor(access.ref).shape[axis], loop.upper))
          found.insert(loop.index);
      }
    return true;
  });
  return found.size() == update.indices.size();
}

/// dA[…] = everything that reads of A contribute, and the cotangent given for it if it is a result.
void Differentiator::define_cotangent(TensorId which, TensorId result) {
  const std::vector<IndexId> at = axes_of(which);
  std::vector<const Contribution*> scattered;
  ExprId sum = gathered(which, at, scattered);
  if (auto given = math_.cotangents.find(which); given != math_.cotangents.end()) {
    std::vector<ExprId> subscripts;
    for (IndexId index : at) subscripts.push_back(algebra_.index(index));
    sum = algebra_.add(algebra_.access(given->second, subscripts), sum);
  }
  if (!algebra_.is_zero(sum) || scattered.empty()) emit(StatementKind::define, result, at, sum);
  for (const Contribution* one : scattered) scatter(*one, which, result);
}

/// False when no result depends on the tensor.
bool Differentiator::finish_cotangent(TensorId which) {
  if (finished_.contains(which)) return true;
  const std::vector<Contribution>& reads = contributions_[which];
  auto given = math_.cotangents.find(which);
  if (reads.empty()) {
    if (given == math_.cotangents.end()) return false;
    finished_[which] = given->second;
    return true;
  }
  const TensorId result = new_tensor("d" + problem_.tensor(which).name, problem_.tensor(which), true);
  define_cotangent(which, result);
  for (const Statement& statement : backward_)
    if (statement.target == result && statement.kind == StatementKind::accumulate) {
      problem_.tensors[static_cast<std::size_t>(result)].exact = false;
      math_.scattered.insert(result);
    }
  if (math_.scattered.contains(result))
    for (Statement& statement : backward_)
      if (statement.target == result)
        for (Range& range : statement.indices) range.stated = false;
  finished_[which] = result;
  return true;
}

ExprId Differentiator::cotangent(TensorId which, std::vector<ExprId> subscripts) {
  return algebra_.access(finished_.at(which), std::move(subscripts));
}

void Differentiator::statement(const Statement& forward) {
  const TensorId target = forward.target;
  if (!active_.contains(target) || refused_) return;
  if (forward.kind == StatementKind::recurrence) return recurrence(forward);
  if (forward.kind == StatementKind::initial) return initial(forward);
  if (!finish_cotangent(target)) return;
  const bool value_kept = forward.kind == StatementKind::define && problem_.tensor(target).exact;
  const ExprId value = value_kept ? algebra_.access(target, forward.subscripts) : -1;
  push(forward.value, {forward.indices, {}}, cotangent(target, forward.subscripts), value);
}

/// A recurrence's reads of itself, where they stand outside of it: the value before the first is none of the
/// tensor's.
ExprId Differentiator::with_first(ExprId which) {
  const auto start = std::find_if(
      problem_.statements.begin(), problem_.statements.end(),
      [&](const auto& one) { return one.kind == StatementKind::initial && one.target == recurring_; });
  if (start == problem_.statements.end()) return which;
  const Statement initial = *start;
  const auto rebuild = [&](auto& self, ExprId id) -> ExprId {
    Expr copy = problem_.expr(id);
    if (copy.kind == ExprKind::access && copy.ref == recurring_ && !copy.fallback) {
      const Expr& first = problem_.expr(initial.value);
      if (first.kind == ExprKind::real_literal || first.kind == ExprKind::int_literal)
        return algebra_.access(copy.ref, copy.args, initial.value);
      const auto axis = static_cast<std::size_t>(initial.axis);
      Algebra::Replacement here;
      for (std::size_t i = 0; i < copy.args.size(); ++i)
        if (i != axis) here[problem_.expr(initial.subscripts[i]).ref] = copy.args[i];
      const ExprId inside = algebra_.compare(Op::greater_equal, copy.args[axis], algebra_.integer(0));
      return algebra_.where(inside, id, algebra_.substitute(initial.value, here));
    }
    bool changed = false;
    for (ExprId& part : copy.args) {
      const ExprId made = self(self, part);
      changed = changed || made != part;
      part = made;
    }
    if (!changed) return id;
    problem_.exprs.push_back(std::move(copy));
    return static_cast<ExprId>(problem_.exprs.size() - 1);
  };
  return rebuild(rebuild, which);
}

/// With E the value of h[t], dh[t] = what others read of h[t] + dh[t+1] * dE[t+1]/dh[t]: a recurrence in
/// u = length - 1 - t.
void Differentiator::recurrence(const Statement& forward) {
  const TensorId h = forward.target;
  const auto axis = static_cast<std::size_t>(forward.axis);
  const Tensor tensor = problem_.tensor(h);
  if (contributions_[h].empty() && !math_.cotangents.contains(h)) return;
  recurring_ = h, own_reads_ = true, own_.clear();
  const EvaluationPath path{forward.indices, {}};
  push(forward.value, path, algebra_.real(1));
  own_reads_ = false;

  Reversed back;
  back.axis = forward.axis;
  back.length = tensor.shape[axis];
  back.indices = forward.indices;
  back.step = algebra_.real(0);
  for (const Contribution& one : own_) {
    std::vector<Range> inner;
    for (const Range& range : one.path.ranges)
      if (std::none_of(forward.indices.begin(), forward.indices.end(),
                       [&](const Range& loop) { return loop.index == range.index; }))
        inner.push_back(range);
    std::optional<ExprId> condition;
    if (!one.path.conditions.empty()) condition = algebra_.all(one.path.conditions);
    back.step = algebra_.add(back.step, algebra_.sum(inner, condition, one.value));
  }
  back.tensor = new_tensor("d" + tensor.name + "_reversed", tensor, true);

  const std::vector<IndexId> at = axes_of(h);
  std::vector<const Contribution*> scattered;
  ExprId outside = gathered(h, at, scattered);
  if (!scattered.empty())
    return refuse(scattered[0]->spot,
                  fmt::format("{}, a recurrence, is read at computed places", tensor.name),
                  "copy it into a tensor of its own first");
  std::vector<ExprId> here;
  for (IndexId index : at) here.push_back(algebra_.index(index));
  if (auto given = math_.cotangents.find(h); given != math_.cotangents.end())
    outside = algebra_.add(algebra_.access(given->second, here), outside);
  const ExprId one = algebra_.integer(1), u = here[axis];
  outside = algebra_.substitute(
      outside, {{at[axis], algebra_.integer_sub(algebra_.integer_sub(back.length, one), u)}});
  Algebra::Replacement later;
  for (std::size_t i = 0; i < at.size(); ++i) later[forward.indices[i].index] = here[i];
  const IndexId t = forward.indices[axis].index;
  later[t] = algebra_.integer_sub(back.length, u);
  std::vector<ExprId> before = here;
  before[axis] = algebra_.binary(Op::sub, u, one, NumberClass::integer);
  ExprId carried = algebra_.mul(algebra_.substitute(back.step, later),
                                algebra_.access(back.tensor, before, algebra_.real(0)));
  if (algebra_.mentions(back.step, t))
    carried =
        algebra_.where(algebra_.compare(Op::greater, u, algebra_.integer(0)), carried, algebra_.real(0));
  const bool recurs = !algebra_.is_zero(carried);
  emit(recurs ? StatementKind::recurrence : StatementKind::define, back.tensor, at,
       algebra_.add(outside, carried), forward.axis);
  reversed_[h] = back;

  std::vector<ExprId> mirrored;
  for (const Range& loop : forward.indices) mirrored.push_back(algebra_.index(loop.index));
  mirrored[axis] = algebra_.integer_sub(algebra_.integer_sub(back.length, one), mirrored[axis]);
  push(forward.value, path, algebra_.access(back.tensor, mirrored));
  recurring_ = -1;
}

/// The value before the first reaches the first by the same step.
void Differentiator::initial(const Statement& forward) {
  auto at = reversed_.find(forward.target);
  if (at == reversed_.end()) return;
  const Reversed& back = at->second;
  const auto axis = static_cast<std::size_t>(back.axis);
  std::vector<ExprId> last = forward.subscripts;
  last[axis] = algebra_.integer_sub(back.length, algebra_.integer(1));
  Algebra::Replacement first;
  for (std::size_t i = 0; i < back.indices.size(); ++i)
    first[back.indices[i].index] = i == axis ? algebra_.integer(0) : forward.subscripts[i];
  push(forward.value, {forward.indices, {}},
       algebra_.mul(algebra_.substitute(back.step, first), algebra_.access(back.tensor, last)));
}

std::optional<GradientMath> Differentiator::run() {
  find_active();
  if (!check_statements()) return std::nullopt;
  const std::vector<TensorId> given = kernel_tensors(problem_);
  for (TensorId which : given) {
    const Tensor output = problem_.tensor(which);
    if (output.role != TensorRole::output || !active_.contains(which)) continue;
    math_.cotangents[which] = new_tensor("d" + output.name, output, false);
    problem_.tensors[static_cast<std::size_t>(math_.cotangents[which])].role = TensorRole::input;
  }
  const std::vector<Statement> forward = problem_.statements;
  for (auto statement_at = forward.rbegin(); statement_at != forward.rend(); ++statement_at)
    statement(*statement_at);
  for (TensorId which : wanted_) {
    if (refused_) break;
    const Tensor input = problem_.tensor(which);
    if (contributions_[which].empty()) {
      refuse({input.line, input.column, static_cast<int>(input.name.size())},
             fmt::format("the gradient of {} is zero everywhere", input.name),
             "no real output depends on it other than through integers, comparisons or rounding");
      break;
    }
    const TensorId result = new_tensor("d" + input.name, input, false);
    problem_.tensors[static_cast<std::size_t>(result)].role = TensorRole::output;
    math_.gradients[which] = result;
    define_cotangent(which, result);
  }
  if (refused_) return std::nullopt;
  trim();
  for (Statement& statement : math_.statements) name_indices(statement);
  return std::move(math_);
}

std::optional<GradientMath> differentiate(const Problem& forward, const std::vector<TensorId>& wanted,
                                          Diagnostics& in_forward) {
  return Differentiator(forward, wanted, in_forward).run();
}

}  // namespace ako
