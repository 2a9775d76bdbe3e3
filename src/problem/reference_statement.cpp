// SPDX-License-Identifier: Apache-2.0
// Loop nests of statements.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "problem/reference_lowering.h"

namespace ako {
namespace {

std::size_t place_of(const std::vector<Range>& ranges, IndexId index) {
  for (std::size_t i = 0; i < ranges.size(); ++i)
    if (ranges[i].index == index) return i;
  return ranges.size();
}

bool has_reduction(const Problem& problem, ExprId which, const std::map<ExprId, std::string>& replaced) {
  bool found = false;
  visit(problem, which, [&](ExprId id) {
    if (replaced.contains(id)) return false;
    found = found || problem.expr(id).kind == ExprKind::reduce;
    return !found;
  });
  return found;
}

}  // namespace

std::string ReferenceLowering::element_type(const Tensor& tensor) const {
  if (tensor.role == TensorRole::output || tensor.role == TensorRole::inout) return "double";
  return tensor.number == NumberClass::boolean ? "std::uint8_t" : reference_type(tensor.number);
}

void ReferenceLowering::allocate(const std::string& type, const std::string& name, const std::string& count) {
  out_.line(fmt::format("Array<{}> {};", type, name));
  out_.line(fmt::format("if (!{}.allocate({})) return 1;", name, count));
}

/// `target[subscripts] = value;`
std::string ReferenceLowering::store(const Statement& statement) {
  const Tensor& tensor = problem_.tensor(statement.target);
  std::vector<std::string> subscripts;
  for (ExprId subscript : statement.subscripts) subscripts.push_back(integer(subscript));
  const std::string place =
      fmt::format("{}[{}]", names_.tensor(statement.target), position(subscripts, extent_texts(tensor)));
  std::string value = as(tensor.number, statement.value);
  if (statement.kind == StatementKind::accumulate) {
    const NumberClass number = element_type(tensor) == "double" ? NumberClass::real : tensor.number;
    return combined(statement.accumulate, number, place, converted(tensor.number, number, value));
  }
  return fmt::format("{} = {};", place, value);
}

/// Makes room for the target, and gives it the values that updates start from.
void ReferenceLowering::prepare_target(const Statement& statement) {
  const Tensor& tensor = problem_.tensor(statement.target);
  const std::string& name = names_.tensor(statement.target);
  Residence& residence = residence_[static_cast<std::size_t>(statement.target)];
  if (residence == Residence::array) return;
  std::string count;
  for (const std::string& size : extent_texts(tensor)) count += (count.empty() ? "" : " * ") + size;
  if (count.empty()) count = "1";
  if (tensor.role == TensorRole::temporary) allocate(element_type(tensor), name, count);
  if (statement.kind != StatementKind::accumulate) return;
  const std::string i = names_.fresh("i");
  const std::string start = residence == Residence::storage
                                ? fmt::format("{}[{}]", names_.before(statement.target), i)
                                : reference_identity(statement.accumulate, tensor.number);
  out_.line("#pragma omp parallel for num_threads(threads)");
  out_.line(fmt::format("for (i64 {0} = 0; {0} < {1}; ++{0}) {2}[{0}] = {3};", i, count, name, start));
  residence = Residence::array;
}

/// Reductions that do not change along the innermost loops (or along the reductions around them): each is
/// computed once inside the loops that it depends on. They run ahead of whatever guards them, and so check
/// their reads.
std::vector<ReferenceLowering::Hoisted> ReferenceLowering::hoistable(const Statement& statement,
                                                                     const Ranges& loops) {
  std::vector<Hoisted> found;
  std::map<ExprId, bool> inside;  // below a reduction
  visit(problem_, statement.value, [&](ExprId which) {
    if (replaced_.contains(which)) return false;
    const Expr& expr = problem_.expr(which);
    if (expr.kind != ExprKind::reduce) return true;
    std::size_t level = 0;
    for (IndexId index : free_indices(problem_, which)) {
      const std::size_t place = place_of(loops, index);
      level = std::max(level, place == loops.size() ? loops.size() + 1 : place + 1);
    }
    const bool changes =
        statement.kind != StatementKind::define && reads_tensor(problem_, which, statement.target);
    const bool nested = inside[which];
    if (!changes && (level < loops.size() || (nested && level == loops.size())))
      found.push_back({which, level});
    visit(problem_, expr.args[0], [&](ExprId below) { return inside[below] = true; });
    return true;
  });
  std::ranges::reverse(found);  // those inside first, for the others to use
  return found;
}

void ReferenceLowering::emit_hoisted(const std::vector<Hoisted>& hoisted, std::size_t level,
                                     std::vector<ExprId>& replaced) {
  for (const Hoisted& one : hoisted) {
    if (one.level != level) continue;
    const bool before = std::exchange(guarded_, true);
    const std::string name = names_.fresh("reduced");
    const std::string value = expression(one.reduction);
    guarded_ = before;
    out_.line(
        fmt::format("const {} {} = {};", reference_type(problem_.expr(one.reduction).type), name, value));
    replaced_[one.reduction] = name;
    replaced.push_back(one.reduction);
  }
}

/// The loops of a statement around its assignment. The first `parallel` of them (0: none) are shared among
/// threads.
void ReferenceLowering::nest(const Statement& statement, const Ranges& loops, std::size_t parallel,
                             bool vectorizable) {
  const std::vector<Hoisted> hoisted = hoistable(statement, loops);
  std::vector<ExprId> replaced;
  for (const Hoisted& one : hoisted)
    if (one.level > 0) parallel = std::min(parallel, one.level);
  emit_hoisted(hoisted, 0, replaced);
  for (std::size_t level = 0; level < loops.size(); ++level) {
    const bool last = level + 1 == loops.size();
    const bool simd =
        last && vectorizable && !has_reduction(problem_, statement.value, replaced_) &&
        std::none_of(hoisted.begin(), hoisted.end(), [&](const Hoisted& one) { return one.level > level; });
    if (level == 0 && parallel > 0) {
      std::string pragma = fmt::format("#pragma omp parallel for{} num_threads(threads)",
                                       simd && parallel == loops.size() ? " simd" : "");
      if (parallel > 1) pragma += fmt::format(" collapse({})", parallel);
      out_.line(pragma + (simd && parallel == loops.size() ? "" : " schedule(guided)"));
    } else if (simd) {
      out_.line("#pragma omp simd");
    }
    out_.open(loop_header(loops[level]) + " {");
    emit_hoisted(hoisted, level + 1, replaced);
  }
  out_.line(store(statement));
  for (std::size_t i = 0; i < loops.size(); ++i) out_.close();
  for (ExprId which : replaced) replaced_.erase(which);
}

/// As many outer loops as are rectangular, the innermost left to the vector unit.
void ReferenceLowering::elementwise(const Statement& statement) {
  const Ranges& loops = statement.indices;
  std::size_t parallel = 0;
  while (parallel < loops.size() && (parallel == 0 || constant_bounds(loops[parallel]))) ++parallel;
  const bool vectorizable = !has_reduction(problem_, statement.value, replaced_);
  if (loops.size() > 1 && vectorizable) parallel = std::min(parallel, loops.size() - 1);
  nest(statement, loops, parallel, true);
}

/// The axis runs in order. The other indices keep to themselves (the language has no other recurrences) and
/// run in parallel outside of it, the last one inside for the sake of the caches.
void ReferenceLowering::recurrence(const Statement& statement) {
  const Expr& along = problem_.expr(statement.subscripts[static_cast<std::size_t>(statement.axis)]);
  Ranges order;
  Range moving;
  for (const Range& range : statement.indices)
    if (range.index == along.ref)
      moving = range;
    else
      order.push_back(range);
  const std::size_t others = order.size(), parallel = others > 1 ? others - 1 : others;
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(parallel), moving);
  nest(statement, order, parallel, false);
}

/// Updates of the same element must not meet: threads share out an index that is a subscript by itself, and
/// each walks all the other loops in order. The result does not depend on the number of threads.
void ReferenceLowering::accumulate(const Statement& statement) {
  const bool reads_itself = reads_tensor(problem_, statement.value, statement.target);
  std::size_t shared = statement.indices.size();
  for (ExprId subscript : statement.subscripts) {
    const Expr& expr = problem_.expr(subscript);
    if (expr.kind != ExprKind::index || reads_itself) continue;
    const std::size_t place = place_of(statement.indices, expr.ref);
    if (place < statement.indices.size() && constant_bounds(statement.indices[place])) shared = place;
  }
  if (shared == statement.indices.size()) return nest(statement, statement.indices, 0, false);
  const Range& range = statement.indices[shared];
  const std::string from = names_.fresh("from"), to = names_.fresh("to"), count = names_.fresh("count");
  out_.line("#pragma omp parallel num_threads(threads)");
  out_.open("{");
  out_.line(fmt::format("const i64 {} = {};", count, extent(range)));
  out_.line(fmt::format("const i64 {} = {} + {} * omp_get_thread_num() / omp_get_num_threads();", from,
                        integer(range.lower), count));
  out_.line(fmt::format("const i64 {} = {} + {} * (omp_get_thread_num() + 1) / omp_get_num_threads();", to,
                        integer(range.lower), count));
  share_ = Share{range.index, from, to};
  nest(statement, statement.indices, 0, false);
  share_.reset();
  out_.close();
}

void ReferenceLowering::initial(const Statement& statement) {
  const Tensor& tensor = problem_.tensor(statement.target);
  std::vector<std::string> subscripts, sizes;
  std::string count = "1";
  for (std::size_t axis = 0; axis < statement.subscripts.size(); ++axis) {
    if (static_cast<int>(axis) == statement.axis) continue;
    subscripts.push_back(integer(statement.subscripts[axis]));
    sizes.push_back(expression(tensor.shape[axis]));
    count += " * " + sizes.back();
  }
  const std::string& array = names_.before(statement.target);
  allocate(element_type(tensor), array, count);
  for (const Range& range : statement.indices) out_.open(loop_header(range) + " {");
  out_.line(
      fmt::format("{}[{}] = {};", array, position(subscripts, sizes), as(tensor.number, statement.value)));
  for (std::size_t i = 0; i < statement.indices.size(); ++i) out_.close();
  has_initial_[static_cast<std::size_t>(statement.target)] = true;
}

void ReferenceLowering::statement(std::size_t number) {
  const Statement& statement = problem_.statements[number];
  current_ = &statement;
  out_.line("");
  out_.line(fmt::format("// {}", indented_comment(to_text(problem_, statement))));
  if (statement.kind == StatementKind::initial) {
    initial(statement);
  } else {
    Residence& residence = residence_[static_cast<std::size_t>(statement.target)];
    prepare_target(statement);
    if (statement.kind == StatementKind::recurrence) residence = Residence::array;
    extract(statement);
    switch (statement.kind) {
      case StatementKind::recurrence:
        recurrence(statement);
        break;
      case StatementKind::accumulate:
        accumulate(statement);
        break;
      default:
        elementwise(statement);
        break;
    }
    residence = Residence::array;
  }
  for (const std::string& array : statement_arrays_) out_.line(array + ".free();");
  statement_arrays_.clear();
  replaced_.clear();
  release_after(number);
  current_ = nullptr;
}

/// Temporaries that no later statement reads or updates go.
void ReferenceLowering::release_after(std::size_t number) {
  for (std::size_t i = 0; i < problem_.tensors.size(); ++i) {
    const auto which = static_cast<TensorId>(i);
    const auto uses = [&](const Statement& statement) {
      if (statement.target == which || reads_tensor(problem_, statement.value, which)) return true;
      return std::any_of(statement.subscripts.begin(), statement.subscripts.end(),
                         [&](ExprId subscript) { return reads_tensor(problem_, subscript, which); });
    };
    const auto from = problem_.statements.begin() + static_cast<std::ptrdiff_t>(number);
    if (problem_.tensor(which).role != TensorRole::temporary || residence_[i] != Residence::array) continue;
    if (uses(*from) && std::none_of(from + 1, problem_.statements.end(), uses))
      out_.line(names_.tensor(which) + ".free();");
  }
}

}  // namespace ako
