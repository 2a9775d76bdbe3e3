// SPDX-License-Identifier: Apache-2.0
#include "synth/loops.h"

#include <algorithm>
#include <utility>

#include "synth/element.h"

namespace ako::synth {

namespace {

bool is_reduction(const Program& program, const Statement& statement) {
  return program.expr(statement.value).kind == ExprKind::reduce;
}

std::vector<Range> rest(const std::vector<Range>& ranges, int depth) {
  return {ranges.begin() + depth, ranges.end()};
}

bool same_range(const Program& program, const Range& a, const Range& b, const Renaming& names) {
  return same(program, a.lower, b.lower, names) && same(program, a.upper, b.upper, names);
}

}  // namespace

/// A value goes to a variable, to scratch or to an argument.
void Loops::assign(const Statement& statement, const std::string& value) {
  Code& code = printer_.code();
  if (printer_.storage(statement.target).home == Home::local) {
    code.line("const {} {} = {};", printer_.value_type(statement.target),
              printer_.tensor_name(statement.target), printer_.rounded(statement.target, value));
    return;
  }
  note_scratch(statement.target);
  printer_.store(statement.target, statement.subscripts, value, false);
}

void Loops::note_scratch(TensorId tensor) {
  const Home home = printer_.storage(tensor).home;
  if (home == Home::argument || home == Home::local) return;
  const bool known = std::ranges::any_of(scratch_, [&](const Scratch& s) { return s.tensor == tensor; });
  if (!known) scratch_.push_back({tensor, home == Home::row});
}

std::string Loops::work_text(const std::vector<Range>& ranges) {
  std::string text;
  for (const Range& range : ranges) {
    if (rectangular(program_, range)) text += (text.empty() ? "" : " * ") + printer_.scalar(range.upper, 81);
  }
  return text.empty() ? "1" : text;
}

/// Threads share the iterations when there is enough to do for all.
void Loops::parallel(const std::vector<Range>& loops, const std::vector<Range>& work, bool uneven) {
  const int threads = printer_.choices().threads;
  if (threads <= 1 || loops.empty()) return;
  std::string pragma = fmt::format("#pragma omp parallel for num_threads({}) schedule({})", threads,
                                   uneven ? "dynamic, 4" : "static");
  if (loops.size() > 1) pragma += fmt::format(" collapse({})", loops.size());
  printer_.code().directive(pragma + fmt::format(" if ({} > 16384)", work_text(work)));
}

bool Loops::uneven(const Group& group) const {
  bool found = false;
  for (const std::size_t at : group.statements) {
    const Statement& statement = program_.statements[at];
    const auto check = [&](ExprId bound) {
      for (int i = 0; i < group.depth; ++i) {
        found = found || mentions(program_, bound, statement.indices[static_cast<std::size_t>(i)].index);
      }
    };
    for (const Range& range : rest(statement.indices, group.depth)) check(range.upper);
    visit(program_, statement.value, [&](ExprId e) {
      for (const Range& range : program_.expr(e).bounds) check(range.upper);
    });
  }
  return found;
}

/// The loops whose iterations may go to different threads. Elements narrower than a byte share bytes with
/// their neighbours, so the last axis of a packed result stays together, and so do rows that do not end on a
/// byte.
std::vector<Range> Loops::separable(const Group& group, std::vector<Range> loops) const {
  for (const std::size_t at : group.statements) {
    const Statement& statement = program_.statements[at];
    const Tensor& tensor = program_.tensor(statement.target);
    if (tensor.exact || !element_of(tensor.type).packed || statement.indices.empty()) continue;
    if (loops.size() == statement.indices.size()) loops.pop_back();
    for (const Shape& shape : program_.shapes) {
      const std::int64_t row = extents(program_, tensor, shape).back();
      if (row * storage_bits(tensor.type) % 8 != 0) return {};
    }
  }
  return loops;
}

/// The first reduction in a statement counts as work for every element.
void Loops::add_reduction(const Statement& statement, std::vector<Range>& work) const {
  bool found = false;
  visit(program_, statement.value, [&](ExprId e) {
    const Expr& expr = program_.expr(e);
    if (expr.kind != ExprKind::reduce || std::exchange(found, true)) return;
    work.insert(work.end(), expr.bounds.begin(), expr.bounds.end());
  });
}

void Loops::group(const Group& group) {
  const Statement& first = program_.statements[group.statements.front()];
  const bool ordered = first.kind != StatementKind::define ||
                       (is_reduction(program_, first) && program_.expr(first.value).scan);
  if (ordered) return in_order(first);

  std::vector<Range> work = first.indices;
  for (const std::size_t at : group.statements) {
    const Statement& statement = program_.statements[at];
    if (statement.indices.size() > work.size()) work = statement.indices;
  }
  if (static_cast<int>(work.size()) == group.depth || !rectangular(program_, work.back()))
    add_reduction(first, work);
  const std::vector<Range> shared(first.indices.begin(), first.indices.begin() + group.depth);
  Code& code = printer_.code();
  if (shared.empty() && !first.indices.empty() && printer_.choices().threads > 1 &&
      rectangular(program_, first.indices[0])) {
    std::set<IndexId> indices;
    for (const std::size_t at : group.statements) indices.insert(program_.statements[at].indices[0].index);
    share_range(first.indices[0], work, std::move(indices));
    body(group);
    code.close();
    printer_.clear_share();
    return;
  }
  parallel(separable(group, shared), work, uneven(group));
  std::vector<std::string> names;
  for (const Range& range : shared) {
    printer_.open_loop(range);
    names.push_back(printer_.index_text(range.index));
  }
  for (const std::size_t at : group.statements) {
    for (int i = 0; i < group.depth; ++i) {
      printer_.bind_as(program_.statements[at].indices[static_cast<std::size_t>(i)],
                       names[static_cast<std::size_t>(i)]);
    }
  }
  body(group);
  for (auto range = shared.rbegin(); range != shared.rend(); ++range) printer_.close_loop(*range);
}

/// One range dealt out in a contiguous share per thread: [block, end).
void Loops::share_range(const Range& range, const std::vector<Range>& work, std::set<IndexId> indices) {
  Code& code = printer_.code();
  const int threads = printer_.choices().threads;
  const std::string extent = printer_.scalar(range.upper, 71);
  const std::string share = printer_.take("share"), block = printer_.take("first"),
                    end = printer_.take("last");
  code.line("const int64_t {} = (({} + {}) / {} + 63) / 64 * 64;  // whole cache lines for each thread",
            share, extent, threads - 1, threads);
  code.directive(fmt::format("#pragma omp parallel for num_threads({}) schedule(static) if ({} > 16384)",
                             threads, work_text(work)));
  code.open("for (int64_t {0} = 0; {0} < {1}; {0} += {2})", block, extent, share);
  code.line("const int64_t {0} = {1} + {2} < {3} ? {1} + {2} : {3};", end, block, share, extent);
  printer_.share(std::move(indices), block, end);
}

/// The row pointers come first, and which rows there are is known last.
void Loops::body(const Group& group) {
  Code& outer = printer_.code();
  Code inner;
  inner.set_depth(outer.depth());
  printer_.write_to(inner);
  const std::size_t before = scratch_.size();
  std::vector<Pass> all = passes(group);
  if (printer_.choices().prefetch) plan_prefetch(group, all);
  for (const Pass& pass : all) {
    if (pass.statements.size() == 1 && pass.inner.index < 0) {
      single(pass.statements[0]);
    } else if (pass.lanes) {
      lane_pass(group, pass);
    } else {
      plain_pass(group, pass);
    }
    printer_.clear_registers();
  }
  printer_.write_to(outer);
  for (std::size_t i = before; i < scratch_.size(); ++i) {
    if (!scratch_[i].row) continue;
    const TensorId tensor = scratch_[i].tensor;
    const std::string& name = printer_.tensor_name(tensor);
    const auto dropped = static_cast<std::size_t>(printer_.storage(tensor).dropped);
    if (printer_.choices().threads > 1) {
      printer_.need("ako_thread");
      outer.line("auto* const {0} = {0}_rows + omp_get_thread_num() * (({1} + 63) / 64 * 64);", name,
                 printer_.extent_text(tensor, dropped));
    } else {
      outer.line("auto* const {0} = {0}_rows;", name);
    }
  }
  outer.raw(inner.text());
}

void Loops::single(std::size_t at) {
  const Statement& statement = program_.statements[at];
  printer_.code().comment(to_text(program_, statement));
  assign(statement, printer_.element(statement));
}

Loops::Bound Loops::bound_of(const Group& group, std::size_t at) const {
  const Statement& statement = program_.statements[at];
  Bound bound;
  bound.outer = rest(statement.indices, group.depth);
  if (bound.outer.empty() && is_reduction(program_, statement))
    bound.outer = program_.expr(statement.value).bounds;
  if (bound.outer.empty()) return bound;
  bound.inner = bound.outer.back();
  bound.outer.pop_back();
  return bound;
}

/// Lanes need real values in vector storage, read mostly from neighbour to neighbour.
bool Loops::lanes_pay(const Statement& statement, const Range& inner) const {
  if (printer_.choices().lanes <= 1) return false;
  const Expr& value = program_.expr(statement.value);
  const bool reduction =
      value.kind == ExprKind::reduce &&
      bare_index(program_, statement.subscripts.empty() ? -1 : statement.subscripts.back()) != inner.index;
  if (value.type != NumberClass::real) return false;
  if (reduction) {
    if (value.reduce > ReduceOp::min) return false;
  } else if (!printer_.vector_storage(statement.target)) {
    return false;
  }
  int neighbours = 0, scattered = 0;
  visit(program_, statement.value, [&](ExprId e) {
    const Expr& expr = program_.expr(e);
    if (expr.kind != ExprKind::access || !mentions(program_, e, inner.index)) return;
    ++(printer_.unit_stride(expr, inner.index) ? neighbours : scattered);
  });
  return scattered == 0 || neighbours > scattered;
}

Pass Loops::pass_of(const Group& group, std::size_t at) const {
  const Bound bound = bound_of(group, at);
  const Statement& statement = program_.statements[at];
  const bool bare = bound.inner.index < 0;
  return {bound.outer, bound.inner, {at}, !bare && lanes_pay(statement, bound.inner), {}};
}

/// A statement may run in a pass when it needs nothing that is complete only after it, and reads what the
/// pass writes only at the element that was just written.
bool Loops::may_join(const Group& group, const Pass& pass, std::size_t at) const {
  const Statement& statement = program_.statements[at];
  const Bound bound = bound_of(group, at);
  if (!pass.lanes || !lanes_pay(statement, bound.inner) || bound.outer.size() != pass.outer.size())
    return false;
  for (const std::size_t member : pass.statements) {
    const Statement& other = program_.statements[member];
    const Bound theirs = bound_of(group, member);
    Renaming names;
    for (int i = 0; i < group.depth; ++i) {
      names[statement.indices[static_cast<std::size_t>(i)].index] =
          other.indices[static_cast<std::size_t>(i)].index;
    }
    for (std::size_t i = 0; i < bound.outer.size(); ++i) {
      if (!same_range(program_, bound.outer[i], theirs.outer[i], names)) return false;
      names[bound.outer[i].index] = theirs.outer[i].index;
    }
    if (!same_range(program_, bound.inner, theirs.inner, names)) return false;
    names[bound.inner.index] = theirs.inner.index;
    const bool reduces = rest(other.indices, group.depth).empty();
    if (reduces && (reads(program_, statement.value, other.target) || !pass.outer.empty())) return false;
    if (rest(statement.indices, group.depth).empty() && !pass.outer.empty()) return false;
    bool fits = true;
    visit(program_, statement.value, [&](ExprId e) {
      const Expr& expr = program_.expr(e);
      if (expr.kind != ExprKind::access || expr.ref != other.target) return;
      const Tensor& tensor = program_.tensor(other.target);
      fits = fits && !expr.fallback &&
             (tensor.exact || tensor.type == ScalarType::f32 || tensor.type == ScalarType::f64);
      for (std::size_t axis = 0; axis < expr.args.size(); ++axis) {
        fits = fits && same(program_, expr.args[axis], other.subscripts[axis], names);
      }
    });
    // What the pass still reads at other elements must not be overwritten yet.
    visit(program_, other.value, [&](ExprId e) {
      const Expr& expr = program_.expr(e);
      if (expr.kind != ExprKind::access || expr.ref != statement.target) return;
      for (std::size_t axis = 0; axis < expr.args.size(); ++axis) {
        fits = fits && same(program_, statement.subscripts[axis], expr.args[axis], names);
      }
    });
    if (!fits) return false;
  }
  return true;
}

std::vector<Pass> Loops::passes(const Group& group) const {
  std::vector<Pass> result;
  for (const std::size_t at : group.statements) {
    Pass pass = pass_of(group, at);
    if (printer_.choices().merge_passes && !result.empty() && pass.inner.index >= 0 &&
        may_join(group, result.back(), at)) {
      result.back().statements.push_back(at);
    } else {
      result.push_back(std::move(pass));
    }
  }
  return result;
}

void Loops::plain_pass(const Group& group, const Pass& pass) {
  const std::size_t at = pass.statements[0];
  const Statement& statement = program_.statements[at];
  const std::vector<Range> loops = rest(statement.indices, group.depth);
  printer_.code().comment(to_text(program_, statement));
  for (const Range& range : loops) printer_.open_loop(range);
  assign(statement, printer_.element(statement));
  for (auto range = loops.rbegin(); range != loops.rend(); ++range) printer_.close_loop(*range);
}

}  // namespace ako::synth
