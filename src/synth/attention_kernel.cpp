// SPDX-License-Identifier: Apache-2.0
// Writing attention: keys and values of one head are packed into panels, then every tile of queries sweeps
// over the blocks of keys that it sees.
#include <algorithm>

#include "synth/attention.h"
#include "synth/kernel_writer.h"
#include "synth/register_tile.h"

namespace ako::synth {

namespace {

class Emitter {
 public:
  Emitter(const Attention& attention, Program& program, Printer& printer, Code& functions,
          std::vector<Workspace>& workspace)
      : attention_(attention),
        program_(program),
        printer_(printer),
        choices_(printer.choices()),
        code_(printer.code()),
        functions_(functions),
        workspace_(workspace),
        lanes_(choices_.lanes),
        mr_(choices_.tile_m),
        nr_(choices_.tile_n * choices_.lanes),
        block_q_(std::max<std::int64_t>(1, choices_.block_q / mr_) * mr_),
        block_keys_(std::max<std::int64_t>(1, choices_.block_keys / nr_) * nr_) {}

  void emit() {
    for (const char* support :
         {"larger", "smaller", "v_exp", "v_max", "v_sum", "v_index", "v_load", "v_store"})
      printer_.need(support);
    tiles();
    code_.comment(to_text(program_, sum()));
    code_.comment(
        fmt::format("in one sweep over the keys: tiles of {} queries, blocks of {} keys; sums so far are "
                    "rescaled when a larger score turns up.",
                    block_q_, block_keys_));
    sizes();
    if (by_batch()) {
      each_batch([&] { one_batch(false); });
    } else {
      if (threaded())
        code_.directive(fmt::format("#pragma omp parallel num_threads({}) {}", choices_.threads, enough()));
      code_.open_block();
      each_batch([&] { one_batch(threaded()); });
      code_.close();
    }
  }

 private:
  const Statement& sum() const { return program_.statements[attention_.statement]; }
  bool threaded() const { return choices_.threads > 1; }
  bool by_batch() const { return threaded() && choices_.split_batch && !attention_.batch.empty(); }
  const std::string& real() const { return printer_.real(); }
  std::string text(ExprId id) { return printer_.scalar(id, 81); }

  std::string product(const std::vector<ExprId>& factors) {
    std::string result;
    for (const ExprId factor : factors)
      result += (result.empty() ? "" : " * ") + printer_.lanes_or_one(factor, 81);
    return result;
  }

  void tiles() {
    scores_tile_ = printer_.take("scores_tile"), values_tile_ = printer_.take("values_tile");
    functions_.line("");
    functions_.comment(
        fmt::format("Scores of {} queries and {} keys, both panels, along the size of a head.", mr_, nr_));
    emit_register_tile({scores_tile_, real(), real(), mr_, choices_.tile_n, Products::reals, 0,
                        static_cast<int>(block_keys_)},
                       printer_, functions_);
    functions_.line("");
    functions_.comment(fmt::format(
        "Adds {} columns of the values, weighted, to the rescaled sums of {} queries.", nr_, mr_));
    emit_register_tile({values_tile_, real(), real(), mr_, choices_.tile_n, Products::reals,
                        static_cast<int>(block_keys_), nr_, true},
                       printer_, functions_);
  }

  std::string buffer(const char* name, std::string elements) {
    const std::string taken = printer_.take(name);
    workspace_.push_back({taken, ScalarType::f32, std::move(elements)});
    return taken;
  }

  void sizes() {
    code_.line("const int64_t queries = {}, depth = {}, columns = {}, keys = {};",
               text(attention_.query.upper), text(attention_.depth.upper), text(attention_.column.upper),
               text(attention_.most_keys));
    code_.line(
        "const int64_t padded_keys = (keys + {0}) / {1} * {1}, padded_columns = (columns + {0}) / {1} * {1};",
        nr_ - 1, nr_);
    const auto padded = [&](ExprId extent) {
      return fmt::format("(({} + {}) / {} * {})", plan_text(program_, extent), nr_ - 1, nr_, nr_);
    };
    const int copies = by_batch() ? choices_.threads : 1;
    const std::string depth = plan_text(program_, attention_.depth.upper);
    const std::string columns = padded(attention_.column.upper);
    all_keys_ = buffer("all_keys", fmt::format("{} * {} * {}", copies, padded(attention_.most_keys), depth));
    all_values_ =
        buffer("all_values", fmt::format("{} * {} * {}", copies, padded(attention_.most_keys), columns));
    all_queries_ = buffer("all_queries", fmt::format("{} * {} * {}", choices_.threads, block_q_, depth));
    all_sums_ = buffer("all_sums", fmt::format("{} * {} * {}", choices_.threads, block_q_, columns));
  }

  std::string enough() {
    std::string work;
    for (const Range& range : attention_.batch) work += text(range.upper) + " * ";
    return fmt::format("if ({}queries * keys * depth > 65536)", work);
  }

  template <class Body>
  void each_batch(const Body& body) {
    if (by_batch()) {
      code_.directive(
          fmt::format("#pragma omp parallel for num_threads({}) schedule(dynamic) collapse({}) {}",
                      choices_.threads, attention_.batch.size(), enough()));
    }
    for (const Range& range : attention_.batch) printer_.open_loop(range);
    body();
    for (auto range = attention_.batch.rbegin(); range != attention_.batch.rend(); ++range)
      printer_.close_loop(*range);
  }

  std::string own(const std::string& name, const std::string& size, bool shared) {
    if (!threaded() || shared) return name;
    printer_.need("ako_thread");
    return fmt::format("{} + omp_get_thread_num() * {}", name, size);
  }

  void one_batch(bool share_queries) {
    code_.line("{}* const key_panels = {};", real(), own(all_keys_, "padded_keys * depth", !by_batch()));
    code_.line("{}* const value_panels = {};", real(),
               own(all_values_, "padded_keys * padded_columns", !by_batch()));
    code_.line("{}* const query_panels = {};", real(),
               own(all_queries_, fmt::format("{} * depth", block_q_), false));
    code_.line("{}* const sums = {};", real(),
               own(all_sums_, fmt::format("{} * padded_columns", block_q_), false));
    visible();
    pack_keys();
    if (share_queries) code_.directive("#pragma omp for schedule(static)");
    code_.line("for (int64_t panel = first_panel; panel < last_panel; ++panel) pack(panel * {});", nr_);
    attend();
    code_.comment("The last queries may see the most keys: they go first.");
    if (share_queries) code_.directive("#pragma omp for schedule(dynamic)");
    code_.line("for (int64_t tile = (queries + {0}) / {1}; tile > 0; --tile) attend((tile - 1) * {1});",
               block_q_ - 1, block_q_);
  }

  /// A lambda that says which keys a query sees, and the panels that hold all keys that any of them does.
  void visible() {
    code_.comment("Keys that a query sees: lower <= key < upper.");
    code_.open("const auto visible = [&]([[maybe_unused]] int64_t q, int64_t& lower, int64_t& upper)");
    printer_.bind_as(attention_.query, "q");
    code_.line("lower = 0, upper = keys;");
    for (const ExprId bound : attention_.visible.lower)
      code_.line("lower = larger<int64_t>(lower, {});", printer_.scalar(bound));
    for (const ExprId bound : attention_.visible.upper)
      code_.line("upper = smaller<int64_t>(upper, {});", printer_.scalar(bound));
    code_.line("upper = larger(lower, upper);");
    code_.close("};");
    code_.line("int64_t seen_from = keys, seen_to = 0;");
    code_.open("for (int64_t q = 0; q < queries; ++q)");
    code_.line("int64_t lower, upper;");
    code_.line("visible(q, lower, upper);");
    code_.line("seen_from = smaller(seen_from, lower), seen_to = larger(seen_to, upper);");
    code_.close();
    code_.line("const int64_t first_panel = seen_from / {0}, last_panel = (seen_to + {1}) / {0};", nr_,
               nr_ - 1);
  }

  bool columns_by_lanes() const {
    return std::ranges::all_of(attention_.value_factors, [&](ExprId factor) {
      const Expr& expr = program_.expr(factor);
      return !mentions(program_, factor, attention_.column.index) ||
             (expr.kind == ExprKind::access && !expr.fallback &&
              printer_.unit_stride(expr, attention_.column.index));
    });
  }

  void pack_keys() {
    code_.comment(
        fmt::format("A panel of {0} keys, {0} of them for each step of the depth, and of their values, "
                    "{0} columns at a time; zeros beyond the keys that are seen.",
                    nr_));
    code_.open("const auto pack = [&](int64_t panel)");
    code_.open("for (int64_t k = panel; k < panel + {}; ++k)", nr_);
    code_.line("{}* const key = key_panels + panel * depth + (k - panel);", real());
    code_.line("{}* const value = value_panels + k * {};", real(), nr_);
    code_.open("if (k < seen_from || k >= seen_to)");
    code_.line("for (int64_t d = 0; d < depth; ++d) key[d * {}] = 0;", nr_);
    code_.line(
        "for (int64_t c = 0; c < padded_columns; ++c) value[c / {0} * padded_keys * {0} + c % {0}] = 0;",
        nr_);
    code_.line("continue;");
    code_.close();
    printer_.bind_as(attention_.key, "k");
    printer_.bind_as(attention_.depth, "d");
    code_.line("for (int64_t d = 0; d < depth; ++d) key[d * {}] = {};", nr_, product(attention_.key_factors));
    pack_value();
    code_.close();
    code_.close("};");
  }

  void pack_value() {
    printer_.bind_as(attention_.column, "c");
    const std::string place = fmt::format("value + c / {0} * padded_keys * {0} + c % {0}", nr_);
    if (columns_by_lanes()) {
      printer_.vectorize(attention_.column.index);
      code_.open("const auto step = [&](int64_t c, auto span) __attribute__((always_inline))");
      code_.line("v_store({}, {}, whole{{}});", place, product(attention_.value_factors));
      code_.close("};");
      printer_.vectorize(-1);
      code_.line("int64_t c = 0;");
      code_.line("for (; c + {0} <= columns; c += {0}) step(c, whole{{}});", lanes_);
      code_.line("if (c < columns) step(c, part{{int(columns - c)}}), c += {};", lanes_);
      code_.line("for (; c < padded_columns; c += {}) v_store({}, vec{{}}, whole{{}});", lanes_, place);
    } else {
      code_.line("for (int64_t c = 0; c < columns; ++c) *({}) = {};", place,
                 product(attention_.value_factors));
      code_.line("for (int64_t c = columns; c < padded_columns; ++c) *({}) = 0;", place);
    }
  }

  void attend() {
    const std::int64_t padded = block_q_ + lanes_;
    code_.comment(fmt::format("{} queries from q0 over all the keys that they see.", block_q_));
    code_.open("const auto attend = [&](int64_t q0)");
    code_.line("const int64_t qs = smaller<int64_t>({}, queries - q0);", block_q_);
    code_.line("alignas(64) {} scores[{}], largest[{}], total[{}];", real(), mr_ * block_keys_, padded,
               padded);
    code_.line("int64_t lower[{0}], upper[{0}], from = keys, to = 0;", block_q_);
    code_.open("for (int64_t i = 0; i < {}; ++i)", padded);
    code_.line("largest[i] = -{}(__builtin_inff()), total[i] = 0;", real());
    code_.line("if (i >= qs) continue;");
    code_.line("visible(q0 + i, lower[i], upper[i]);");
    code_.line("from = smaller(from, lower[i]), to = larger(to, upper[i]);");
    code_.close();
    code_.line("for (int64_t i = 0; i < {} * padded_columns; ++i) sums[i] = 0;", block_q_);
    pack_queries();
    code_.open("for (int64_t k0 = from / {0} * {0}; k0 < to; k0 += {0})", block_keys_);
    code_.open("for (int64_t i0 = 0; i0 < qs; i0 += {})", mr_);
    block();
    code_.close();
    code_.close();
    finish();
    code_.close("};");
  }

  void pack_queries() {
    code_.open("for (int64_t i = 0; i < (qs + {}) / {} * {}; ++i)", mr_ - 1, mr_, mr_);
    code_.line("{0}* const to_row = query_panels + i / {1} * {1} * depth + i % {1};", real(), mr_);
    code_.line("[[maybe_unused]] const int64_t q = q0 + i;");
    printer_.bind_as(attention_.query, "q");
    printer_.bind_as(attention_.depth, "d");
    code_.line("for (int64_t d = 0; d < depth; ++d) to_row[d * {}] = i < qs ? {} : 0;", mr_,
               product(attention_.query_factors));
    code_.close();
  }

  /// One panel of queries and one block of keys.
  void block() {
    code_.comment("The panels of keys that some query of this panel sees.");
    code_.line("const int64_t end = smaller<int64_t>(i0 + {}, qs);", mr_);
    code_.line("int64_t first = {}, last = 0;", block_keys_);
    code_.line(
        "for (int64_t i = i0; i < end; ++i) first = smaller(first, lower[i] - k0), last = larger(last, "
        "upper[i] - k0);");
    code_.line("first = larger<int64_t>(first, 0) / {0} * {0};", nr_);
    code_.line("last = smaller<int64_t>((last + {1}) / {0} * {0}, {2});", nr_, nr_ - 1, block_keys_);
    code_.line("if (first >= last) continue;");
    code_.open("for (int64_t j = first; j < last; j += {})", nr_);
    code_.line("{}(depth, query_panels + i0 * depth, key_panels + (k0 + j) * depth, scores + j);",
               scores_tile_);
    code_.close();
    const int padded = (mr_ + lanes_ - 1) / lanes_ * lanes_;
    code_.line("alignas(64) {0} scale[{1}] = {{}}, added[{1}] = {{}};", real(), padded);
    code_.open("for (int64_t i = i0; i < end; ++i)");
    weights_of_row();
    code_.close();
    code_.open("for (int64_t i = 0; i < {}; i += {})", padded, lanes_);
    code_.line("const vec factor = v_exp(v_load(scale + i, whole{}));");
    code_.line("v_store(scale + i, factor, whole{});");
    code_.line(
        "v_store(total + i0 + i, v_load(total + i0 + i, whole{}) * factor + v_load(added + i, whole{}), "
        "whole{});");
    code_.close();
    code_.open("for (int64_t c = 0; c < columns; c += {})", nr_);
    code_.line(
        "{}(last - first, scores + first, value_panels + c * padded_keys + (k0 + first) * {}, sums + i0 * "
        "padded_columns + c * {}, scale);",
        values_tile_, nr_, mr_);
    code_.close();
  }

  void weights_of_row() {
    const std::string infinite = fmt::format("-{}(__builtin_inff())", real());
    code_.line("{}* const row = scores + (i - i0) * {};", real(), block_keys_);
    code_.line("[[maybe_unused]] const int64_t q = q0 + i;");
    printer_.bind_as(attention_.query, "q");
    printer_.bind_as(attention_.key, "k");
    printer_.vectorize(attention_.key.index);
    code_.open(
        "const auto score = [&](int64_t k, [[maybe_unused]] auto span) __attribute__((always_inline))");
    code_.line("const vec product = v_load(row + (k - k0), whole{});");
    printer_.set_register(attention_.scores, "product");
    code_.line("return vec({});", printer_.vector(attention_.score));
    code_.close("};");
    code_.line("vec top = {} - vec{{}};", infinite);
    code_.open("for (int64_t j = first; j < last; j += {})", lanes_);
    code_.line("const int64_t k = k0 + j;");
    code_.line("vec s;");
    code_.open("if (lower[i] <= k && k + {} <= upper[i])", lanes_);
    code_.line("s = score(k, whole{});");
    code_.close("} else {");
    code_.indent();
    code_.line("const int seen = int(smaller<int64_t>(larger<int64_t>(upper[i] - k, 0), {}));", lanes_);
    code_.line("const int unseen = int(smaller<int64_t>(larger<int64_t>(lower[i] - k, 0), {}));", lanes_);
    code_.line("s = score(k, part{seen});");
    code_.line("s = (v_index(0) >= unseen) & (v_index(0) < seen) ? s : {} - vec{{}};", infinite);
    code_.close();
    code_.line("v_store(row + j, s, whole{});");
    code_.line("top = larger(top, s);");
    code_.close();
    code_.line("const {} before = largest[i];", real());
    code_.line("largest[i] = larger(before, v_max(top));");
    code_.comment("Where all scores are -inf so far, there is nothing to subtract.");
    code_.line("const {0} shift = largest[i] == {1} ? 0 : largest[i];", real(), infinite);
    code_.line("vec sum = {};");
    code_.open("for (int64_t j = first; j < last; j += {})", lanes_);
    code_.line("const vec s = v_load(row + j, whole{});");
    printer_.set_register(attention_.scores, "s");
    printer_.set_register(attention_.largest, "shift");
    code_.line("const vec weight = {};", printer_.vector(attention_.weight));
    code_.line("v_store(row + j, weight, whole{});");
    code_.line("sum += weight;");
    code_.close();
    code_.line("scale[i - i0] = before - shift;");
    code_.line("added[i - i0] = v_sum(sum);");
    printer_.vectorize(-1);
    printer_.clear_registers();
  }

  /// Indices of another statement of the group take the places of the sum's.
  void bind_statement(const Statement& statement) {
    for (std::size_t i = 0; i < statement.indices.size(); ++i)
      printer_.bind_as(statement.indices[i], printer_.index_text(sum().indices[i].index));
  }

  void store(const Statement& statement, const std::string& value, bool lanes) {
    const Home home = printer_.storage(statement.target).home;
    if (home == Home::row || home == Home::local) return;
    printer_.store(statement.target, statement.subscripts, value, lanes);
  }

  void finish() {
    code_.open("for (int64_t i = 0; i < qs; ++i)");
    code_.line("[[maybe_unused]] const int64_t q = q0 + i;");
    printer_.bind_as(attention_.query, "q");
    finish_row();
    code_.line("const {0}* const sums_row = sums + i / {1} * {1} * padded_columns + i % {1} * {2};", real(),
               mr_, nr_);
    const std::string load = fmt::format("sums_row + c / {0} * {1} + c % {0}", nr_, mr_ * nr_);
    printer_.bind_as(attention_.column, "c");
    if (finish_by_lanes()) {
      code_.open("const auto step = [&](int64_t c, auto span) __attribute__((always_inline))");
      finish_element(fmt::format("v_load({}, whole{{}})", load), true);
      code_.close("};");
      code_.line("int64_t c = 0;");
      code_.line("for (; c + {0} <= columns; c += {0}) step(c, whole{{}});", lanes_);
      code_.line("if (c < columns) step(c, part{int(columns - c)});");
    } else {
      code_.open("for (int64_t c = 0; c < columns; ++c)");
      finish_element(fmt::format("*({})", load), false);
      code_.close();
    }
    code_.close();
    printer_.clear_registers();
  }

  void finish_row() {
    const auto row_value = [&](TensorId id, const char* array) {
      const std::string name = printer_.take(printer_.tensor_name(id) + "_now");
      code_.line("[[maybe_unused]] const {} {} = {}[i];", real(), name, array);
      printer_.set_register(id, name);
      for (const Statement& statement : program_.statements) {
        if (statement.target != id) continue;
        bind_statement(statement);
        store(statement, name, false);
      }
    };
    row_value(attention_.largest, "largest");
    if (attention_.total >= 0) row_value(attention_.total, "total");
    for (const std::size_t at : attention_.finish_row) {
      const Statement& statement = program_.statements[at];
      bind_statement(statement);
      const std::string name = printer_.take(printer_.tensor_name(statement.target) + "_now");
      code_.comment(to_text(program_, statement));
      code_.line("const auto {} = {};", name, printer_.element(statement));
      printer_.set_register(statement.target, name);
      store(statement, name, false);
    }
  }

  bool finish_by_lanes() const {
    const auto fits = [&](std::size_t at) {
      const Home home = printer_.storage(program_.statements[at].target).home;
      return home == Home::row || home == Home::local ||
             printer_.vector_storage(program_.statements[at].target);
    };
    return fits(attention_.statement) && std::ranges::all_of(attention_.finish, fits);
  }

  void finish_element(const std::string& value, bool lanes) {
    const char* type = lanes ? "vec" : "auto";
    const std::string name = printer_.take(printer_.tensor_name(sum().target) + "_now");
    const std::string* total = attention_.divided ? printer_.find_register(attention_.total) : nullptr;
    code_.line("const {} {} = {}{};", type, name, value, total == nullptr ? "" : " / " + *total);
    printer_.set_register(sum().target, name);
    if (lanes) printer_.vectorize(attention_.column.index);
    store(sum(), name, lanes);
    for (const std::size_t at : attention_.finish) {
      const Statement& statement = program_.statements[at];
      bind_statement(statement);
      if (lanes) printer_.vectorize(statement.indices.back().index);
      code_.comment(to_text(program_, statement));
      const std::string finished = printer_.take(printer_.tensor_name(statement.target) + "_now");
      code_.line("const {} {} = {};", type, finished,
                 lanes ? printer_.vector(statement.value) : printer_.element(statement));
      printer_.set_register(statement.target, finished);
      store(statement, finished, lanes);
    }
    printer_.vectorize(-1);
  }

  const Attention& attention_;
  Program& program_;
  Printer& printer_;
  const Choices& choices_;
  Code& code_;
  Code& functions_;
  std::vector<Workspace>& workspace_;
  int lanes_, mr_, nr_;
  std::int64_t block_q_, block_keys_;
  std::string scores_tile_, values_tile_, all_keys_, all_values_, all_queries_, all_sums_;
};

}  // namespace

void emit_attention(const Attention& attention, Program& program, Printer& printer, Code& functions,
                    std::vector<Workspace>& workspace) {
  Emitter(attention, program, printer, functions, workspace).emit();
}

}  // namespace ako::synth
