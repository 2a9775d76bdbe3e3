// SPDX-License-Identifier: Apache-2.0
#include "synth/gpu/swap.h"

#include <algorithm>

namespace ako::synth::gpu {

namespace {

bool only_bare(const Program& program, const Expr& access) {
  return !access.fallback &&
         std::ranges::all_of(access.args, [&](ExprId e) { return bare_index(program, e) >= 0; });
}

bool whole_bytes(const Program& program, TensorId id) {
  const Tensor& tensor = program.tensor(id);
  return tensor.exact || storage_bits(tensor.type) >= 8;
}

}  // namespace

std::optional<Swap> match_swap(const Program& program, const Group& group) {
  if (group.statements.size() != 1) return {};
  Swap swap;
  swap.statement = group.statements.front();
  const Statement& s = program.statements[swap.statement];
  if (s.kind != StatementKind::define || s.indices.size() < 2 || s.indices.size() != s.subscripts.size())
    return {};
  if (!whole_bytes(program, s.target)) return {};
  for (std::size_t i = 0; i < s.indices.size(); ++i) {
    const Range& range = s.indices[i];
    if (!rectangular(program, range) || !is_literal(program, range.lower, 0)) return {};
    if (!is_index(program, s.subscripts[i], range.index)) return {};
  }
  swap.along = s.indices.back();
  IndexId across = -1;
  bool fine = true;
  visit(program, s.value, [&](ExprId e) {
    const Expr& expr = program.expr(e);
    fine = fine && expr.kind != ExprKind::reduce;
    if (expr.kind != ExprKind::access || expr.args.empty()) return;
    fine = fine && expr.ref != s.target;
    if (!only_bare(program, expr)) return;
    const IndexId last = bare_index(program, expr.args.back());
    if (last == swap.along.index || !mentions(program, e, swap.along.index)) return;
    fine = fine && (across < 0 || across == last) && whole_bytes(program, expr.ref);
    across = last;
    swap.accesses.push_back(e);
  });
  if (!fine || swap.accesses.empty()) return {};
  for (const Range& range : s.indices) {
    if (range.index == across) {
      swap.across = range;
    } else if (range.index != swap.along.index) {
      swap.others.push_back(range);
    }
  }
  if (swap.across.index < 0) return {};
  return swap;
}

void write_swap(Unit& unit, const Swap& swap, const SwapChoices& choices) {
  Expressions& e = unit.expressions();
  const Program& program = unit.program();
  const Statement& s = program.statements[swap.statement];
  if (program.tensor(s.target).role == TensorRole::temporary) unit.workspace_for(s.target);
  Kernel kernel = unit.begin("swap_" + program.tensor(s.target).name, to_text(program, s));
  e.write_to(kernel.body);
  Code& code = kernel.body;
  e.take("i");
  const std::string tile = std::to_string(choices.tile);
  kernel.threads = choices.threads;
  kernel.block[0] = std::to_string(choices.threads);
  kernel.grid[0] = fmt::format("ceil_div({}, {}) * ceil_div({}, {})", unit.extent(swap.across), tile,
                               unit.extent(swap.along), tile);
  kernel.grid[1] = unit.extents(swap.others);
  const std::string across_end = e.position(swap.across.upper, 81),
                    along_end = e.position(swap.along.upper, 81);
  code.line("constexpr int tile = {}, threads = {};", tile, choices.threads);
  std::vector<std::string> tiles;
  for (const ExprId access : swap.accesses) {
    const TensorId id = program.expr(access).ref;
    tiles.push_back(e.take(e.tensor(id) + "_tile"));
    code.line("AKO_SHARED {} {}[tile][tile + 1];", e.storage_type(id), tiles.back());
  }
  if (choices.across_first) {
    code.line("const index_t tiles = ({} + tile - 1) / tile;", across_end);
    code.line(
        "const index_t across_0 = ako::block_x() % tiles * tile, along_0 = ako::block_x() / tiles * tile;");
  } else {
    code.line("const index_t tiles = ({} + tile - 1) / tile;", along_end);
    code.line(
        "const index_t across_0 = ako::block_x() / tiles * tile, along_0 = ako::block_x() % tiles * tile;");
  }
  std::string rest = "(index_t)ako::block_y()";
  for (std::size_t i = swap.others.size(); i-- > 0;) {
    const std::string name = e.bind(swap.others[i].index);
    if (i == 0) {
      code.line("const index_t {} = {};", name, rest);
    } else {
      const std::string size = e.position(swap.others[i].upper, 81), next = e.take("rest");
      code.line("const index_t {} = {} % {}, {} = {} / {};", name, rest, size, next, rest, size);
      rest = next;
    }
  }
  const std::string across = e.bind(swap.across.index), along = e.bind(swap.along.index);
  const auto loop = [&](const std::string& line, const std::string& line_0, const std::string& next,
                        const std::string& next_0) {
    code.line("AKO_UNROLL");
    code.open("for (int i = 0; i < tile * tile / threads; ++i)");
    code.line("const int line = (ako::thread_x() + i * threads) / tile, next = ako::thread_x() % tile;");
    code.line("const index_t {} = {} + line, {} = {} + next;", line, line_0, next, next_0);
    code.line("if ({} >= {} || {} >= {}) continue;", across, across_end, along, along_end);
  };
  loop(along, "along_0", across, "across_0");
  for (std::size_t i = 0; i < swap.accesses.size(); ++i) {
    const Expr& access = program.expr(swap.accesses[i]);
    code.line("{}[line][next] = {}[{}];", tiles[i], e.place(access.ref).pointer,
              e.offset(access.ref, access.args));
  }
  code.close();
  code.line("ako::barrier();");
  loop(across, "across_0", along, "along_0");
  e.known = [&](ExprId id) -> std::optional<std::string> {
    const auto found = std::ranges::find(swap.accesses, id);
    if (found == swap.accesses.end()) return std::nullopt;
    Place& place = e.place(program.expr(id).ref);
    const std::string pointer = std::exchange(
        place.pointer, tiles[static_cast<std::size_t>(found - swap.accesses.begin())] + "[next]");
    const std::string value = e.load(program.expr(id).ref, "line");
    place.pointer = pointer;
    return value;
  };
  const std::string value = e.as(program.tensor(s.target).number, s.value);
  e.known = nullptr;
  code.line(e.store(s.target, e.offset(s.target, s.subscripts), value));
  code.close();
  unit.end(std::move(kernel));
}

}  // namespace ako::synth::gpu
