// SPDX-License-Identifier: Apache-2.0
// Passes by lanes: the body is a function of the index and of how many lanes count, called for several
// vectors at a time, then for single ones, then for the rest of the row.
#include <algorithm>

#include "synth/lanes.h"
#include "synth/loops.h"

namespace ako::synth {

namespace {

bool reduces(const Statement& statement, int depth) {
  return static_cast<int>(statement.indices.size()) == depth;
}

/// Nothing but a statement's own indices and `inner`: no index of a sum that runs inside the pass.
bool mentions_only(const Program& program, ExprId id, const Statement& statement, IndexId inner) {
  bool only = true;
  visit(program, id, [&](ExprId e) {
    const Expr& expr = program.expr(e);
    if (expr.kind != ExprKind::index) return;
    only = only && (expr.ref == inner || std::ranges::any_of(statement.indices, [&](const Range& range) {
                      return range.index == expr.ref;
                    }));
  });
  return only;
}

}  // namespace

bool Loops::read_outside(const Group& group, const Pass& pass, TensorId tensor) const {
  return std::ranges::any_of(group.statements, [&](std::size_t at) {
    return std::ranges::find(pass.statements, at) == pass.statements.end() &&
           reads(program_, program_.statements[at].value, tensor);
  });
}

void Loops::bind_statement(const Bound& bound, const Pass&, const std::vector<std::string>& outer,
                           const std::string& inner) {
  for (std::size_t i = 0; i < bound.outer.size(); ++i) printer_.bind_as(bound.outer[i], outer[i]);
  printer_.bind_as(bound.inner, inner);
}

void Loops::lane_reduction(std::size_t at) {
  const Statement& statement = program_.statements[at];
  const Expr& value = program_.expr(statement.value);
  Code& code = printer_.code();
  std::string term = printer_.vector(value.args[0]);
  const std::string identity = printer_.identity(value.reduce, NumberClass::real);
  if (value.condition) {
    printer_.need("v_where");
    term = fmt::format("v_where({}, {}, {})", printer_.mask(*value.condition), term, identity);
  }
  printer_.need("v_keep");
  code.line(printer_.combine(value.reduce, accumulators_.at(at),
                             fmt::format("v_keep({}, span, {})", term, identity)));
}

/// Where a row is first read, lines further on are asked for: the pass that waits for memory keeps more
/// requests in flight than the processor's own prefetcher makes. A pass that reads the row again, from the
/// first cache, asks for the next row: the memory works on while the arithmetic does.
void Loops::plan_prefetch(const Group& group, std::vector<Pass>& passes) const {
  std::set<TensorId> seen;
  for (auto pass = passes.begin(); pass != passes.end(); ++pass) {
    if (!pass->lanes || !pass->outer.empty()) continue;
    for (const std::size_t at : pass->statements) {
      const Statement& statement = program_.statements[at];
      const IndexId inner = bound_of(group, at).inner.index;
      const IndexId row =
          group.depth == 0 ? inner : statement.indices[static_cast<std::size_t>(group.depth - 1)].index;
      visit(program_, statement.value, [&](ExprId e) {
        const Expr& expr = program_.expr(e);
        const bool cold = expr.kind == ExprKind::access &&
                          printer_.storage(expr.ref).home == Home::argument && mentions(program_, e, row) &&
                          printer_.unit_stride(expr, inner) && mentions_only(program_, e, statement, inner);
        if (!cold || !seen.insert(expr.ref).second) return;
        pass->fetch.push_back({e, false});
        if (group.depth == 0 || !printer_.choices().prefetch_row) return;
        for (auto later = pass + 1; later != passes.end(); ++later) {
          if (!later->lanes || !later->outer.empty()) continue;
          later->fetch.push_back({e, true});
          break;
        }
      });
    }
  }
}

void Loops::prefetch(const Group& group, const Pass& pass) {
  constexpr int bytes_ahead = 4096;  // where the processor's own prefetchers stop
  for (const Fetch& fetch : pass.fetch) {
    const Expr access = program_.expr(fetch.access);
    // The access may belong to another pass of the group: its row index is bound, its inner one is this
    // pass's.
    for (const std::size_t at : group.statements) {
      const Statement& statement = program_.statements[at];
      const Range inner = bound_of(group, at).inner;
      if (inner.index < 0 || !mentions(program_, fetch.access, inner.index)) continue;
      const auto line = [&](const std::string& ahead, const char* what) {
        // A vector of narrow elements is a part of a line: the line is asked for once.
        const std::int64_t line_elements = 64 * 8 / storage_bits(program_.tensor(access.ref).type);
        const bool several = line_elements > printer_.choices().lanes;
        printer_.code().line(
            "{}__builtin_prefetch({} + {}{}, 0, 2);  // {}",
            several ? fmt::format("if ({} % {} == 0) ", printer_.index_text(pass.inner.index), line_elements)
                    : std::string(),
            printer_.tensor_name(access.ref), printer_.offset(access.ref, access.args), ahead, what);
      };
      printer_.bind_as(inner, printer_.index_text(pass.inner.index));
      if (!fetch.next_row) {
        const std::int64_t element = storage_bits(program_.tensor(access.ref).type) / 8;
        line(fmt::format(" + {}", bytes_ahead / std::max<std::int64_t>(1, element)), "4 KiB ahead");
        break;
      }
      const Range row = statement.indices[static_cast<std::size_t>(group.depth - 1)];
      const std::string here = printer_.index_text(row.index);
      printer_.bind_as(row, here + " + 1");
      line("", "the next row");
      printer_.bind_as(row, here);
      break;
    }
  }
}

void Loops::lane_body(const Group& group, const Pass& pass) {
  Code& code = printer_.code();
  prefetch(group, pass);
  for (const std::size_t at : pass.statements) {
    const Statement& statement = program_.statements[at];
    printer_.vectorize(bound_of(group, at).inner.index);
    code.comment(to_text(program_, statement));
    if (reduces(statement, group.depth)) {
      lane_reduction(at);
      continue;
    }
    const bool in_pass = std::ranges::any_of(pass.statements, [&](std::size_t other) {
      return other != at && reads(program_, program_.statements[other].value, statement.target);
    });
    std::string value = printer_.vector(statement.value);
    if (in_pass) {
      const std::string name = printer_.take(printer_.tensor_name(statement.target) + "_now");
      code.line("const vec {} = {};", name, value);
      printer_.set_register(statement.target, name);
      value = name;
    }
    const Home home = printer_.storage(statement.target).home;
    if (home == Home::argument || home == Home::workspace || !in_pass ||
        read_outside(group, pass, statement.target)) {
      note_scratch(statement.target);
      printer_.store(statement.target, statement.subscripts, value, true);
    }
  }
  printer_.vectorize(-1);
}

void Loops::lane_pass(const Group& group, const Pass& pass) {
  Code& code = printer_.code();
  const int unroll = printer_.choices().unroll;
  std::vector<std::string> accumulators;
  for (const std::size_t at : pass.statements) {
    const Statement& statement = program_.statements[at];
    if (!reduces(statement, group.depth)) continue;
    accumulators_[at] = printer_.take(printer_.tensor_name(statement.target) + "_lanes");
    accumulators.push_back(accumulators_[at]);
    const std::string identity = printer_.identity(program_.expr(statement.value).reduce, NumberClass::real);
    for (int copy = 0; copy < unroll; ++copy) {
      code.line("vec {}{} = {} - vec{{}};", accumulators.back(), copy,
                printer_.real() + "(" + identity + ")");
    }
  }
  code.open_block();
  std::vector<std::string> outer;
  for (const Range& range : pass.outer) {
    printer_.open_loop(range);
    outer.push_back(printer_.index_text(range.index));
  }
  const std::string function = printer_.take("pass");
  const std::string index = printer_.bind(pass.inner);
  for (const std::size_t at : pass.statements) bind_statement(bound_of(group, at), pass, outer, index);
  std::string parameters = fmt::format("int64_t {}, auto span", index);
  for (const std::string& accumulator : accumulators) parameters += fmt::format(", vec& {}", accumulator);
  code.open("const auto {} = [&]({}) __attribute__((always_inline))", function, parameters);
  lane_body(group, pass);
  code.close("};");
  lane_loops(printer_, pass.inner, index, function, accumulators);
  printer_.release(pass.inner);
  printer_.give_back(function);
  for (auto range = pass.outer.rbegin(); range != pass.outer.rend(); ++range) printer_.close_loop(*range);
  code.close();
  for (const std::size_t at : pass.statements) {
    const Statement& statement = program_.statements[at];
    if (!reduces(statement, group.depth)) continue;
    const ReduceOp op = program_.expr(statement.value).reduce;
    for (int copy = 1; copy < unroll; ++copy) {
      code.line(
          printer_.combine(op, accumulators_.at(at) + "0", fmt::format("{}{}", accumulators_.at(at), copy)));
    }
    printer_.need(fold_of(op));
    assign(statement, fmt::format("{}({}0)", fold_of(op), accumulators_.at(at)));
  }
}

}  // namespace ako::synth
