// SPDX-License-Identifier: Apache-2.0
// Writing contractions: packing, the register tile, the blocked loops round it, and finishing.
#include <algorithm>

#include "synth/contraction.h"
#include "synth/kernel_writer.h"

namespace ako::synth {

namespace {

class Emitter {
 public:
  Emitter(const Contraction& contraction, Printer& printer, Code& functions,
          std::vector<Workspace>& workspace)
      : contraction_(contraction),
        printer_(printer),
        program_(printer.program()),
        choices_(printer.choices()),
        code_(printer.code()),
        functions_(functions),
        workspace_(workspace),
        pairs_(choices_.pairs && can_pair(program_, contraction)),
        mr_(choices_.tile_m),
        nr_(choices_.tile_n * choices_.lanes) {}

  void emit() {
    const Statement& statement = program_.statements[contraction_.statement];
    code_.comment(to_text(program_, statement));
    rows_ = printer_.take("rows");
    columns_ = printer_.take("columns");
    depth_ = printer_.take("depth");
    code_.line("const int64_t {} = {}, {} = {}, {} = {};", rows_, extent(contraction_.rows), columns_,
               extent(contraction_.columns), depth_, extent(contraction_.depth));
    tile_ = printer_.take("tile");
    register_tile();
    buffers();
    for (const Range& range : contraction_.batch) printer_.open_loop(range);
    pack_a();
    pack_b();
    finish();
    code_.open("if ({} * {} * {} < 2048)", rows_, columns_, depth_);
    tiny();
    code_.close("} else {");
    code_.indent();
    blocked_loops();
    code_.close();
    for (auto range = contraction_.batch.rbegin(); range != contraction_.batch.rend(); ++range)
      printer_.close_loop(*range);
  }

 private:
  std::string extent(const std::vector<Range>& ranges) {
    std::string text;
    for (const Range& range : ranges) text += (text.empty() ? "" : " * ") + printer_.scalar(range.upper, 81);
    return text;
  }
  std::string plan_extent(const std::vector<Range>& ranges) const {
    std::string text;
    for (const Range& range : ranges) text += (text.empty() ? "" : " * ") + plan_text(program_, range.upper);
    return "(" + text + ")";
  }
  std::string element() const { return pairs_ ? "uint16_t" : printer_.real(); }
  ScalarType element_type() const {
    return pairs_ ? ScalarType::bf16 : printer_.wide() ? ScalarType::f64 : ScalarType::f32;
  }
  bool threaded() const { return choices_.threads > 1; }

  /// Gives the indices of a flattened range their values.
  void unflatten(const std::vector<Range>& ranges, const std::string& flat) {
    if (ranges.size() == 1) return printer_.bind_as(ranges[0], flat);
    std::string rest = flat;
    for (std::size_t i = ranges.size(); i-- > 0;) {
      const std::string name =
          printer_.take(program_.indices[static_cast<std::size_t>(ranges[i].index)].name);
      const std::string size = printer_.scalar(ranges[i].upper, 81);
      code_.line("const int64_t {} = {}{};", name, rest, i == 0 ? "" : " % " + size);
      rest = fmt::format("{} / {}", rest, size);
      printer_.bind_as(ranges[i], name);
      scoped_.push_back(name);
    }
  }
  void end_scope() {
    for (const std::string& name : scoped_) printer_.give_back(name);
    scoped_.clear();
  }

  std::string product(const std::vector<ExprId>& factors) {
    std::string text;
    for (const ExprId factor : factors)
      text += (text.empty() ? "" : " * ") + printer_.lanes_or_one(factor, 81);
    return text.empty() ? (printer_.wide() ? "1.0" : "1.0f") : text;
  }
  std::string bits(const std::vector<ExprId>& factors) {
    const Expr& expr = program_.expr(factors[0]);
    return fmt::format("{}[{}]", printer_.tensor_name(expr.ref), printer_.offset(expr.ref, expr.args));
  }

  /// c = the product of a panel of A (mr rows, depth steps) and one of B (nr columns).
  void register_tile() {
    Code& f = functions_;
    const int vectors = choices_.tile_n, lanes = choices_.lanes;
    const auto c = [](int i, int j) { return fmt::format("c{}_{}", i, j); };
    printer_.need("v_load"), printer_.need("v_store");
    f.line("");
    f.comment(
        fmt::format("A tile of {} x {} sums in registers: for each step of the depth, {} vectors of B times "
                    "{} elements of A{}.",
                    mr_, nr_, vectors, mr_, pairs_ ? ", two steps at a time" : ""));
    f.open("inline void {0}(int64_t depth, const {1}* a, const {1}* b, {2}* c)", tile_, element(),
           printer_.real());
    for (int i = 0; i < mr_; ++i) {
      std::string names;
      for (int j = 0; j < vectors; ++j) names += (j == 0 ? "" : ", ") + c(i, j) + " = {}";
      f.line("vec {};", names);
    }
    const int step = pairs_ ? 2 : 1;
    f.open("for (int64_t k = 0; k < depth; k += {}, a += {}, b += {})", step, mr_ * step, nr_ * step);
    for (int j = 0; j < vectors; ++j) {
      if (pairs_)
        f.line("const ivec b{} = *reinterpret_cast<const ivec*>(b + {});", j, j * lanes * 2);
      else
        f.line("const vec b{} = *reinterpret_cast<const vec*>(b + {});", j, j * lanes);
    }
    for (int i = 0; i < mr_; ++i) {
      if (pairs_) f.line("const ivec a{} = ivec{{}} + *reinterpret_cast<const pair_at*>(a + {});", i, i * 2);
      for (int j = 0; j < vectors; ++j) {
        if (pairs_)
          f.line("{0} = v_dot_pairs({0}, a{1}, b{2});", c(i, j), i, j);
        else
          f.line("{} += a[{}] * b{};", c(i, j), i, j);
      }
    }
    f.close();
    for (int i = 0; i < mr_; ++i) {
      for (int j = 0; j < vectors; ++j)
        f.line("*reinterpret_cast<vec*>(c + {}) = {};", i * nr_ + j * lanes, c(i, j));
    }
    f.close();
    if (pairs_) printer_.need("v_dot_pairs");
  }

  /// Block sizes fitted to the problem, and the buffers.
  void buffers() {
    const int threads = choices_.threads;
    block_m_ = printer_.take("block_m"), block_n_ = printer_.take("block_n"),
    block_k_ = printer_.take("block_k");
    const std::int64_t whole_m = std::max<std::int64_t>(1, choices_.block_m / mr_) * mr_;
    const std::int64_t whole_n = std::max<std::int64_t>(1, choices_.block_n / nr_) * nr_;
    const bool by_columns = choices_.split_n && threaded();
    const auto fitted = [&](const std::string& name, std::int64_t most, const std::string& total, int parts,
                            int unit) {
      code_.line("const int64_t {0} = smaller<int64_t>({1}, (({2} + {3}) / {4} + {5}) / {6} * {6});", name,
                 most, total, parts - 1, parts, unit - 1, unit);
    };
    printer_.need("smaller");
    fitted(block_m_, whole_m, rows_, by_columns ? 1 : threads, mr_);
    fitted(block_n_, whole_n, columns_, by_columns ? threads : 1, nr_);
    fitted(block_k_, choices_.block_k, depth_, 1, 2);

    a_panel_ = printer_.take("a_panel"), b_panel_ = printer_.take("b_panel"), sums_ = printer_.take("sums");
    const std::int64_t a_size = whole_m * choices_.block_k, b_size = whole_n * choices_.block_k;
    add_buffer(a_panel_, element_type(), std::to_string(a_size * threads));
    add_buffer(b_panel_, element_type(), std::to_string(b_size * (by_columns ? threads : 1)));
    // Sums of a block of columns wait here for the rest of the depth.
    const ScalarType real = printer_.wide() ? ScalarType::f64 : ScalarType::f32;
    add_buffer(
        sums_, real,
        fmt::format("{} * {} * {}", plan_extent(contraction_.rows), whole_n, by_columns ? threads : 1));
    a_size_ = a_size, b_size_ = b_size, sums_stride_ = whole_n;
  }
  void add_buffer(std::string& name, ScalarType type, std::string elements) {
    const std::string buffer = printer_.take(name == sums_ ? "kept_sums" : name + "s");
    workspace_.push_back({buffer, type, std::move(elements)});
    buffers_.push_back(buffer);
  }

  void pack_a() {
    pack_a_ = printer_.take("pack_a");
    code_.comment(
        fmt::format("Rows m0 … m0 + ms, steps k0 … k0 + ks: panels of {} rows, step by step.", mr_));
    code_.open("const auto {} = [&]({}* to, int64_t m0, int64_t ms, int64_t k0, int64_t ks)", pack_a_,
               element());
    const std::string padded = pairs_ ? "(ks + 1) / 2 * 2" : "ks";
    code_.open("for (int64_t i = 0; i < (ms + {}) / {} * {}; ++i)", mr_ - 1, mr_, mr_);
    code_.line("{0}* const row = to + i / {1} * {1} * ({2}) + i % {1}{3};", element(), mr_, padded,
               pairs_ ? " * 2" : "");
    const std::string place =
        pairs_ ? fmt::format("k / 2 * {} + k % 2", 2 * mr_) : fmt::format("k * {}", mr_);
    code_.open("if (i >= ms)");
    code_.line("for (int64_t k = 0; k < {}; ++k) row[{}] = 0;", padded, place);
    code_.line("continue;");
    code_.close();
    code_.line("const int64_t m = m0 + i;");
    unflatten(contraction_.rows, "m");
    code_.open("for (int64_t k = 0; k < ks; ++k)");
    code_.line("const int64_t p = k0 + k;");
    unflatten(contraction_.depth, "p");
    code_.line("row[{}] = {};", place, pairs_ ? bits(contraction_.a) : product(contraction_.a));
    code_.close();
    if (pairs_) code_.line("if (ks % 2 != 0) row[{}] = 0;", fmt::format("ks / 2 * {} + 1", 2 * mr_));
    code_.close();
    code_.close("};");
    end_scope();
  }

  bool columns_by_lanes() const {
    if (pairs_ || contraction_.columns.size() != 1) return false;
    return std::ranges::all_of(contraction_.b, [&](ExprId factor) {
      const Expr& expr = program_.expr(factor);
      return expr.kind == ExprKind::access && !expr.fallback &&
             printer_.unit_stride(expr, contraction_.columns[0].index);
    });
  }

  void pack_b() {
    pack_b_ = printer_.take("pack_b");
    const std::string padded = pairs_ ? "(ks + 1) / 2 * 2" : "ks";
    code_.comment(fmt::format(
        "One panel of {} columns from n0 (the last may have fewer, then zeros), steps k0 … k0 + ks.", nr_));
    code_.open("const auto {} = [&]({}* to, int64_t n0, int64_t ns, int64_t k0, int64_t ks)", pack_b_,
               element());
    code_.open("for (int64_t k = 0; k < ks; ++k)");
    code_.line("const int64_t p = k0 + k;");
    unflatten(contraction_.depth, "p");
    if (columns_by_lanes()) {
      const Range& column = contraction_.columns[0];
      printer_.bind_as(column, "n");
      printer_.vectorize(column.index);
      code_.open("const auto step = [&](int64_t n, auto span) __attribute__((always_inline))");
      code_.line("v_store(to + k * {} + (n - n0), {}, whole{{}});", nr_, product(contraction_.b));
      code_.close("};");
      printer_.vectorize(-1);
      for (int j = 0; j < choices_.tile_n; ++j) {
        const int from = j * choices_.lanes;
        code_.line("if (ns >= {}) step(n0 + {}, whole{{}});", from + choices_.lanes, from);
        code_.line("else step(n0 + {0}, part{{int(larger<int64_t>(ns - {0}, 0))}});", from);
      }
      printer_.need("larger");
    } else {
      const std::string place =
          pairs_ ? fmt::format("k / 2 * {} + j * 2 + k % 2", 2 * nr_) : fmt::format("k * {} + j", nr_);
      code_.open("for (int64_t j = 0; j < ns; ++j)");
      code_.line("const int64_t n = n0 + j;");
      unflatten(contraction_.columns, "n");
      code_.line("to[{}] = {};", place, pairs_ ? bits(contraction_.b) : product(contraction_.b));
      code_.close();
      code_.line("for (int64_t j = ns; j < {}; ++j) to[{}] = 0;", nr_, place);
    }
    code_.close();
    if (pairs_) {
      code_.line("if (ks % 2 != 0) for (int64_t j = 0; j < {0}; ++j) to[{1} / 2 * {2} + j * 2 + 1] = 0;", nr_,
                 "ks", 2 * nr_);
    }
    code_.close("};");
    end_scope();
  }

  void store_finished(const Statement& statement, const std::string& value, bool lanes) {
    const Storage& where = printer_.storage(statement.target);
    if (where.home == Home::row || where.home == Home::local) return;
    printer_.store(statement.target, statement.subscripts, value, lanes);
  }

  /// What becomes of an element's sum: stored, or handed to the statements that finish it.
  void finish_element(const std::string& sum, bool lanes) {
    const Statement& first = program_.statements[contraction_.statement];
    printer_.set_register(first.target, sum);
    store_finished(first, sum, lanes);
    for (const std::size_t at : contraction_.finish) {
      const Statement& statement = program_.statements[at];
      for (std::size_t i = 0; i < statement.indices.size(); ++i) {
        printer_.bind_as(statement.indices[i], printer_.index_text(first.indices[i].index));
      }
      code_.comment(to_text(program_, statement));
      if (lanes) printer_.vectorize(statement.indices.back().index);
      const std::string name = printer_.take(printer_.tensor_name(statement.target) + "_now");
      const std::string value = lanes ? printer_.vector(statement.value) : printer_.element(statement);
      code_.line("const auto {} = {};", name, value);
      printer_.set_register(statement.target, name);
      store_finished(statement, name, lanes);
      scoped_.push_back(name);
    }
    printer_.vectorize(-1);
    printer_.clear_registers();
  }

  bool finish_by_lanes() const {
    if (contraction_.columns.size() != 1) return false;
    const auto fits = [&](std::size_t at) {
      const Home home = printer_.storage(program_.statements[at].target).home;
      return home == Home::row || home == Home::local ||
             printer_.vector_storage(program_.statements[at].target);
    };
    return fits(contraction_.statement) && std::ranges::all_of(contraction_.finish, fits);
  }

  void finish() {
    finish_ = printer_.take("finish");
    const bool lanes = finish_by_lanes();
    const std::string sum = printer_.take("sum");
    code_.comment(
        "Adds the sums of earlier steps of the depth; keeps them for later ones, or finishes the elements.");
    code_.open(
        "const auto {0} = [&](const {1}* c, {1}* kept, int64_t m0, int64_t ms, int64_t n0, int64_t ns, bool "
        "first, bool last)",
        finish_, printer_.real());
    code_.open("for (int64_t i = 0; i < ms; ++i, c += {}, kept += {})", nr_, sums_stride_);
    code_.line("const int64_t m = m0 + i;");
    unflatten(contraction_.rows, "m");
    if (lanes) {
      code_.open("const auto step = [&](int64_t n, auto span) __attribute__((always_inline))");
      code_.line("const int64_t j = n - n0;");
      code_.line("vec {} = v_load(c + j, span);", sum);
      code_.line("if (!first) {} += v_load(kept + j, span);", sum);
      code_.line("if (!last) return v_store(kept + j, {}, span);", sum);
      printer_.bind_as(contraction_.columns[0], "n");
      finish_element(sum, true);
      code_.close("};");
      code_.line("int64_t n = n0;");
      code_.line("for (; n + {0} <= n0 + ns; n += {0}) step(n, whole{{}});", choices_.lanes);
      code_.line("if (n < n0 + ns) step(n, part{int(n0 + ns - n)});");
    } else {
      code_.open("for (int64_t j = 0; j < ns; ++j)");
      code_.line("{} {} = c[j];", printer_.real(), sum);
      code_.line("if (!first) {} += kept[j];", sum);
      code_.line("kept[j] = {};", sum);
      code_.line("if (!last) continue;");
      code_.line("const int64_t n = n0 + j;");
      unflatten(contraction_.columns, "n");
      finish_element(sum, false);
      code_.close();
    }
    code_.close();
    code_.close("};");
    end_scope();
  }

  std::string private_buffer(std::size_t which, std::int64_t size) const {
    if (!threaded()) return buffers_[which];
    return fmt::format("{} + omp_get_thread_num() * int64_t({})", buffers_[which], size);
  }

  void column_block(bool shared_b) {
    code_.line("const int64_t ns = smaller<int64_t>({}, {} - jc);", block_n_, columns_);
    code_.open("for (int64_t pc = 0; pc < {} || pc == 0; pc += {})", depth_, block_k_guard());
    code_.line("const int64_t ks = smaller<int64_t>({}, {} - pc);", block_k_, depth_);
    if (shared_b) code_.directive("#pragma omp for schedule(static)");
    code_.open("for (int64_t j = 0; j < ns; j += {})", nr_);
    code_.line("{}({} + j * {}, jc + j, smaller<int64_t>({}, ns - j), pc, ks);", pack_b_, b_panel_,
               padded_depth(), nr_);
    code_.close();
    if (shared_b) code_.directive("#pragma omp for schedule(dynamic)");
    code_.open("for (int64_t ic = 0; ic < {}; ic += {})", rows_, block_m_);
    code_.line("const int64_t ms = smaller<int64_t>({}, {} - ic);", block_m_, rows_);
    code_.line("{}({}, ic, ms, pc, ks);", pack_a_, a_panel_);
    code_.open("for (int64_t j = 0; j < ns; j += {})", nr_);
    code_.open("for (int64_t i = 0; i < ms; i += {})", mr_);
    code_.line("alignas(64) {} c[{}];", printer_.real(), mr_ * nr_);
    code_.line("{0}({1}, {2} + i * {1}, {3} + j * {1}, c);", tile_, padded_depth(), a_panel_, b_panel_);
    code_.line(
        "{}(c, {} + (ic + i) * {} + j, ic + i, smaller<int64_t>({}, ms - i), jc + j, smaller<int64_t>({}, ns "
        "- j), pc == 0, pc + ks >= {});",
        finish_, sums_, sums_stride_, mr_, nr_, depth_);
    code_.close();
    code_.close();
    code_.close();
    code_.close();
  }
  std::string padded_depth() const { return pairs_ ? "((ks + 1) / 2 * 2)" : "ks"; }
  /// An empty sum still has elements to write: the loop runs once, and must then end.
  std::string block_k_guard() {
    printer_.need("larger");
    return fmt::format("larger<int64_t>({}, 1)", block_k_);
  }

  void pointers(bool private_b) {
    code_.line("{}* const {} = {};", element(), a_panel_, private_buffer(0, a_size_));
    code_.line("{}* const {} = {};", element(), b_panel_,
               private_b ? private_buffer(1, b_size_) : buffers_[1]);
    const std::string sums = private_b && threaded() ? fmt::format("{} + omp_get_thread_num() * {} * {}",
                                                                   buffers_[2], rows_, sums_stride_)
                                                     : buffers_[2];
    code_.line("{}* const {} = {};", printer_.real(), sums_, sums);
  }

  /// Packing and threads cost more than a few hundred products do.
  void tiny() {
    const std::string sum = printer_.take("sum");
    code_.open("for (int64_t m = 0; m < {}; ++m)", rows_);
    unflatten(contraction_.rows, "m");
    code_.open("for (int64_t n = 0; n < {}; ++n)", columns_);
    unflatten(contraction_.columns, "n");
    code_.line("{} {} = 0;", printer_.real(), sum);
    code_.open("for (int64_t p = 0; p < {}; ++p)", depth_);
    unflatten(contraction_.depth, "p");
    code_.line("{} += {} * {};", sum, product(contraction_.a), product(contraction_.b));
    code_.close();
    finish_element(sum, false);
    code_.close();
    code_.close();
    printer_.give_back(sum);
    end_scope();
  }

  void blocked_loops() {
    const std::string enough = fmt::format("if ({} * {} * {} > 65536)", rows_, columns_, depth_);
    if (threaded()) printer_.need("ako_thread");
    if (threaded() && choices_.split_n) {
      code_.directive(fmt::format("#pragma omp parallel for num_threads({}) schedule(dynamic) {}",
                                  choices_.threads, enough));
      code_.open("for (int64_t jc = 0; jc < {}; jc += {})", columns_, block_n_);
      pointers(true);
      column_block(false);
      code_.close();
      return;
    }
    if (threaded())
      code_.directive(fmt::format("#pragma omp parallel num_threads({}) {}", choices_.threads, enough));
    code_.open_block();
    pointers(false);
    code_.open("for (int64_t jc = 0; jc < {}; jc += {})", columns_, block_n_);
    column_block(threaded());
    code_.close();
    code_.close();
  }

  const Contraction& contraction_;
  Printer& printer_;
  const Program& program_;
  const Choices& choices_;
  Code& code_;
  Code& functions_;
  std::vector<Workspace>& workspace_;
  bool pairs_;
  int mr_, nr_;
  std::int64_t a_size_ = 0, b_size_ = 0, sums_stride_ = 0;
  std::string rows_, columns_, depth_, tile_, block_m_, block_n_, block_k_, a_panel_, b_panel_, sums_,
      pack_a_, pack_b_, finish_;
  std::vector<std::string> buffers_, scoped_;
};

}  // namespace

void emit_contraction(const Contraction& contraction, Printer& printer, Code& functions,
                      std::vector<Workspace>& workspace) {
  Emitter(contraction, printer, functions, workspace).emit();
}

}  // namespace ako::synth
