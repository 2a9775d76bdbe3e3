// SPDX-License-Identifier: Apache-2.0
// Which knobs a problem has on a GPU, and what they are worth trying at.
#include <algorithm>

#include "synth/gpu/gpu.h"
#include "synth/gpu/product.h"
#include "synth/gpu/rows.h"
#include "synth/gpu/swap.h"
#include "synth/gpu/synthesize.h"

namespace ako::synth::gpu {

namespace {

/// What of a problem decides which knobs it has.
struct Traits {
  bool points = false, rows = false, swaps = false, product = false, matrix = false, updates = false,
       functions = false, wide = false;
  bool matrix_only = true;  // of the products
  bool alone = false;       // one kernel computes everything
  std::int64_t longest_row = 1;
};

bool has_fast_form(Op op) {
  return op == Op::exp || op == Op::exp2 || op == Op::log || op == Op::log2 || op == Op::sigmoid ||
         op == Op::rsqrt;
}

Traits traits_of(const Problem& problem) {
  Traits traits;
  const Program program = normalize(problem);
  const Layout layout = fuse(program);
  traits.wide = std::ranges::any_of(problem.tensors,
                                    [](const Tensor& t) { return t.type == ScalarType::f64 && !t.exact; });
  traits.alone = layout.groups.size() == 1;
  for (const Group& group : layout.groups) {
    if (const auto product = match_product(program, layout, group)) {
      traits.product = true;
      const bool fits = fits_matrix_units(program, *product);
      traits.matrix = traits.matrix || fits;
      traits.matrix_only = traits.matrix_only && fits;
      continue;
    }
    traits.swaps = traits.swaps || match_swap(program, group);
    if (const auto rows = match_rows(program, layout, group)) {
      (rows->reduces ? traits.rows : traits.points) = true;
      for (const Shape& shape : problem.shapes) {
        if (rows->reduces)
          traits.longest_row =
              std::max(traits.longest_row, evaluate_integer(program, rows->lane.upper, shape));
      }
    }
    for (const std::size_t at : group.statements) {
      const Statement& statement = program.statements[at];
      traits.updates = traits.updates || (statement.kind == StatementKind::accumulate &&
                                          statement.accumulate == ReduceOp::sum &&
                                          program.tensor(statement.target).type == ScalarType::f32);
      visit(program, statement, [&](ExprId e) {
        traits.functions =
            traits.functions || (program.expr(e).kind == ExprKind::call && has_fast_form(program.expr(e).op));
      });
    }
  }
  return traits;
}

std::string knob(const Schedule& schedule, const char* name) {
  const auto found = schedule.knobs.find(name);
  return found == schedule.knobs.end() ? std::string() : found->second;
}

std::pair<int, int> two(const std::string& text) {
  return {std::stoi(text), std::stoi(text.substr(text.find('x') + 1))};
}

/// How a block's tile divides among threads or waves, or why it does not.
std::string invalid_product(const Schedule& schedule, int wave) {
  const std::string how = knob(schedule, "product");
  if (how.empty() || how == "plain") return {};
  const auto [m, n] = two(knob(schedule, "tile"));
  if (how == "matrix") {
    const auto [wave_m, wave_n] = two(knob(schedule, "wave_tile"));
    if (m % wave_m != 0 || n % wave_n != 0) return "wave_tile does not divide the tile";
    const int threads = m / wave_m * (n / wave_n) * 32, depth = std::stoi(knob(schedule, "matrix_depth"));
    if (threads < 64 || threads > 1024) return fmt::format("{} threads for a tile", threads);
    if (m * depth / 8 % threads != 0 || n * depth / 8 % threads != 0)
      return "a stage does not divide among the threads";
    if (2 * depth * (m + n) * std::stoi(knob(schedule, "stages")) > 200 * 1024)
      return "the stages do not fit in shared memory";
    return {};
  }
  const auto [thread_m, thread_n] = two(knob(schedule, "thread_tile"));
  const int threads = m / thread_m * (n / thread_n);
  const int wave_m = wave / 8 * thread_m, wave_n = 8 * thread_n;
  if (m % wave_m != 0 || n % wave_n != 0) return "waves of such threads do not divide the tile";
  if (threads > 512)
    return fmt::format("{} threads, each with a tile of its own, have too few registers", threads);
  return {};
}

/// Knobs that change nothing of the kernel while others stand as they do: tried, they would only cost time.
std::vector<std::string_view> idle_knobs(const Schedule& schedule, const Traits& traits) {
  std::vector<std::string_view> idle;
  auto add = [&](std::initializer_list<std::string_view> names) { idle.insert(idle.end(), names); };
  const std::string product = knob(schedule, "product"), rows = knob(schedule, "rows"),
                    points = knob(schedule, "points"), swap = knob(schedule, "swap");
  if (product == "plain") add({"tile", "thread_tile", "depth"});
  if (product == "plain" || product == "tiled") add({"wave_tile", "matrix_depth", "stages"});
  if (product == "matrix" && traits.matrix_only) add({"thread_tile", "depth"});
  if (rows == "plain") add({"row_threads"});
  if (points == "plain") add({"items", "persistent"});
  if ((rows.empty() || rows == "plain") && (points.empty() || points == "plain")) add({"vector", "access"});
  if (swap == "plain") add({"swap_order", "swap_threads", "swap_tile"});
  if (!traits.alone) return idle;
  if (swap == "tiles") add({"points", "vector", "access", "items", "persistent", "block"});
  if (!product.empty() && product != "plain") add({"block"});
  if (!rows.empty() && rows != "plain") add({"block"});
  return idle;
}

/// A knob without a part keeps the value that the first guess has.
std::string why_idle(const Schedule& schedule, const Schedule& start, const Traits& traits) {
  for (const std::string_view name : idle_knobs(schedule, traits)) {
    const std::string key(name);
    if (const auto found = schedule.knobs.find(key);
        found != schedule.knobs.end() && found->second != start.knobs.at(key))
      return fmt::format("{} changes nothing beside the other settings; leave it at {}", name,
                         start.knobs.at(key));
  }
  return {};
}

std::string why_invalid(const Schedule& schedule, std::int64_t longest_row, int wave) {
  if (knob(schedule, "rows") == "registers") {
    const std::int64_t threads = std::stoi(knob(schedule, "row_threads")),
                       vector = std::stoi(knob(schedule, "vector"));
    const std::int64_t step = threads * vector, kept = (longest_row + step - 1) / step * vector;
    if (kept > 64)
      return fmt::format("a row of {} elements is {} for each of {} threads, too many for registers",
                         longest_row, kept, threads);
  }
  return invalid_product(schedule, wave);
}

void set(ScheduleSpace& space, const char* name, const std::string& wanted) {
  const Knob* found = space.find(name);
  if (found != nullptr && std::ranges::find(found->values, wanted) != found->values.end())
    space.start.knobs[name] = wanted;
}

}  // namespace

ScheduleSpace make_space(const Problem& problem, const TargetFacts& target) {
  const Traits traits = traits_of(problem);
  const std::string wave = target.id.starts_with("gfx") ? "64" : "32";
  ScheduleSpace space;
  space.pattern = pattern_of(problem);
  auto& knobs = space.knobs;
  if (traits.points)
    knobs.push_back(
        {"points", "elements one by one, or neighbours together", {"plain", "vectors"}, true, "memory"});
  if (traits.rows) {
    knobs.push_back(
        {"rows",
         "each statement by itself with a thread for a row, or rows shared by threads and kept in registers "
         "between passes, or read again by each pass",
         {"plain", "registers", "reread"},
         true,
         "memory"});
    knobs.push_back(
        {"row_threads", "threads that share a row", {wave, "128", "256", "512", "1024"}, false, "memory"});
  }
  if (traits.points || traits.rows) {
    knobs.push_back({"vector", "neighbours moved by one instruction", {"1", "2", "4", "8"}, false, "memory"});
    knobs.push_back({"access",
                     "through the caches as usual, or marked as used once",
                     {"cached", "streaming"},
                     false,
                     "memory"});
  }
  if (traits.swaps) {
    knobs.push_back({"swap",
                     "read across memory's lines, or through tiles in shared memory",
                     {"plain", "tiles"},
                     true,
                     "memory"});
    knobs.push_back({"swap_order",
                     "what of neighbouring blocks lies side by side",
                     {"writes", "reads"},
                     false,
                     "memory"});
    knobs.push_back({"swap_threads", "threads of a tile", {"128", "256", "512"}, false, "memory"});
    knobs.push_back({"swap_tile", "lines of such a tile", {"32", "64"}, false, "memory"});
  }
  if (traits.product) {
    // mma.sync is NVIDIA's; AMD's matrix units are not written yet.
    const bool matrix = traits.matrix && target.id.starts_with("sm_");
    std::vector<std::string> ways{"plain", "tiled"};
    if (matrix) ways.push_back("matrix");
    knobs.push_back({"product", "a thread for each sum, tiles in shared memory, or tiles on the matrix units",
                     ways, true, "compute"});
    knobs.push_back({"tile",
                     "rows and columns of a block's tile",
                     {"64x64", "128x64", "128x128", "128x256", "256x128"},
                     false,
                     "compute"});
    knobs.push_back({"thread_tile",
                     "rows and columns of a thread's tile on the ordinary units",
                     {"4x4", "8x4", "8x8", "16x8"},
                     false,
                     "compute"});
    knobs.push_back(
        {"depth", "length of the sums between two barriers", {"8", "16", "32"}, false, "latency"});
    if (matrix) {
      knobs.push_back({"wave_tile",
                       "rows and columns of a wave's tile on the matrix units",
                       {"32x32", "32x64", "64x32", "64x64"},
                       false,
                       "compute"});
      knobs.push_back({"matrix_depth",
                       "length of the sums of a stage on the matrix units",
                       {"64", "128"},
                       false,
                       "latency"});
      knobs.push_back({"stages",
                       "stages of operands on their way to the matrix units",
                       {"3", "4", "5"},
                       false,
                       "latency"});
    }
  }
  knobs.push_back({"block",
                   "threads of a block where every thread has an element of its own",
                   {"128", "256", "512", "1024"},
                   false,
                   "latency"});
  if (traits.points) {
    knobs.push_back({"items", "vectors per thread", {"1", "2", "4", "8"}, false, "latency"});
    knobs.push_back({"persistent",
                     "blocks for each compute unit that walk over everything; 0: each block works once",
                     {"0", "2", "4", "8"},
                     false,
                     "overhead"});
  }
  if (traits.functions && !traits.wide)
    knobs.push_back({"math",
                     "elementary functions to the last place, or as the hardware approximates them",
                     {"exact", "fast"},
                     true,
                     "compute"});
  if (traits.updates)
    knobs.push_back({"updates",
                     "sums into the same element in the order written, or atomically in any order",
                     {"ordered", "atomic"},
                     true,
                     "latency"});
  for (const Knob& each : knobs) space.naive.knobs[each.name] = each.values.front();
  if (space.find("block") != nullptr) space.naive.knobs["block"] = "256";
  space.start = space.naive;
  set(space, "points", "vectors");
  set(space, "rows", "registers");
  const bool narrow = std::ranges::all_of(
      kernel_tensors(problem), [&](TensorId id) { return storage_bits(problem.tensor(id).type) <= 16; });
  set(space, "vector", narrow ? "8" : "4");
  set(space, "row_threads", traits.longest_row <= 1024 ? wave : traits.longest_row <= 16384 ? "256" : "1024");
  set(space, "updates", "atomic");
  set(space, "swap", "tiles");
  set(space, "product", "tiled");
  set(space, "tile", "128x128");
  set(space, "thread_tile", "8x8");
  set(space, "depth", "8");
  set(space, "product", "matrix");
  set(space, "wave_tile", "64x64");
  set(space, "stages", "3");
  set(space, "items", "2");
  const std::int64_t longest = traits.longest_row;
  const int lanes = std::stoi(wave);
  if (!why_invalid(space.start, longest, lanes).empty()) set(space, "rows", "reread");
  for (const std::string_view name : idle_knobs(space.naive, traits))
    if (const auto found = space.naive.knobs.find(std::string(name)); found != space.naive.knobs.end())
      found->second = space.start.knobs.at(found->first);
  space.invalid = [longest, lanes, traits, start = space.start](const Schedule& schedule) {
    const std::string idle = why_idle(schedule, start, traits);
    return idle.empty() ? why_invalid(schedule, longest, lanes) : idle;
  };
  return space;
}

}  // namespace ako::synth::gpu
