// SPDX-License-Identifier: Apache-2.0
// Which knobs a problem has on a target, and what they are worth trying at.
#include "synth/space.h"

#include <fmt/format.h>

#include <algorithm>

#include "synth/attention.h"
#include "synth/contraction.h"
#include "synth/groups.h"
#include "synth/polynomials.h"

namespace ako::synth {

namespace {

bool any_expression(const Program& program, const std::function<bool(const Expr&)>& test) {
  bool found = false;
  for (const Statement& statement : program.statements) {
    visit(program, statement, [&](ExprId e) { found = found || test(program.expr(e)); });
  }
  return found;
}

std::vector<std::string> powers(int from, int to) {
  std::vector<std::string> values;
  for (int value = from; value <= to; value *= 2) values.push_back(std::to_string(value));
  return values;
}

std::vector<std::string> thread_counts(int cores) {
  std::vector<std::string> values = powers(1, cores);
  if (values.back() != std::to_string(cores)) values.push_back(std::to_string(cores));
  return values;
}

bool is_wide(const Problem& problem) {
  return std::ranges::any_of(problem.tensors,
                             [](const Tensor& t) { return t.type == ScalarType::f64 && !t.exact; });
}

}  // namespace

Traits traits_of(const Problem& problem) {
  Traits traits;
  traits.wide = is_wide(problem);
  const Program program = normalize(problem);
  const Layout layout = fuse(program);
  for (const Group& group : layout.groups) {
    const auto contraction = match_contraction(program, layout, group);
    Program scratch = program;
    traits.attention = traits.attention || (!contraction && match_attention(scratch, layout, group));
    if (!contraction) continue;
    traits.contraction = true;
    traits.pairs = traits.pairs || can_pair(program, *contraction);
  }
  Program kept = program;
  Program inlined = program;
  const int shared = keep_common(kept), computed_again = inline_elementwise(inlined, 8);
  traits.keeps = shared > 0;
  traits.recomputes = computed_again > 0;
  traits.transcendental = any_expression(program, [](const Expr& e) {
    return e.kind == ExprKind::call && (has_polynomial(e.op) || e.op == Op::sigmoid);
  });
  traits.exponential = any_expression(program, [](const Expr& e) {
    return e.kind == ExprKind::call && (e.op == Op::exp || e.op == Op::exp2 || e.op == Op::sigmoid);
  });
  traits.divides =
      any_expression(program, [](const Expr& e) { return e.op == Op::div && e.type == NumberClass::real; });
  // A tolerance of nothing asks for denormals too, which the instruction makes zero.
  const bool to_the_bit = problem.tolerance.rtol == 0.0 && problem.tolerance.atol.value_or(0) == 0;
  traits.rounds = !to_the_bit && std::ranges::any_of(kernel_tensors(problem), [&](TensorId id) {
    return problem.tensor(id).type == ScalarType::bf16 && problem.tensor(id).role != TensorRole::input;
  });
  traits.passes = program.statements.size() > 1;
  return traits;
}

namespace {

void add_tile_knobs(ScheduleSpace& space) {
  space.knobs.push_back(
      {"algorithm", "plain nest, or packed panels and register tiles", {"nest", "tiled"}, true, "compute"});
  space.knobs.push_back(
      {"tile_m", "rows of the register tile", {"2", "4", "6", "8", "10", "12", "14"}, false, "compute"});
  space.knobs.push_back(
      {"tile_n", "vectors across the register tile", {"1", "2", "3", "4"}, false, "compute"});
}

void add_attention_knobs(ScheduleSpace& space) {
  space.knobs.push_back({"block_q",
                         "queries that go over the keys together: more use each block of keys more often",
                         {"16", "32", "64", "128", "256"},
                         false,
                         "memory"});
  space.knobs.push_back({"block_keys",
                         "keys whose scores are kept at once: they stay in the first cache",
                         {"32", "64", "128", "256", "512"},
                         false,
                         "memory"});
  space.knobs.push_back({"share",
                         "what threads share: the queries of a head, or the heads",
                         {"queries", "heads"},
                         true,
                         "overhead"});
}

void add_contraction_knobs(ScheduleSpace& space, const Traits& traits, const TargetFacts& target) {
  space.knobs.push_back({"block_k",
                         "length of the sums done at once: a panel of B stays in the first cache",
                         {"64", "128", "192", "256", "384", "512"},
                         false,
                         "memory"});
  space.knobs.push_back({"block_m",
                         "rows packed at once: they stay in the second cache",
                         {"48", "96", "144", "192", "288", "384"},
                         false,
                         "memory"});
  space.knobs.push_back({"block_n",
                         "columns packed at once: they stay in the last cache",
                         {"256", "512", "1024", "2048", "4096"},
                         false,
                         "memory"});
  space.knobs.push_back(
      {"split", "what threads share: rows or columns", {"rows", "columns"}, true, "compute"});
  if (traits.pairs && target.has("avx512_bf16") && target.vector_bits >= 512) {
    space.knobs.push_back({"operands",
                           "bf16 operands widened while packing, or multiplied in pairs as they are",
                           {"widened", "pairs"},
                           true,
                           "compute"});
  }
}

/// The short exponential is right to 24 bits less those that the argument's whole part takes: plenty for 100
/// dB.
bool bears_short_terms(const Tolerance& tolerance) { return tolerance.snr_db && *tolerance.snr_db <= 110; }

/// The results of the largest shape do not fit in the caches anyway.
bool streams(const Problem& problem, const TargetFacts& target) {
  const std::int64_t cache = std::max(target.last_level_cache().count, mebibytes(8).count);
  return std::ranges::any_of(problem.shapes, [&](const Shape& shape) {
    std::int64_t written = 0;
    for (const TensorId id : kernel_tensors(problem)) {
      const Tensor& tensor = problem.tensor(id);
      if (tensor.role != TensorRole::input)
        written += storage_bytes(tensor.type, element_count(problem, tensor, shape)).count;
    }
    return written > cache;
  });
}

void set(Schedule& schedule, const ScheduleSpace& space, const char* knob, const std::string& wanted) {
  const Knob* found = space.find(knob);
  if (found == nullptr) return;
  const bool known = std::ranges::find(found->values, wanted) != found->values.end();
  schedule.knobs[knob] = known ? wanted : found->values.back();
}

std::string why_invalid(const Schedule& schedule, int registers) {
  const auto value = [&](const char* name) {
    const auto found = schedule.knobs.find(name);
    return found == schedule.knobs.end() ? std::string() : found->second;
  };
  const bool plain = value("vector") == "1";
  if (plain && !value("math").empty() && value("math") != "libm")
    return "polynomials work on vectors; vector=1 has none";
  if (plain && value("stores") == "streaming") return "stores=streaming needs vectors; vector=1 has none";
  if (plain && value("divide") == "reciprocal")
    return "divide=reciprocal concerns vectors; vector=1 has none";
  if (plain && value("unroll") != "1") return "unroll counts vectors; with vector=1 the compiler decides";
  if (plain && !value("prefetch").empty() && value("prefetch") != "off")
    return "prefetches go along with vectors; vector=1 has none";
  if (value("rounding") == "hardware" && value("vector") != "16") return "rounding=hardware needs vector=16";
  if (plain && value("passes") == "merged") return "passes=merged concerns vectors; vector=1 has none";
  if (value("algorithm") != "tiled") return {};
  if (plain) return "algorithm=tiled needs vectors; vector=1 has none";
  const int m = std::stoi(value("tile_m")), n = std::stoi(value("tile_n"));
  if (m * n + n + 1 > registers)
    return fmt::format("a tile of {} x {} vectors does not fit in {} registers", m, n, registers);
  if (!value("block_q").empty() && value("math") == "libm")
    return "attention with algorithm=tiled needs math=polynomial";
  if (value("operands") == "pairs" && value("vector") != "16") return "operands=pairs needs vector=16";
  return {};
}

}  // namespace

ScheduleSpace make_space(const Problem& problem, const TargetFacts& target) {
  const Traits traits = traits_of(problem);
  ScheduleSpace space;
  space.pattern = pattern_of(problem);
  const bool memory = space.pattern == Pattern::elementwise || space.pattern == Pattern::row_reduction;
  const int cores = std::max(1, target.compute_units);
  const int widest = std::max(1, std::max(128, target.vector_bits) / (traits.wide ? 64 : 32));
  space.knobs.push_back(
      {"threads", "cores that share the work", thread_counts(cores), false, memory ? "memory" : "compute"});
  std::vector<std::string> lanes{"1"};
  for (const std::string& width : powers(std::min(4, widest), widest)) lanes.push_back(width);
  space.knobs.push_back(
      {"vector", "SIMD lanes; 1 leaves plain loops to the compiler", lanes, true, "compute"});
  space.knobs.push_back({"unroll",
                         "vectors per step, each with an accumulator of its own",
                         {"1", "2", "4", "8"},
                         false,
                         "latency"});
  if (traits.passes) {
    space.knobs.push_back({"passes",
                           "each statement its own loop over the row, or neighbours merged into one",
                           {"separate", "merged"},
                           true,
                           "memory"});
  }
  if (traits.keeps || traits.recomputes) {
    std::vector<std::string> values{"written"};
    if (traits.recomputes) values.push_back("recomputed");
    if (traits.keeps) values.push_back("kept");
    space.knobs.push_back(
        {"temporaries", "as the problem writes them, computed again where they are read, or kept in scratch",
         values, true, memory ? "compute" : "memory"});
  }
  if (traits.transcendental) {
    std::vector<std::string> values{"libm", "polynomial"};
    if (traits.exponential && !traits.wide && bears_short_terms(problem.tolerance))
      values.emplace_back("short");
    space.knobs.push_back({"math",
                           "elementary functions by the C library, by polynomials on vectors, or with fewer "
                           "terms for exponentials",
                           values, true, "compute"});
  }
  if (traits.divides) {
    space.knobs.push_back({"divide",
                           "by a row's common divisor: divide each element, or multiply by its reciprocal",
                           {"exact", "reciprocal"},
                           false,
                           "compute"});
  }
  space.knobs.push_back(
      {"stores", "results through the caches or past them", {"cached", "streaming"}, false, "memory"});
  std::vector<std::string> fetches{"off", "ahead"};
  if (traits.passes) fetches.emplace_back("row");
  space.knobs.push_back(
      {"prefetch", "fetch lines ahead, and the next row while this one is read again: the memory never waits",
       fetches, false, "memory"});
  if (traits.rounds && !traits.wide && widest >= 16 && target.has("avx512_bf16")) {
    space.knobs.push_back(
        {"rounding",
         "to bf16 by integer arithmetic, or by the processor's instruction, which makes denormals zero",
         {"exact", "hardware"},
         false,
         "compute"});
  }
  if (traits.contraction || traits.attention) add_tile_knobs(space);
  if (traits.attention) add_attention_knobs(space);
  if (traits.contraction) add_contraction_knobs(space, traits, target);

  for (const Knob& knob : space.knobs) space.naive.knobs[knob.name] = knob.values.front();
  space.start = space.naive;
  set(space.start, space, "threads", std::to_string(cores));
  set(space.start, space, "vector", std::to_string(widest));
  set(space.start, space, "unroll",
      traits.contraction || space.pattern == Pattern::row_reduction ? "4" : "2");
  set(space.start, space, "passes", "merged");
  // One long sweep is what the processor's own prefetchers are made for.
  set(space.start, space, "prefetch", space.pattern == Pattern::row_reduction ? "row" : "off");
  if (memory && streams(problem, target)) set(space.start, space, "stores", "streaming");
  set(space.start, space, "rounding", "hardware");
  set(space.start, space, "math", "short");
  set(space.start, space, "divide", "reciprocal");
  const int registers = target.vector_bits >= 512 ? 32 : 16;
  if (traits.contraction || traits.attention) {
    set(space.start, space, "algorithm", "tiled");
    set(space.start, space, "tile_m", registers == 32 ? "14" : "6");
    set(space.start, space, "tile_n", "2");
    set(space.start, space, "block_q", "64");
    set(space.start, space, "block_keys", "128");
    set(space.start, space, "block_k", "256");
    set(space.start, space, "block_m", "192");
    set(space.start, space, "block_n", "1024");
    set(space.start, space, "split", "rows");
    set(space.start, space, "operands", "pairs");
  }
  space.invalid = [registers](const Schedule& schedule) { return why_invalid(schedule, registers); };
  return space;
}

}  // namespace ako::synth
