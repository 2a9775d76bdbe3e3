// SPDX-License-Identifier: Apache-2.0
// Fusion of outer loops.
//
// Statement j may run inside the loops of statement i, iteration by iteration, when every tensor that passes
// between them (written by one, read or written by the other) is subscripted in both by the shared indices
// themselves, axis by axis.
#include "synth/groups.h"

#include <algorithm>

namespace ako::synth {

namespace {

int rank(const Statement& statement) { return static_cast<int>(statement.indices.size()); }

/// How many leading loops of two statements have equal, rectangular ranges.
int common_ranges(const Program& program, const Statement& a, const Statement& b) {
  int depth = 0;
  while (depth < std::min(rank(a), rank(b))) {
    const Range& x = a.indices[static_cast<std::size_t>(depth)];
    const Range& y = b.indices[static_cast<std::size_t>(depth)];
    if (!rectangular(program, x) || !rectangular(program, y) || !same(program, x.upper, y.upper)) break;
    ++depth;
  }
  return depth;
}

/// How many leading subscripts are the statement's own leading indices, in order.
int leading_bare(const Program& program, const Statement& statement, const std::vector<ExprId>& subscripts) {
  int depth = 0;
  while (depth < std::min<int>(rank(statement), static_cast<int>(subscripts.size())) &&
         is_index(program, subscripts[static_cast<std::size_t>(depth)],
                  statement.indices[static_cast<std::size_t>(depth)].index)) {
    ++depth;
  }
  return depth;
}

/// How deep `reader` may share loops with a statement that writes `tensor`; a large number when it does not
/// touch it.
int reading_depth(const Program& program, const Statement& reader, TensorId tensor) {
  int depth = 1 << 20;
  visit(program, reader, [&](ExprId e) {
    const Expr& expr = program.expr(e);
    if (expr.kind != ExprKind::access || expr.ref != tensor) return;
    depth = std::min(depth, expr.fallback ? 0 : leading_bare(program, reader, expr.args));
  });
  return depth;
}

int shared_depth(const Program& program, const Statement& first, const Statement& second) {
  if (first.target == second.target) return 0;
  int depth = common_ranges(program, first, second);
  depth = std::min(depth, reading_depth(program, second, first.target));
  depth = std::min(depth, reading_depth(program, first, second.target));
  depth = std::min(depth, leading_bare(program, first, first.subscripts));
  return std::min(depth, leading_bare(program, second, second.subscripts));
}

bool connected(const Program& program, const Statement& a, const Statement& b) {
  bool found = false;
  visit(program, b, [&](ExprId e) {
    const Expr& expr = program.expr(e);
    if (expr.kind != ExprKind::access) return;
    bool also = expr.ref == a.target;
    visit(program, a, [&](ExprId other) {
      also = also || (program.expr(other).kind == ExprKind::access && program.expr(other).ref == expr.ref);
    });
    found = found || also;
  });
  return found;
}

/// Scans and updates have loops in an order of their own.
bool fusable(const Program& program, const Statement& statement) {
  const Expr& value = program.expr(statement.value);
  return statement.kind == StatementKind::define && !(value.kind == ExprKind::reduce && value.scan);
}

/// The depth at which a group may take one more statement in; 0: it may not.
int joined_depth(const Program& program, const Group& group, const Statement& statement) {
  if (!fusable(program, statement)) return 0;
  int depth = group.depth;
  bool related = false;
  for (std::size_t member : group.statements) {
    const Statement& other = program.statements[member];
    if (!fusable(program, other)) return 0;
    depth = std::min(depth, shared_depth(program, other, statement));
    related = related || connected(program, other, statement);
  }
  // Giving up more than one loop would keep whole matrices alive per iteration; unrelated statements gain
  // nothing by it.
  const bool shallow = depth < group.depth - 1 || (!related && depth < group.depth);
  return shallow ? 0 : depth;
}

std::vector<Group> group_statements(const Program& program) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < program.statements.size(); ++i) {
    const Statement& statement = program.statements[i];
    if (!groups.empty()) {
      if (const int depth = joined_depth(program, groups.back(), statement); depth > 0) {
        groups.back().depth = depth;
        groups.back().statements.push_back(i);
        continue;
      }
    }
    const auto oblique =
        std::ranges::find_if_not(statement.indices, [&](const Range& r) { return rectangular(program, r); });
    const int depth = fusable(program, statement) ? static_cast<int>(oblique - statement.indices.begin()) : 0;
    groups.push_back({depth, {i}});
  }
  return groups;
}

/// The only group that touches a tensor, or null.
const Group* sole_user(const Program& program, const std::vector<Group>& groups, TensorId tensor) {
  const Group* user = nullptr;
  for (const Group& group : groups) {
    const bool uses = std::ranges::any_of(group.statements, [&](std::size_t at) {
      const Statement& statement = program.statements[at];
      return statement.target == tensor || reading_depth(program, statement, tensor) < (1 << 20);
    });
    if (!uses) continue;
    if (user != nullptr) return nullptr;
    user = &group;
  }
  return user;
}

}  // namespace

int scattered_accesses(const Program& program, const Statement& statement, IndexId index) {
  int scattered = 0;
  visit(program, statement.value, [&](ExprId e) {
    const Expr& expr = program.expr(e);
    if (expr.kind != ExprKind::access) return;
    for (std::size_t axis = 0; axis < expr.args.size(); ++axis) {
      if (!mentions(program, expr.args[axis], index)) continue;
      const Expr& subscript = program.expr(expr.args[axis]);
      const bool shifted =
          subscript.kind == ExprKind::binary && (subscript.op == Op::add || subscript.op == Op::sub);
      const bool neighbour = axis + 1 == expr.args.size() && (subscript.kind == ExprKind::index || shifted);
      scattered += neighbour ? 0 : 1;
    }
  });
  return scattered;
}

namespace {

/// Whether lanes do better along the last axis of what a statement writes than along its reduction.
bool prefers_last_axis(const Program& program, const Statement& statement) {
  const int along_axis = scattered_accesses(program, statement, statement.indices.back().index);
  const Expr& value = program.expr(statement.value);
  if (value.kind != ExprKind::reduce) return along_axis == 0;
  return along_axis <= scattered_accesses(program, statement, value.bounds.back().index);
}

void assign_storage(const Program& program, Layout& layout);

}  // namespace

void leave_last_axis_to_lanes(const Program& program, Layout& layout) {
  for (Group& group : layout.groups) {
    if (group.depth == 0) continue;
    const bool all = std::ranges::all_of(group.statements, [&](std::size_t at) {
      const Statement& statement = program.statements[at];
      return rank(statement) == group.depth && prefers_last_axis(program, statement);
    });
    if (all) --group.depth;
  }
  assign_storage(program, layout);
}

Layout fuse(const Program& program) {
  Layout layout;
  layout.groups = group_statements(program);
  assign_storage(program, layout);
  return layout;
}

namespace {

void assign_storage(const Program& program, Layout& layout) {
  layout.storage.assign(program.tensors.size(), {});
  for (std::size_t id = 0; id < program.tensors.size(); ++id) {
    const Tensor& tensor = program.tensors[id];
    if (tensor.role != TensorRole::temporary) continue;
    const Group* group = sole_user(program, layout.groups, static_cast<TensorId>(id));
    const int depth =
        group == nullptr ? 0 : std::min<int>(group->depth, static_cast<int>(tensor.shape.size()));
    const bool shared = group != nullptr && group->statements.size() > 1 && depth == group->depth;
    Storage& storage = layout.storage[id];
    if (!shared) {
      storage = {Home::workspace, 0};
    } else {
      storage = {depth == static_cast<int>(tensor.shape.size()) ? Home::local : Home::row, depth};
    }
  }
}

}  // namespace

}  // namespace ako::synth
