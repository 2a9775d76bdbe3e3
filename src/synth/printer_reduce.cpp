// SPDX-License-Identifier: Apache-2.0
// Reductions inside expressions: loops that come before the statement, or inside a function where the value
// may not be wanted at all.
#include "synth/lanes.h"
#include "synth/precedence.h"
#include "synth/printer.h"

namespace ako::synth {

using namespace precedence;

/// Printed so that it is evaluated only where it stands.
Text Printer::lazily(ExprId id) {
  bool loops = false;
  visit(program_, id, [&](ExprId e) { loops = loops || program_.expr(e).kind == ExprKind::reduce; });
  if (!loops) return one(id);
  Code* outer = code_;
  Code inner;
  inner.set_depth(outer->depth() + 1);
  code_ = &inner;
  inner.line("return {};", scalar(id));
  code_ = outer;
  return {"[&] {\n" + inner.text() + std::string(static_cast<std::size_t>(outer->depth()) * 2, ' ') + "}()"};
}

/// A reduction along neighbours goes by lanes even where the expression round it is for one element.
bool Printer::reduces_by_lanes(const Expr& expr) const {
  const bool place = (expr.reduce == ReduceOp::argmax || expr.reduce == ReduceOp::argmin) &&
                     expr.bounds.size() == 1 && !expr.condition &&
                     program_.expr(expr.args[0]).type == NumberClass::real;
  const bool simple = place || (expr.type == NumberClass::real && expr.reduce <= ReduceOp::min && !expr.scan);
  if (choices_.lanes <= 1 || vector_ >= 0 || !simple) return false;
  const IndexId inner = expr.bounds.back().index;
  int neighbours = 0, scattered = 0;
  visit(program_, expr.args[0], [&](ExprId e) {
    const Expr& access = program_.expr(e);
    if (access.kind == ExprKind::reduce) ++scattered;
    if (access.kind != ExprKind::access || !mentions(program_, e, inner)) return;
    ++(unit_stride(access, inner) && !access.fallback ? neighbours : scattered);
  });
  return neighbours > 0 && scattered == 0;
}

Text Printer::one_reduce_by_lanes(const Expr& expr) {
  const std::string total = names_.take(expr.reduce == ReduceOp::sum ? "total" : "result");
  const std::string lanes = names_.take(total + "_lanes"), function = names_.take("term");
  const std::string start = identity(expr.reduce, NumberClass::real);
  for (int copy = 0; copy < choices_.unroll; ++copy) {
    code_->line("vec {}{} = {}({}) - vec{{}};", lanes, copy, real_, start);
  }
  code_->open_block();
  for (std::size_t i = 0; i + 1 < expr.bounds.size(); ++i) open_loop(expr.bounds[i]);
  const Range& inner = expr.bounds.back();
  const std::string index = bind(inner);
  code_->open("const auto {} = [&](int64_t {}, auto span, vec& {}) __attribute__((always_inline))", function,
              index, lanes);
  vectorize(inner.index);
  std::string value = vector(expr.args[0]);
  if (expr.condition) {
    need("v_where");
    value = fmt::format("v_where({}, {}, {})", mask(*expr.condition), value, start);
  }
  need("v_keep");
  code_->line(combine(expr.reduce, lanes, fmt::format("v_keep({}, span, {})", value, start)));
  vectorize(-1);
  code_->close("};");
  lane_loops(*this, inner, index, function, {lanes});
  release(inner);
  for (std::size_t i = expr.bounds.size() - 1; i-- > 0;) close_loop(expr.bounds[i]);
  code_->close();
  for (int copy = 1; copy < choices_.unroll; ++copy) {
    code_->line(combine(expr.reduce, lanes + "0", fmt::format("{}{}", lanes, copy)));
  }
  need(fold_of(expr.reduce));
  code_->line("const {} {} = {}({}0);", real_, total, fold_of(expr.reduce), lanes);
  return {total};
}

/// The place of the largest or smallest: each lane keeps its best and in which step it saw it; of equal ones
/// the first counts.
Text Printer::one_place_by_lanes(const Expr& expr) {
  const bool largest = expr.reduce == ReduceOp::argmax;
  const std::string best = names_.take("best"), step = names_.take("step"), value = names_.take("value"),
                    function = names_.take("look"), better = names_.take("better");
  const std::string worst = identity(largest ? ReduceOp::max : ReduceOp::min, NumberClass::real);
  const Range& range = expr.bounds[0];
  const auto [lower, upper] = bounds(range);
  code_->line("vec {} = {}({}) - vec{{}};", best, real_, worst);
  code_->line("ivec {} = {{}};", step);
  code_->open_block();
  const std::string index = bind(range);
  code_->open("const auto {} = [&](int64_t {}, auto span) __attribute__((always_inline))", function, index);
  vectorize(range.index);
  need("v_keep");
  code_->line("const vec {} = v_keep({}, span, {});", value, vector(expr.args[0]), worst);
  vectorize(-1);
  code_->line("const ivec {} = {} {} {};", better, value, largest ? ">" : "<", best);
  code_->line("{0} = {1} ? {2} : {0};", best, better, value);
  code_->line("{0} = {1} ? lane_int({2} / lanes) - ivec{{}} : {0};", step, better,
              lower == "0" ? index : fmt::format("({} - ({}))", index, lower));
  code_->close("};");
  lane_loops(*this, range, index, function, {});
  release(range);
  code_->close();
  const char* fold = largest ? "v_place_of_largest" : "v_place_of_smallest";
  need(fold);
  for (const std::string& name : {value, function, better}) names_.give_back(name);
  const std::string place = fmt::format("{}{}({}, {})", lower == "0" ? "" : lower + " + ", fold, best, step);
  return {fmt::format("{} < {} ? {} : -1", lower, upper, place), choice};
}

Text Printer::one_reduce(const Expr& expr) {
  if (reduces_by_lanes(expr)) {
    return expr.reduce >= ReduceOp::argmax ? one_place_by_lanes(expr) : one_reduce_by_lanes(expr);
  }
  const bool arg = expr.reduce == ReduceOp::argmax || expr.reduce == ReduceOp::argmin;
  static constexpr const char* names[] = {"total", "product", "largest", "smallest",
                                          "some",  "every",   "best",    "best"};
  const std::string accumulator = names_.take(names[static_cast<int>(expr.reduce)]);
  const NumberClass body_class = program_.expr(expr.args[0]).type;
  const std::string type = body_class == NumberClass::real      ? real_
                           : body_class == NumberClass::integer ? "int64_t"
                                                                : "bool";
  const ReduceOp comparing = expr.reduce == ReduceOp::argmax   ? ReduceOp::max
                             : expr.reduce == ReduceOp::argmin ? ReduceOp::min
                                                               : expr.reduce;
  std::string where;
  code_->line("{} {} = {};", type, accumulator, identity(comparing, body_class));
  if (arg) {
    where = names_.take("where");
    code_->line("int64_t {} = -1;", where);
  }
  for (const Range& range : expr.bounds) open_loop(range);
  if (expr.condition) code_->open("if ({})", scalar(*expr.condition));
  if (arg) {
    const std::string value = names_.take("value");
    code_->line("const {} {} = {};", type, value, scalar(expr.args[0]));
    code_->open("if ({0} < 0 || {1} {2} {3})", where, value, comparing == ReduceOp::max ? ">" : "<",
                accumulator);
    code_->line("{} = {};", accumulator, value);
    code_->line("{} = {};", where, indices_.at(expr.bounds[0].index));
    code_->close();
    names_.give_back(value);
  } else {
    code_->line(combine(expr.reduce, accumulator, scalar(expr.args[0])));
  }
  if (expr.condition) code_->close();
  for (auto range = expr.bounds.rbegin(); range != expr.bounds.rend(); ++range) close_loop(*range);
  return {arg ? where : accumulator};
}

Text Printer::many_reduce(ExprId id) {
  const Expr expr = program_.expr(id);
  const bool simple = expr.type == NumberClass::real && expr.reduce <= ReduceOp::min;
  bool bounds_vary = expr.condition && varies(*expr.condition);
  for (const Range& range : expr.bounds)
    bounds_vary = bounds_vary || varies(range.lower) || varies(range.upper);
  if (!simple || bounds_vary) return element_by_element(id);

  const std::string total = names_.take(expr.reduce == ReduceOp::sum ? "total" : "result");
  const int accumulators = expr.condition ? 1 : choices_.unroll;
  const auto name = [&](int i) { return i == 0 ? total : fmt::format("{}_{}", total, i); };
  for (int i = 0; i < accumulators; ++i) {
    code_->line("vec {} = vec{{}} + {}({});", name(i), real_, identity(expr.reduce, NumberClass::real));
  }
  for (std::size_t i = 0; i + 1 < expr.bounds.size(); ++i) open_loop(expr.bounds[i]);
  const Range& inner = expr.bounds.back();
  const std::string lower = scalar(inner.lower), upper = scalar(inner.upper, 61);
  const std::string k = bind(inner);
  code_->line("int64_t {} = {};", k, lower);
  const auto body = [&](int i) {
    bind_as(inner, i == 0 ? k : fmt::format("{} + {}", k, i));
    const std::string value = real_vector(expr.args[0]);
    code_->line(combine(expr.reduce, name(i), value));
    bind_as(inner, k);
  };
  if (accumulators > 1) {
    code_->open("for (; {0} + {1} <= {2}; {0} += {1})", k, accumulators, upper);
    for (int i = 0; i < accumulators; ++i) body(i);
    code_->close();
  }
  code_->open("for (; {0} < {1}; ++{0})", k, upper);
  if (expr.condition) code_->open("if ({})", scalar(*expr.condition));
  body(0);
  if (expr.condition) code_->close();
  code_->close();
  indices_.erase(inner.index);  // the variable lives on beside the accumulators, so its name stays taken
  for (std::size_t i = expr.bounds.size() - 1; i-- > 0;) close_loop(expr.bounds[i]);
  for (int i = 1; i < accumulators; ++i) code_->line(combine(expr.reduce, name(0), name(i)));
  return {total, 100, true};
}

}  // namespace ako::synth
