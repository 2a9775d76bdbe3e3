// SPDX-License-Identifier: Apache-2.0
// Scans: one running value per line, or, along neighbours, a prefix inside each vector and one running
// vector.
#include <algorithm>

#include "synth/lanes.h"
#include "synth/loops.h"

namespace ako::synth {

namespace {

std::string combined(ReduceOp op, const std::string& a, const std::string& b) {
  switch (op) {
    case ReduceOp::sum:
      return a + " + " + b;
    case ReduceOp::prod:
      return a + " * " + b;
    case ReduceOp::max:
      return "larger(" + a + ", " + b + ")";
    default:
      return "smaller(" + a + ", " + b + ")";
  }
}

}  // namespace

/// The line lies along the last axis, in storage that vectors are loaded from and stored to.
bool Loops::by_lanes(const Scan& scan) const {
  const Statement& statement = scan.statement;
  if (printer_.choices().lanes <= 1 || scan.value.reduce > ReduceOp::min) return false;
  if (scan.value.type != NumberClass::real || !printer_.vector_storage(statement.target)) return false;
  if (!is_index(program_, statement.subscripts.back(), scan.steps.index)) return false;
  bool neighbours = false, scattered = false;
  visit(program_, scan.value.args[0], [&](ExprId e) {
    const Expr& expr = program_.expr(e);
    scattered = scattered || expr.kind == ExprKind::reduce || is_index(program_, e, scan.steps.index);
    if (expr.kind != ExprKind::access || !mentions(program_, e, scan.range.index)) return;
    (printer_.unit_stride(expr, scan.range.index) ? neighbours : scattered) = true;
  });
  return neighbours && !scattered;
}

/// Within a vector by doubling distances (Hillis and Steele, 1986); between vectors only the last lane's
/// value passes on, so that one operation per vector is all that waits for the one before.
void Loops::running_lanes(const Scan& scan) {
  Code& code = printer_.code();
  const ReduceOp op = scan.value.reduce;
  const std::string identity = printer_.identity(op, NumberClass::real);
  const std::string running = printer_.take("running"), function = printer_.take("pass");
  for (const char* support : {"v_prefix", "v_keep", "v_last"}) printer_.need(support);
  if (op == ReduceOp::max) printer_.need("larger");
  if (op == ReduceOp::min) printer_.need("smaller");
  note_scratch(scan.statement.target);
  code.line("vec {} = {}({}) - vec{{}};", running, printer_.real(), identity);
  code.open_block();
  const std::string index = printer_.bind(scan.steps);
  printer_.bind_as(scan.range, index);
  code.open("const auto {} = [&](int64_t {}, auto span) __attribute__((always_inline))", function, index);
  printer_.vectorize(scan.range.index);
  std::string term = printer_.vector(scan.value.args[0]);
  if (scan.value.condition) {
    printer_.need("v_where");
    term = fmt::format("v_where({}, {}, {})", printer_.mask(*scan.value.condition), term, identity);
  }
  const std::string prefix = printer_.take("prefix");
  code.line("const vec {} = v_prefix(v_keep({}, span, {}), {}, [](vec a, vec b) {{ return {}; }});", prefix,
            term, identity, identity, combined(op, "a", "b"));
  printer_.vectorize(scan.steps.index);
  std::string before = prefix;
  if (scan.exclusive) {
    printer_.need("v_shift");
    before = fmt::format("v_shift({}, {})", prefix, identity);
  }
  printer_.store(scan.statement.target, scan.statement.subscripts, combined(op, running, before), true);
  code.line("{} = {};", running, combined(op, running, "v_last(" + prefix + ")"));
  printer_.vectorize(-1);
  code.close("};");
  lane_loops(printer_, scan.steps, index, function, {});
  printer_.release(scan.steps);
  for (const std::string& name : {function, prefix}) printer_.give_back(name);
  code.close();
  printer_.give_back(running);
}

void Loops::running_value(const Scan& scan) {
  Code& code = printer_.code();
  const Statement& statement = scan.statement;
  const Expr& value = scan.value;
  const std::string total = printer_.take("running");
  const NumberClass number = program_.expr(value.args[0]).type;
  code.line("{} {} = {};", printer_.value_type(statement.target), total,
            printer_.identity(value.reduce, number));
  printer_.open_loop(scan.steps);
  printer_.bind_as(scan.range, printer_.index_text(scan.steps.index));
  note_scratch(statement.target);
  if (scan.exclusive) printer_.store(statement.target, statement.subscripts, total, false);
  if (value.condition) code.open("if ({})", printer_.scalar(*value.condition));
  code.line(printer_.combine(value.reduce, total, printer_.scalar(value.args[0])));
  if (value.condition) code.close();
  if (!scan.exclusive) printer_.store(statement.target, statement.subscripts, total, false);
  printer_.close_loop(scan.steps);
  printer_.give_back(total);
}

/// y[…, t, …] = scan op(k <= t: body): one running value per line.
void Loops::scan(const Statement& statement) {
  const Expr value = program_.expr(statement.value);
  const Range range = value.bounds[0];
  const Expr upper = program_.expr(range.upper);
  const bool exclusive = upper.kind == ExprKind::index;
  const bool inclusive = upper.kind == ExprKind::binary && upper.op == Op::add &&
                         is_literal(program_, upper.args[1], 1) && bare_index(program_, upper.args[0]) >= 0;
  const IndexId step = exclusive ? upper.ref : inclusive ? bare_index(program_, upper.args[0]) : -1;
  const auto steps = std::ranges::find_if(statement.indices, [&](const Range& r) { return r.index == step; });
  const bool simple = steps != statement.indices.end() && is_literal(program_, range.lower, 0) &&
                      value.bounds.size() == 1 && value.reduce <= ReduceOp::all &&
                      rectangular(program_, *steps);
  std::vector<Range> loops;
  for (const Range& r : statement.indices) {
    if (!simple || r.index != step) loops.push_back(r);
  }
  const bool all_rectangular =
      std::ranges::all_of(loops, [&](const Range& r) { return rectangular(program_, r); });
  if (!simple) {
    const Range shared = loops.front();
    return ordered_loops(statement, loops, all_rectangular ? &shared : nullptr, nullptr);
  }
  Code& code = printer_.code();
  const bool divided = all_rectangular && !loops.empty() && printer_.choices().threads > 1;
  std::vector<std::string> names;
  std::string parameters, arguments;
  for (const Range& r : loops) {
    names.push_back(divided ? printer_.bind(r) : (printer_.open_loop(r), printer_.index_text(r.index)));
    parameters += (parameters.empty() ? "int64_t " : ", int64_t ") + names.back();
    arguments += (arguments.empty() ? "" : ", ") + names.back();
  }
  const std::string function = divided ? printer_.take("line") : std::string();
  if (divided) code.open("const auto {} = [&]({})", function, parameters);
  Scan parts{statement, value, range, *steps, exclusive};
  by_lanes(parts) ? running_lanes(parts) : running_value(parts);
  if (!divided) {
    for (auto r = loops.rbegin(); r != loops.rend(); ++r) printer_.close_loop(*r);
    return;
  }
  code.close("};");
  shared_loops(loops, names, loops.size(), "static", work_text(statement.indices),
               fmt::format("{}({});", function, arguments));
  for (const Range& r : loops) printer_.release(r);
}

}  // namespace ako::synth
