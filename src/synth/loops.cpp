// SPDX-License-Identifier: Apache-2.0
#include "synth/loops.h"

#include <algorithm>
#include <utility>

#include "synth/element.h"

namespace ako::synth {

namespace {

constexpr int worth_sharing = 16384;  // elements, some microseconds of work

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

/// Threads share the iterations when there is enough to do for all: entering a parallel region costs as much
/// as some thousand elements do, even when it then runs on one thread. `call` is one iteration.
void Loops::shared_loops(const std::vector<Range>& shared, const std::vector<std::string>& names,
                         std::size_t separable, const std::string& schedule, const std::string& enough,
                         const std::string& call) {
  Code& code = printer_.code();
  const auto nest = [&] {
    for (std::size_t i = 0; i < shared.size(); ++i) {
      const auto [lower, upper] = printer_.bounds(shared[i]);
      code.line("for (int64_t {0} = {1}; {0} < {2}; ++{0}){3}", names[i], lower, upper,
                i + 1 == shared.size() ? " " + call : std::string());
      code.indent();
    }
    for (std::size_t i = 0; i < shared.size(); ++i) code.outdent();
  };
  if (printer_.choices().threads <= 1 || separable == 0) return nest();
  code.open("if ({} > {})", enough, worth_sharing);
  std::string pragma = fmt::format("#pragma omp parallel for num_threads({}) schedule({})",
                                   printer_.choices().threads, schedule);
  if (separable > 1) pragma += fmt::format(" collapse({})", separable);
  code.directive(pragma);
  nest();
  code.close("} else {");
  code.indent();
  nest();
  code.close();
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

  if (const auto turn = transposed(group)) return tiles(group, *turn);

  std::vector<Range> work = first.indices;
  for (const std::size_t at : group.statements) {
    const Statement& statement = program_.statements[at];
    if (statement.indices.size() > work.size()) work = statement.indices;
  }
  if (static_cast<int>(work.size()) == group.depth || !rectangular(program_, work.back()))
    add_reduction(first, work);
  const std::vector<Range> shared(first.indices.begin(), first.indices.begin() + group.depth);
  if (shared.empty() && !first.indices.empty() && printer_.choices().threads > 1 &&
      rectangular(program_, first.indices[0])) {
    std::set<IndexId> indices;
    for (const std::size_t at : group.statements) indices.insert(program_.statements[at].indices[0].index);
    const Share share = open_share(first.indices[0], work, std::move(indices));
    body(group);
    close_share(share);
    return;
  }
  one_iteration(group, shared, work);
}

/// The body is a function of the shared indices, called from loops that are divided among threads or not.
void Loops::one_iteration(const Group& group, const std::vector<Range>& shared,
                          const std::vector<Range>& work) {
  Code& code = printer_.code();
  const bool divided = printer_.choices().threads > 1 && !separable(group, shared).empty();
  std::vector<std::string> names;
  std::string parameters, arguments;
  for (const Range& range : shared) {
    names.push_back(divided ? printer_.bind(range)
                            : (printer_.open_loop(range), printer_.index_text(range.index)));
    parameters += (parameters.empty() ? "int64_t " : ", int64_t ") + names.back();
    arguments += (arguments.empty() ? "" : ", ") + names.back();
  }
  const std::string function = divided ? printer_.take("iteration") : std::string();
  if (divided) code.open("const auto {} = [&]({})", function, parameters);
  for (const std::size_t at : group.statements) {
    for (int i = 0; i < group.depth; ++i) {
      printer_.bind_as(program_.statements[at].indices[static_cast<std::size_t>(i)],
                       names[static_cast<std::size_t>(i)]);
    }
  }
  body(group);
  if (!divided) {
    for (auto range = shared.rbegin(); range != shared.rend(); ++range) printer_.close_loop(*range);
    return;
  }
  code.close("};");
  shared_loops(shared, names, separable(group, shared).size(), uneven(group) ? "dynamic, 4" : "static",
               work_text(work), fmt::format("{}({});", function, arguments));
  for (const Range& range : shared) printer_.release(range);
}

/// One range dealt out in a contiguous share per thread: what follows, until close_share, is a function of
/// it.
Loops::Share Loops::open_share(const Range& range, const std::vector<Range>& work,
                               std::set<IndexId> indices) {
  Share share{printer_.take("share"), printer_.take("first"), printer_.take("last"),
              printer_.scalar(range.upper, 71), work_text(work)};
  printer_.code().open("const auto {} = [&](int64_t {}, int64_t {})", share.function, share.first,
                       share.last);
  printer_.share(std::move(indices), share.first, share.last);
  return share;
}

void Loops::close_share(const Share& share) {
  Code& code = printer_.code();
  const int threads = printer_.choices().threads;
  printer_.clear_share();
  code.close("};");
  if (threads <= 1) {
    code.line("{}(0, {});", share.function, share.extent);
    for (const std::string& name : {share.first, share.last}) printer_.give_back(name);
    return;
  }
  code.open("if ({} > {})", share.work, worth_sharing);
  const std::string size = printer_.take("size");
  code.line("const int64_t {} = (({} + {}) / {} + 63) / 64 * 64;  // whole cache lines for each thread", size,
            share.extent, threads - 1, threads);
  code.directive(fmt::format("#pragma omp parallel for num_threads({}) schedule(static)", threads));
  code.open("for (int64_t {0} = 0; {0} < {1}; {0} += {2})", share.first, share.extent, size);
  code.line("{0}({1}, {1} + {2} < {3} ? {1} + {2} : {3});", share.function, share.first, size, share.extent);
  code.close();
  code.close("} else {");
  code.indent();
  code.line("{}(0, {});", share.function, share.extent);
  code.close();
  for (const std::string& name : {share.first, share.last, size}) printer_.give_back(name);
}

/// The row pointers come first, and which rows there are is known last.
void Loops::body(const Group& group) {
  Code& outer = printer_.code();
  Code inner;
  inner.set_depth(outer.depth());
  printer_.write_to(inner);
  const std::size_t before = scratch_.size();
  std::vector<Pass> all = passes(group);
  if (printer_.choices().prefetch_ahead) plan_prefetch(group, all);
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
