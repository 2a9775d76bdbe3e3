// SPDX-License-Identifier: Apache-2.0
#include "synth/gpu/nest.h"

#include <algorithm>

namespace ako::synth::gpu {

namespace {

/// Which loops of a statement are spread over threads, and which run inside one, in order.
struct Spread {
  std::vector<Range> threads, inside;
};

bool is_scan(const Program& program, const Statement& statement) {
  const Expr& value = program.expr(statement.value);
  return statement.kind == StatementKind::define && value.kind == ExprKind::reduce && value.scan &&
         value.bounds.size() == 1 && value.reduce != ReduceOp::argmax && value.reduce != ReduceOp::argmin;
}

/// The index whose successive values a scan or a recurrence goes through.
IndexId moving_index(const Program& program, const Statement& statement) {
  if (statement.kind == StatementKind::recurrence)
    return bare_index(program, statement.subscripts[static_cast<std::size_t>(statement.axis)]);
  const Expr& value = program.expr(statement.value);
  for (const Range& range : statement.indices)
    if (mentions(program, value.bounds[0].upper, range.index)) return range.index;
  return -1;
}

bool reads_itself(const Program& program, const Statement& statement) {
  bool found = false;
  visit(program, statement, [&](ExprId e) {
    found = found || (program.expr(e).kind == ExprKind::access && program.expr(e).ref == statement.target);
  });
  return found;
}

Spread spread(const Program& program, const Statement& statement, bool any_order) {
  Spread result;
  const bool updates = statement.kind == StatementKind::accumulate;
  const bool scans = is_scan(program, statement);
  const IndexId moving =
      scans || statement.kind == StatementKind::recurrence ? moving_index(program, statement) : -1;
  const bool alone = updates && reads_itself(program, statement);
  for (const Range& range : statement.indices) {
    bool free = rectangular(program, range) && range.index != moving && !alone;
    // Two values of an index that is a subscript by itself never update the same element.
    if (free && updates && !any_order) {
      free = std::ranges::any_of(statement.subscripts,
                                 [&](ExprId e) { return is_index(program, e, range.index); });
    }
    (free ? result.threads : result.inside).push_back(range);
  }
  return result;
}

/// Elements of packed types that share whole bytes: one thread writes them all.
int elements_per_thread(ScalarType type) { return storage_bits(type) == 6 ? 4 : 2; }

class Nest {
 public:
  Nest(Unit& unit, const Statement& statement, const NestChoices& choices)
      : unit_(unit),
        e_(unit.expressions()),
        program_(unit.program()),
        statement_(statement),
        choices_(choices) {}

  void write(bool first) {
    const Tensor& target = program_.tensor(statement_.target);
    if (statement_.kind == StatementKind::initial) return initial();
    if (target.role == TensorRole::temporary) unit_.workspace_for(statement_.target);
    const Place stored = e_.place(statement_.target);
    const bool result = e_.numbers().reference && target.role != TensorRole::temporary;
    const bool updates = statement_.kind == StatementKind::accumulate;
    const bool apart = updates && !e_.numbers().reference && sums_apart(target);
    if (result) result_elsewhere(updates);
    if (apart) {
      const ScalarType type = e_.numbers().wide ? ScalarType::f64 : ScalarType::f32;
      const std::string sums =
          unit_.workspace(e_.tensor(statement_.target) + "_sums", type, unit_.elements(statement_.target));
      e_.place(statement_.target) = {Place::Form::exact, sums, {}, -1};
    }
    const bool has_value = !first || target.role == TensorRole::inout;
    const bool fresh = apart || (result && stored.form != Place::Form::real);
    if (updates && (fresh || !has_value)) start_from(has_value ? &stored : nullptr);
    main_kernel();
    if (apart) copy(std::exchange(e_.place(statement_.target), stored), stored);
    if (switched_) e_.place(statement_.target) = *switched_;
  }

 private:
  bool sums_apart(const Tensor& target) const {
    return !target.exact && target.number == NumberClass::real && target.type != ScalarType::f32 &&
           target.type != ScalarType::f64;
  }

  /// The reference reads an inout's initial values until the statement that assigns it ends.
  void result_elsewhere(bool updates) {
    const Place inputs = e_.place(statement_.target);
    unit_.expect(statement_.target);
    const Place results = e_.place(statement_.target);
    if (inputs.form != Place::Form::real && program_.tensor(statement_.target).role == TensorRole::inout &&
        !updates) {
      target_place_ = results;
      e_.place(statement_.target) = inputs;
      switched_ = results;
    }
  }

  void open_threads(Kernel& kernel, const std::vector<Range>& ranges, int each) {
    Code& code = kernel.body;
    const std::string total = unit_.extents(ranges);
    const std::string threads = std::to_string(choices_.threads);
    kernel.threads = choices_.threads;
    kernel.block[0] = threads;
    kernel.grid[0] = each == 1 ? fmt::format("ceil_div({}, {})", total, threads)
                               : fmt::format("ceil_div({}, {})", total, choices_.threads * each);
    if (ranges.empty()) {
      kernel.grid[0] = "1";
      code.line("if (ako::global_x() != 0) return;");
      return;
    }
    code.line("const index_t thread = (index_t)ako::global_x();");
    std::string all;
    for (const Range& range : ranges) all += (all.empty() ? "" : " * ") + extent_text(range, 81);
    if (each > 1) {
      code.open(
          "for (index_t element = thread * {0}; element < thread * {0} + {0} && element < {1}; ++element)",
          each, all);
    } else {
      code.line("if (thread >= {}) return;", all);
    }
    std::string rest = each > 1 ? "element" : "thread";
    for (std::size_t i = ranges.size(); i-- > 0;) {
      const std::string name = e_.bind(ranges[i].index);
      const std::string lower =
          is_literal(program_, ranges[i].lower, 0) ? "" : e_.position(ranges[i].lower) + " + ";
      if (i == 0) {
        code.line("const index_t {} = {}{};", name, lower, rest);
      } else {
        const std::string extent = extent_text(ranges[i], 81);
        code.line("const index_t {} = {}{} % {};", name, lower, rest, extent);
        const std::string next = e_.take("rest");
        code.line("const index_t {} = {} / {};", next, rest, extent);
        rest = next;
        rests_.push_back(next);
      }
    }
  }

  void close_threads(Kernel& kernel, const std::vector<Range>& ranges, int each) {
    for (const Range& range : ranges) e_.release(range.index);
    for (const std::string& name : rests_) e_.give_back(name);
    rests_.clear();
    if (each > 1 && !ranges.empty()) kernel.body.close();
  }

  std::string extent_text(const Range& range, int precedence) {
    const std::string upper =
        e_.position(range.upper, is_literal(program_, range.lower, 0) ? precedence : 71);
    if (is_literal(program_, range.lower, 0)) return upper;
    return fmt::format("({} - {})", upper, e_.position(range.lower, 71));
  }

  void main_kernel() {
    const Tensor& target = program_.tensor(statement_.target);
    const bool atomic = choices_.atomic_updates && statement_.kind == StatementKind::accumulate &&
                        statement_.accumulate == ReduceOp::sum && !reads_itself(program_, statement_) &&
                        e_.storage_type(statement_.target) == "float";
    const Spread loops = spread(program_, statement_, atomic);
    const bool packed = e_.place(statement_.target).form == Place::Form::stored && is_packed(target.type);
    Spread used = loops;
    int each = packed ? elements_per_thread(target.type) : 1;
    if (packed && !writes_in_order()) {
      used.inside = statement_.indices;
      used.threads.clear();
      each = 1;
    }
    Kernel kernel = unit_.begin("compute_" + target.name, to_text(program_, statement_));
    e_.write_to(kernel.body);
    open_threads(kernel, used.threads, each);
    if (is_scan(program_, statement_)) {
      scan(used);
    } else {
      for (const Range& range : used.inside) kernel.body.open("{}", e_.open_loop(range));
      if (statement_.kind == StatementKind::recurrence) e_.recurrence = &statement_;
      const std::string value = e_.as(target.number, statement_.value);
      e_.recurrence = nullptr;
      assign(value, atomic);
      close_loops(kernel.body, used.inside);
    }
    close_threads(kernel, used.threads, each);
    unit_.end(std::move(kernel));
  }

  void close_loops(Code& code, const std::vector<Range>& ranges) {
    for (std::size_t i = ranges.size(); i-- > 0;) {
      code.close();
      e_.release(ranges[i].index);
    }
  }

  /// Every element is written once, in the order in which it lies in memory.
  bool writes_in_order() {
    if (statement_.kind != StatementKind::define || statement_.indices.size() != statement_.subscripts.size())
      return false;
    for (std::size_t i = 0; i < statement_.indices.size(); ++i) {
      if (!is_index(program_, statement_.subscripts[i], statement_.indices[i].index)) return false;
      if (!rectangular(program_, statement_.indices[i])) return false;
    }
    return true;
  }

  void assign(const std::string& value, bool atomic) {
    if (target_place_) std::swap(e_.place(statement_.target), *target_place_);
    const std::string offset = e_.offset(statement_.target, statement_.subscripts);
    Code& code = e_.code();
    if (statement_.kind != StatementKind::accumulate) {
      code.line(e_.store(statement_.target, offset, value));
    } else if (atomic) {
      code.line("ako::atomic_add(&{}[{}], {});", e_.place(statement_.target).pointer, offset, value);
    } else {
      const Tensor& target = program_.tensor(statement_.target);
      const std::string at = e_.take("at"), sum = e_.take("updated");
      code.line("const index_t {} = {};", at, offset);
      const bool real = e_.place(statement_.target).form == Place::Form::real;
      const std::string type = real ? "double" : e_.type(target.number);
      code.line("{} {} = {};", type, sum,
                real ? fmt::format("{}[{}]", e_.place(statement_.target).pointer, at)
                     : e_.load(statement_.target, at));
      code.line(e_.combined(statement_.accumulate, sum, real ? "(double)(" + value + ")" : value));
      code.line(e_.store(statement_.target, at, sum));
      e_.give_back(at);
      e_.give_back(sum);
    }
    if (target_place_) std::swap(e_.place(statement_.target), *target_place_);
  }

  /// The scanned terms are taken up one by one, as far as each element's bound reaches.
  void scan(const Spread& loops) {
    Code& code = e_.code();
    const Expr value = program_.expr(statement_.value);
    const std::string running = e_.take("running");
    code.line("{} {} = {};", e_.type(value.type), running, e_.identity(value.reduce, value.type));
    const std::string term = e_.bind(value.bounds[0].index);
    code.line("index_t {} = {};", term, e_.position(value.bounds[0].lower));
    for (const Range& range : loops.inside) code.open("{}", e_.open_loop(range));
    code.open("for (; {0} < {1}; ++{0})", term, e_.position(value.bounds[0].upper, 61));
    if (value.condition) code.open("if ({})", e_.as(NumberClass::boolean, *value.condition));
    code.line(e_.combined(value.reduce, running, e_.as(value.type, value.args[0], 80)));
    if (value.condition) code.close();
    code.close();
    assign(running, false);
    close_loops(code, loops.inside);
    e_.release(value.bounds[0].index);
    e_.give_back(running);
  }

  /// What a recurrence reads ahead of its first element.
  void initial() {
    const Tensor& target = program_.tensor(statement_.target);
    std::string elements = "1";
    for (std::size_t axis = 0; axis < target.shape.size(); ++axis)
      if (static_cast<int>(axis) != statement_.axis)
        elements += " * " + plan_expression(program_, target.shape[axis]);
    const Numbers& numbers = e_.numbers();
    const ScalarType type = target.number == NumberClass::real
                                ? (numbers.wide || numbers.reference ? ScalarType::f64 : ScalarType::f32)
                            : target.number == NumberClass::integer ? ScalarType::i64
                                                                    : ScalarType::boolean;
    const std::string pointer = unit_.workspace(target.name + "_before", type, elements);
    Kernel kernel = unit_.begin("begin_" + target.name, to_text(program_, statement_));
    e_.write_to(kernel.body);
    open_threads(kernel, statement_.indices, 1);
    std::string at;
    for (std::size_t axis = 0; axis < statement_.subscripts.size(); ++axis) {
      if (static_cast<int>(axis) == statement_.axis) continue;
      const std::string subscript = e_.position(statement_.subscripts[axis], 71);
      at = at.empty() ? subscript
                      : fmt::format("({}) * {} + {}", at, e_.position(target.shape[axis], 81), subscript);
    }
    kernel.body.line("{}[{}] = {};", pointer, at.empty() ? "0" : at, e_.as(target.number, statement_.value));
    close_threads(kernel, statement_.indices, 1);
    unit_.end(std::move(kernel));
    e_.place(statement_.target).before = pointer;
    e_.place(statement_.target).axis = statement_.axis;
  }

  /// Updates begin with what `from` holds, or with the identity.
  void start_from(const Place* from) {
    const Tensor& target = program_.tensor(statement_.target);
    Kernel kernel = unit_.begin("start_" + target.name, "What the updates start from.");
    e_.write_to(kernel.body);
    flat_threads(kernel);
    std::string value = e_.identity(statement_.accumulate, target.number);
    if (from != nullptr) {
      const Place here = std::exchange(e_.place(statement_.target), *from);
      value = e_.load(statement_.target, "thread");
      e_.place(statement_.target) = here;
    }
    kernel.body.line(e_.store(statement_.target, "thread", value));
    unit_.end(std::move(kernel));
  }

  void copy(const Place& from, const Place& to) {
    Kernel kernel =
        unit_.begin("finish_" + program_.tensor(statement_.target).name, "The sums, rounded once.");
    e_.write_to(kernel.body);
    flat_threads(kernel);
    e_.place(statement_.target) = from;
    const std::string value = e_.load(statement_.target, "thread");
    e_.place(statement_.target) = to;
    kernel.body.line(e_.store(statement_.target, "thread", value));
    unit_.end(std::move(kernel));
  }

  void flat_threads(Kernel& kernel) {
    const Tensor& target = program_.tensor(statement_.target);
    std::string all;
    for (const ExprId size : target.shape) all += (all.empty() ? "" : " * ") + e_.position(size, 81);
    kernel.threads = choices_.threads;
    kernel.block[0] = std::to_string(choices_.threads);
    kernel.grid[0] = fmt::format("ceil_div({}, {})", unit_.elements(statement_.target), choices_.threads);
    kernel.body.line("const index_t thread = (index_t)ako::global_x();");
    kernel.body.line("if (thread >= {}) return;", all.empty() ? "1" : all);
  }

  Unit& unit_;
  Expressions& e_;
  const Program& program_;
  const Statement statement_;
  NestChoices choices_;
  std::vector<std::string> rests_;
  std::optional<Place> target_place_, switched_;
};

}  // namespace

void write_nest(Unit& unit, const Statement& statement, const NestChoices& choices, bool first) {
  Nest(unit, statement, choices).write(first);
}

}  // namespace ako::synth::gpu
