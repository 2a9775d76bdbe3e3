// SPDX-License-Identifier: Apache-2.0
#include "synth/gpu/product.h"

#include <algorithm>

namespace ako::synth::gpu {

namespace {

void factors_of(const Program& program, ExprId id, std::vector<ExprId>& factors) {
  const Expr& expr = program.expr(id);
  if (expr.kind == ExprKind::binary && expr.op == Op::mul && expr.type == NumberClass::real) {
    factors_of(program, expr.args[0], factors);
    factors_of(program, expr.args[1], factors);
  } else {
    factors.push_back(id);
  }
}

bool from_zero(const Program& program, const Range& range) {
  return rectangular(program, range) && is_literal(program, range.lower, 0);
}

/// An access whose subscripts are different indices, nothing else.
bool is_plain(const Program& program, ExprId id) {
  const Expr& expr = program.expr(id);
  if (expr.kind != ExprKind::access || expr.fallback || expr.args.size() < 2) return false;
  const Tensor& tensor = program.tensor(expr.ref);
  if (tensor.number != NumberClass::real || (is_packed(tensor.type) && !tensor.exact)) return false;
  std::set<IndexId> seen;
  for (const ExprId arg : expr.args) {
    const IndexId index = bare_index(program, arg);
    if (index < 0 || !seen.insert(index).second) return false;
  }
  return true;
}

/// The later statements of a group work on the sum's element alone.
bool finishes(const Program& program, const Statement& sum, const Statement& later) {
  if (later.kind != StatementKind::define || later.indices.size() != sum.indices.size()) return false;
  bool fine = true;
  for (std::size_t i = 0; i < later.subscripts.size(); ++i)
    fine = fine && i < later.indices.size() && is_index(program, later.subscripts[i], later.indices[i].index);
  visit(program, later.value, [&](ExprId e) {
    const Expr& expr = program.expr(e);
    fine = fine && expr.kind != ExprKind::reduce;
    if (expr.kind != ExprKind::access || expr.ref != sum.target) return;
    for (std::size_t axis = 0; axis < expr.args.size(); ++axis)
      fine = fine && is_index(program, expr.args[axis], later.indices[axis].index);
  });
  return fine;
}

}  // namespace

std::optional<Product> match_product(const Program& program, const Layout& layout, const Group& group) {
  Product product;
  product.statement = group.statements.front();
  const Statement& sum = program.statements[product.statement];
  const Expr& value = program.expr(sum.value);
  if (sum.kind != StatementKind::define || value.kind != ExprKind::reduce || value.reduce != ReduceOp::sum)
    return {};
  if (value.scan || value.condition || value.bounds.size() != 1 || value.type != NumberClass::real) return {};
  if (sum.indices.size() < 2 ||
      !std::ranges::all_of(sum.indices, [&](const Range& r) { return from_zero(program, r); }))
    return {};
  product.depth = value.bounds[0];
  std::vector<ExprId> factors;
  factors_of(program, value.args[0], factors);
  if (!from_zero(program, product.depth) || factors.size() != 2) return {};
  if (!is_plain(program, factors[0]) || !is_plain(program, factors[1])) return {};
  product.row = sum.indices[sum.indices.size() - 2];
  product.column = sum.indices.back();
  product.batch.assign(sum.indices.begin(), sum.indices.end() - 2);
  const bool swapped = mentions(program, factors[0], product.column.index);
  product.left = factors[swapped ? 1 : 0];
  product.right = factors[swapped ? 0 : 1];
  const auto has = [&](ExprId factor, const Range& range) { return mentions(program, factor, range.index); };
  if (!has(product.left, product.row) || !has(product.left, product.depth) ||
      has(product.left, product.column))
    return {};
  if (!has(product.right, product.column) || !has(product.right, product.depth) ||
      has(product.right, product.row))
    return {};
  const auto last_is = [&](ExprId factor, const Range& range) {
    return is_index(program, program.expr(factor).args.back(), range.index);
  };
  product.left_by_depth = last_is(product.left, product.depth);
  product.right_by_depth = last_is(product.right, product.depth);
  if (!product.left_by_depth && !last_is(product.left, product.row)) return {};
  if (!product.right_by_depth && !last_is(product.right, product.column)) return {};
  for (std::size_t i = 1; i < group.statements.size(); ++i) {
    if (!finishes(program, sum, program.statements[group.statements[i]])) return {};
    product.finish.push_back(group.statements[i]);
  }
  // A sum that others want, too, must be stored as it is.
  const bool elsewhere = layout.storage[static_cast<std::size_t>(sum.target)].home == Home::workspace;
  if (elsewhere && !product.finish.empty()) return {};
  if (!product.finish.empty() && !program.tensor(sum.target).exact) return {};
  for (const std::size_t at : product.finish) {
    const Tensor& tensor = program.tensor(program.statements[at].target);
    if (tensor.role == TensorRole::temporary && !tensor.exact) return {};
  }
  return product;
}

bool fits_matrix_units(const Program& program, const Product& product) {
  const Tensor& left = program.tensor(program.expr(product.left).ref);
  const Tensor& right = program.tensor(program.expr(product.right).ref);
  const bool narrow = left.type == ScalarType::bf16 || left.type == ScalarType::f16;
  return narrow && left.type == right.type && !left.exact && !right.exact && product.left_by_depth;
}

namespace {

/// What both kinds share: the tile's place, the operands' addresses, the end of an element.
class ProductWriter {
 public:
  ProductWriter(Unit& unit, const Product& product, const ProductChoices& choices)
      : unit_(unit), e_(unit.expressions()), program_(unit.program()), product_(product), c_(choices) {}

 protected:
  const Statement& sum() const { return program_.statements[product_.statement]; }
  TensorId left() const { return program_.expr(product_.left).ref; }
  TensorId right() const { return program_.expr(product_.right).ref; }

  Kernel begin(int threads, std::int64_t shared) {
    for (std::size_t i = 0; i <= product_.finish.size(); ++i) {
      const TensorId id = program_.statements[i == 0 ? product_.statement : product_.finish[i - 1]].target;
      const bool inside = program_.tensor(id).role == TensorRole::temporary && !product_.finish.empty();
      if (!inside && program_.tensor(id).role == TensorRole::temporary) unit_.workspace_for(id);
    }
    std::string comment = to_text(program_, sum());
    for (const std::size_t at : product_.finish) comment += "\n" + to_text(program_, program_.statements[at]);
    Kernel kernel = unit_.begin("product_" + program_.tensor(sum().target).name, comment);
    kernel.threads = threads;
    kernel.block[0] = std::to_string(threads);
    kernel.shared = std::to_string(shared);
    kernel.grid[0] = fmt::format("ceil_div({}, {}) * ceil_div({}, {})", unit_.extent(product_.row), c_.tile_m,
                                 unit_.extent(product_.column), c_.tile_n);
    kernel.grid[1] = unit_.extents(product_.batch);
    e_.write_to(kernel.body);
    // Loops of the tile, which indices of the problem must not be called like.
    for (const char* word : {"i", "j", "k", "m", "n", "a", "b"}) e_.take(word);
    return kernel;
  }

  std::string extent(const Range& range, int precedence = 81) { return e_.position(range.upper, precedence); }

  /// Which tile this block makes: tiles side by side share operands while they are in the last cache.
  void place(Code& code) {
    const std::string M = extent(product_.row), N = extent(product_.column);
    code.line("constexpr int tile_m = {}, tile_n = {}, tile_k = {};", c_.tile_m, c_.tile_n, c_.tile_k);
    code.line("const int across = ({} + tile_n - 1) / tile_n, down = ({} + tile_m - 1) / tile_m;", N, M);
    code.line(
        "const int band = ako::block_x() / ({} * across), in_band = ako::block_x() - band * {} * across;",
        c_.group, c_.group);
    code.line("const int band_rows = down - band * {0} < {0} ? down - band * {0} : {0};", c_.group);
    code.line("const index_t row_0 = (index_t)(band * {} + in_band % band_rows) * tile_m;", c_.group);
    code.line("const index_t column_0 = (index_t)(in_band / band_rows) * tile_n;");
    std::string rest = "(index_t)ako::block_y()";
    for (std::size_t i = product_.batch.size(); i-- > 0;) {
      const std::string name = e_.bind(product_.batch[i].index);
      if (i == 0) {
        code.line("const index_t {} = {};", name, rest);
      } else {
        const std::string size = extent(product_.batch[i]), next = e_.take("rest");
        code.line("const index_t {} = {} % {}, {} = {} / {};", name, rest, size, next, rest, size);
        rest = next;
      }
    }
    operand(code, "left", product_.left, product_.row, product_.left_by_depth);
    operand(code, "right", product_.right, product_.column, product_.right_by_depth);
  }

  /// `left`: where the operand begins for this batch; `left_stride`: from line to line.
  void operand(Code& code, const char* name, ExprId access, const Range& outer, bool by_depth) {
    const Expr expr = program_.expr(access);
    e_.bind_as(outer.index, "0");
    e_.bind_as(product_.depth.index, "0");
    code.line("const {}* const {} = {} + ({});", e_.storage_type(expr.ref), name, e_.place(expr.ref).pointer,
              e_.offset(expr.ref, expr.args));
    const IndexId line = by_depth ? outer.index : product_.depth.index;
    std::string stride;
    bool after = false;
    for (std::size_t axis = 0; axis < expr.args.size(); ++axis) {
      if (after)
        stride += (stride.empty() ? "" : " * ") + e_.position(program_.tensor(expr.ref).shape[axis], 81);
      after = after || is_index(program_, expr.args[axis], line);
    }
    code.line("const index_t {}_stride = {};", name, stride);
  }

  /// The element (m, n) whose sum is `value`: stored, or finished and then stored. Text of statements.
  void finish(const std::string& m, const std::string& n, const std::string& value) {
    Code& code = e_.code();
    const auto bind = [&](const Statement& s) {
      const std::size_t rank = s.indices.size();
      for (std::size_t i = 0; i < product_.batch.size(); ++i)
        e_.bind_as(s.indices[i].index, e_.index_text(product_.batch[i].index));
      e_.bind_as(s.indices[rank - 2].index, m);
      e_.bind_as(s.indices[rank - 1].index, n);
    };
    bind(sum());
    if (product_.finish.empty()) return leave(sum(), value);
    std::map<TensorId, std::string> values{{sum().target, value}};
    e_.known = [&](ExprId id) -> std::optional<std::string> {
      const Expr& expr = program_.expr(id);
      if (expr.kind != ExprKind::access) return std::nullopt;
      const auto found = values.find(expr.ref);
      return found == values.end() ? std::nullopt : std::optional(found->second);
    };
    for (const std::size_t at : product_.finish) {
      const Statement& s = program_.statements[at];
      bind(s);
      const Tensor& tensor = program_.tensor(s.target);
      const std::string text = e_.as(tensor.number, s.value);
      if (tensor.role == TensorRole::temporary) {
        const std::string name = e_.take(tensor.name + "_element");
        code.line("const {} {} = {};", e_.type(tensor.number), name, text);
        values[s.target] = name;
      } else {
        leave(s, text);
      }
    }
    e_.known = nullptr;
  }

  /// To memory, or to `pair_` where two neighbours are stored together.
  void leave(const Statement& s, const std::string& value) {
    const std::string offset = e_.offset(s.target, s.subscripts);
    if (pair_.empty()) {
      e_.code().line(e_.store(s.target, offset, value));
    } else {
      e_.code().line("{} = {};", pair_, e_.encoded(s.target, value));
      pair_at_ = e_.place(s.target).pointer + " + (" + offset + ")";
    }
  }

  /// The one tensor that elements end in, or -1.
  TensorId only_result() const {
    if (product_.finish.empty()) return sum().target;
    TensorId result = -1;
    for (const std::size_t at : product_.finish) {
      const TensorId id = program_.statements[at].target;
      if (program_.tensor(id).role == TensorRole::temporary) continue;
      if (result >= 0) return -1;
      result = id;
    }
    return result;
  }

  Unit& unit_;
  Expressions& e_;
  const Program& program_;
  const Product& product_;
  ProductChoices c_;
  std::string pair_, pair_at_;
};

class OrdinaryProduct : public ProductWriter {
 public:
  using ProductWriter::ProductWriter;

  void write() {
    const int lanes_down = c_.wave / 8;
    const int threads = c_.tile_m / c_.thread_m * (c_.tile_n / c_.thread_n);
    const bool wide = e_.real() == "double";
    const std::int64_t shared =
        std::int64_t{2} * c_.tile_k * (c_.tile_m + 4 + c_.tile_n + 4) * (wide ? 8 : 4);
    Kernel kernel = begin(threads, shared);
    Code& code = kernel.body;
    const std::string M = extent(product_.row), N = extent(product_.column), K = extent(product_.depth);
    kernel.vector = 4;
    kernel.vector_when =
        fmt::format("{} % {} == 0 && {} % {} == 0 && {} % {} == 0", M, c_.tile_m, N, c_.tile_n, K, c_.tile_k);
    code.line("constexpr bool whole = V > 1;  // no tile hangs over an edge");
    code.line("constexpr int threads = {}, thread_m = {}, thread_n = {};", threads, c_.thread_m, c_.thread_n);
    place(code);
    code.line("typedef {} real_t;", e_.real());
    code.line("AKO_DYNAMIC_SHARED(real_t, memory);");
    code.line(
        "real_t (*const left_tile)[tile_k][tile_m + 4] = reinterpret_cast<real_t (*)[tile_k][tile_m + "
        "4]>(memory);");
    code.line("real_t (*const right_tile)[tile_k][tile_n + 4] =");
    code.line("    reinterpret_cast<real_t (*)[tile_k][tile_n + 4]>(memory + 2 * tile_k * (tile_m + 4));");
    code.line("const int thread = ako::thread_x();");
    // A wave is 8 lanes across and the rest down; a thread's elements lie in fours, a wave's width apart, so
    // that neighbouring lanes read neighbouring fours.
    code.line("constexpr int waves_across = tile_n / (8 * thread_n);");
    code.line("const int wave = thread / {0}, lane = thread % {0};", c_.wave);
    code.line("const int m_0 = wave / waves_across * ({} * thread_m) + lane / 8 * 4;", lanes_down);
    code.line("const int n_0 = wave % waves_across * (8 * thread_n) + lane % 8 * 4;");
    code.line("real_t sums[thread_m][thread_n] = {{}};");
    fetch_variables(code);
    code.line("index_t depth_0 = 0;");
    fetch(code);
    put(code, "0");
    code.line("ako::barrier();");
    code.line("int now = 0;");
    code.open("while (true)");
    code.line("depth_0 += tile_k;");
    code.line("const bool more = depth_0 < {};", K);
    code.open("if (more)");
    fetch(code);
    code.close();
    multiply(code, lanes_down);
    code.line("if (!more) break;");
    put(code, "now ^ 1");
    code.line("ako::barrier();");
    code.line("now ^= 1;");
    code.close();
    store(code, lanes_down);
    unit_.end(std::move(kernel));
  }

 private:
  struct Side {
    const char* name;
    TensorId id;
    bool by_depth;
    const Range* outer;
    const char* tile;    // extent of the tile along the outer index
    const char* origin;  // of the tile
  };
  std::array<Side, 2> sides() const {
    return {{{"left", left(), product_.left_by_depth, &product_.row, "tile_m", "row_0"},
             {"right", right(), product_.right_by_depth, &product_.column, "tile_n", "column_0"}}};
  }

  void fetch_variables(Code& code) {
    for (const Side& side : sides()) {
      code.line("constexpr int {0}_count = (tile_k * {1} / 4 + threads - 1) / threads;", side.name,
                side.tile);
      code.line("vec<{}, 4> {}_ahead[{}_count];", e_.storage_type(side.id), side.name, side.name);
    }
  }

  /// From memory to registers: fours along whatever lies side by side.
  void fetch(Code& code) {
    for (const Side& side : sides()) {
      code.line("AKO_UNROLL");
      code.open("for (int i = 0; i < {}_count; ++i)", side.name);
      place_of_four(code, side);
      const std::string line = side.by_depth ? "outer" : "depth", along = side.by_depth ? "depth" : "outer";
      code.line("const {}* const from = {} + {} * {}_stride + {};", e_.storage_type(side.id), side.name, line,
                side.name, along);
      code.open("if (whole)");
      code.line("{}_ahead[i] = ako::load<4>(from);", side.name);
      code.close("} else {");
      code.indent();
      code.line("AKO_UNROLL");
      code.open("for (int j = 0; j < 4; ++j)");
      const std::string outer = side.by_depth ? "outer" : "outer + j",
                        depth = side.by_depth ? "depth + j" : "depth";
      code.line("const bool there = {} < {} && {} < {};", outer, extent(*side.outer, 61), depth,
                extent(product_.depth, 61));
      const std::string zero = e_.storage_type(side.id) == "float" || e_.storage_type(side.id) == "double"
                                   ? "0"
                                   : e_.storage_type(side.id) + "(0.0f)";
      code.line("{}_ahead[i][j] = there ? from[j] : {};", side.name, zero);
      code.close();
      code.close();
      code.close();
    }
  }

  void place_of_four(Code& code, const Side& side) {
    code.line("const int four = thread + i * threads;");
    if (side.by_depth) {
      code.line("const int line = four / (tile_k / 4), part = four % (tile_k / 4) * 4;");
      code.line("const index_t outer = {} + line, depth = depth_0 + part;", side.origin);
    } else {
      code.line("const int line = four / ({0} / 4), part = four % ({0} / 4) * 4;", side.tile);
      code.line("const index_t outer = {} + part, depth = depth_0 + line;", side.origin);
    }
    code.line("if (tile_k * {} / 4 % threads != 0 && line >= {}) break;", side.tile,
              side.by_depth ? side.tile : "tile_k");
  }

  /// From registers to shared memory, depth outermost.
  void put(Code& code, const std::string& which) {
    for (const Side& side : sides()) {
      code.line("AKO_UNROLL");
      code.open("for (int i = 0; i < {}_count; ++i)", side.name);
      code.line("const int four = thread + i * threads;");
      const std::string width = side.by_depth ? "tile_k" : side.tile;
      code.line("const int line = four / ({0} / 4), part = four % ({0} / 4) * 4;", width);
      code.line("if (tile_k * {} / 4 % threads != 0 && line >= {}) break;", side.tile,
                side.by_depth ? side.tile : "tile_k");
      Place& place = e_.place(side.id);
      const std::string pointer = std::exchange(place.pointer, fmt::format("{}_ahead[i]", side.name));
      const std::string value = e_.load(side.id, "j");
      place.pointer = pointer;
      if (!side.by_depth) code.line("vec<real_t, 4> values;");
      code.line("AKO_UNROLL");
      if (side.by_depth) {
        code.line("for (int j = 0; j < 4; ++j) {}_tile[{}][part + j][line] = {};", side.name, which, value);
      } else {
        code.line("for (int j = 0; j < 4; ++j) values[j] = {};", value);
        code.line("ako::store(&{}_tile[{}][line][part], values);", side.name, which);
      }
      code.close();
    }
  }

  void multiply(Code& code, int lanes_down) {
    code.line("AKO_UNROLL");
    code.open("for (int k = 0; k < tile_k; ++k)");
    code.line("vec<real_t, 4> a[thread_m / 4], b[thread_n / 4];");
    code.line("AKO_UNROLL");
    code.line("for (int i = 0; i < thread_m / 4; ++i) a[i] = ako::load<4>(&left_tile[now][k][m_0 + i * {}]);",
              lanes_down * 4);
    code.line("AKO_UNROLL");
    code.line(
        "for (int j = 0; j < thread_n / 4; ++j) b[j] = ako::load<4>(&right_tile[now][k][n_0 + j * 32]);");
    code.line("AKO_UNROLL");
    code.open("for (int i = 0; i < thread_m; ++i)");
    code.line("AKO_UNROLL");
    code.line("for (int j = 0; j < thread_n; ++j) sums[i][j] += a[i / 4][i % 4] * b[j / 4][j % 4];");
    code.close();
    code.close();
  }

  void store(Code& code, int lanes_down) {
    code.line("AKO_UNROLL");
    code.open("for (int i = 0; i < thread_m; ++i)");
    code.line("const index_t m = row_0 + m_0 + i / 4 * {} + i % 4;", lanes_down * 4);
    code.line("if (!whole && m >= {}) continue;", extent(product_.row, 61));
    code.line("AKO_UNROLL");
    code.open("for (int j = 0; j < thread_n; ++j)");
    code.line("const index_t n = column_0 + n_0 + j / 4 * 32 + j % 4;");
    code.line("if (!whole && n >= {}) continue;", extent(product_.column, 61));
    finish("m", "n", "sums[i][j]");
    code.close();
    code.close();
  }
};

class MatrixProduct : public ProductWriter {
 public:
  using ProductWriter::ProductWriter;

  void write() {
    const int waves = c_.tile_m / c_.warp_m * (c_.tile_n / c_.warp_n), threads = waves * 32;
    const std::int64_t stage = std::int64_t{2} * c_.tile_k * (c_.tile_m + c_.tile_n);
    Kernel kernel = begin(threads, stage * c_.stages);
    Code& code = kernel.body;
    const std::string M = extent(product_.row), N = extent(product_.column), K = extent(product_.depth);
    const std::string type = e_.storage_type(left());
    e_.need("matrix_units");
    kernel.vector = 8;
    kernel.vector_when =
        fmt::format("{} % {} == 0 && {} % {} == 0 && {} % {} == 0", M, c_.tile_m, N, c_.tile_n, K, c_.tile_k);
    code.line("constexpr bool whole = V > 1;  // no tile hangs over an edge");
    code.line("const bool pieces = whole || ({});  // lines are whole pieces of 16 bytes",
              product_.right_by_depth ? fmt::format("{} % 8 == 0", K)
                                      : fmt::format("{} % 8 == 0 && {} % 8 == 0", K, N));
    code.line("constexpr int threads = {}, stages = {}, wave_m = {}, wave_n = {};", threads, c_.stages,
              c_.warp_m, c_.warp_n);
    place(code);
    code.line("AKO_DYNAMIC_SHARED({}, memory);", type);
    code.line("constexpr int stage_elements = tile_k * (tile_m + tile_n);");
    code.line("const u32 thread = (u32)ako::thread_x(), lane = thread % 32, wave = thread / 32;");
    code.line("const u32 m_0 = wave / (tile_n / wave_n) * wave_m, n_0 = wave % (tile_n / wave_n) * wave_n;");
    code.line("float sums[wave_m / 16][wave_n / 8][4] = {{}};");
    code.line("const int steps = (int)(({} + tile_k - 1) / tile_k);", K);
    code.line(
        "// One stage: pieces of 8 elements, each line's shuffled by its number so that lines read together");
    code.line("// lie in different banks.");
    code.open("const auto fetch = [&](int step, int turn, int turns)");
    code.line("if (step >= steps) return;");
    code.line("{}* const left_tile = memory + step % stages * stage_elements;", type);
    code.line("{}* const right_tile = left_tile + tile_m * tile_k;", type);
    side(code, "left", "left_tile", "tile_m", "tile_k", "row_0", M, "step * tile_k", K);
    if (product_.right_by_depth) {
      side(code, "right", "right_tile", "tile_n", "tile_k", "column_0", N, "step * tile_k", K);
    } else {
      side(code, "right", "right_tile", "tile_k", "tile_n", "step * tile_k", K, "column_0", N);
    }
    code.close("};");
    code.line(
        "u32 left_parts[2][wave_m / 16][4], right_parts[2][wave_n / 16][4];  // one slice of the depth "
        "ahead");
    load_fragments(code, type);
    code.line("AKO_UNROLL");
    code.open("for (int step = 0; step < stages - 1; ++step)");
    code.line("fetch(step, 0, 1);");
    code.line("copies_end_stage();");
    code.close();
    code.line("copies_wait<stages - 2>();");
    code.line("ako::barrier();");
    code.line("load(0, 0, 0);");
    code.open("for (int step = 0; step < steps; ++step)");
    code.line("AKO_UNROLL");
    code.open("for (int slice = 0; slice < tile_k / 16; ++slice)");
    code.open("if (slice == tile_k / 16 - 1)");
    code.line(
        "// Everyone has read this stage, and the next one has come; the one on its way is not ended yet.");
    code.line("copies_wait<stages - 3>();");
    code.line("ako::barrier();");
    code.close();
    code.line("const bool last = slice == tile_k / 16 - 1;");
    code.line("load((slice + 1) % 2, last ? step + 1 : step, last ? 0 : (slice + 1) * 16);");
    code.line("fetch(step + stages - 1, slice, tile_k / 16);  // a part of it beside each slice");
    code.line("if (last) copies_end_stage();");
    multiply(code, type);
    code.close();
    code.close();
    store(code, M, N);
    unit_.end(std::move(kernel));
  }

 private:
  void side(Code& code, const char* name, const char* tile, const char* lines, const char* width,
            const std::string& line_0, const std::string& line_end, const std::string& along_0,
            const std::string& along_end) {
    const std::string of = fmt::format("{}_piece", name);
    code.line("const int {0}_line = (int)(thread / ({1} / 8)), {0}_part = (int)(thread % ({1} / 8));", of,
              width);
    code.line("constexpr int {}_count = {} * {} / 8 / threads;", of, lines, width);
    code.line("AKO_UNROLL");
    code.open("for (int i = {0}_count * turn / turns; i < {0}_count * (turn + 1) / turns; ++i)", of);
    code.line("const int line = {0}_line + i * (threads / ({1} / 8)), part = {0}_part;", of, width);
    code.line("const index_t at = {} + line, along = {} + part * 8;", line_0, along_0);
    code.line("auto* const to = {} + line * {} + (part ^ line % 8) * 8;", tile, width);
    code.line(
        "copy_piece<whole>(to, {0} + at * {0}_stride + along, pieces, at < {1} ? (int)({2} - along) : 0);",
        name, line_end, along_end);
    code.close();
  }

  /// Operands of one slice from shared memory, into the registers `to`.
  void load_fragments(Code& code, const std::string& type) {
    code.open("const auto load = [&](int to, int step, int k)");
    code.line("const {}* const left_tile = memory + step % stages * stage_elements;", type);
    code.line("const {}* const right_tile = left_tile + tile_m * tile_k;", type);
    code.line(
        "const {}* const left_lines = left_tile + (m_0 + lane % 16) * tile_k + ((k / 8 + lane / 16) ^ lane % "
        "8) * 8;",
        type);
    code.line("AKO_UNROLL");
    code.line(
        "for (int i = 0; i < wave_m / 16; ++i) load_fragments<false>(left_parts[to][i], left_lines + i * 16 "
        "* "
        "tile_k);");
    if (product_.right_by_depth) {
      code.line("const {}* const right_lines =", type);
      code.line(
          "    right_tile + (n_0 + lane % 8 + lane / 16 * 8) * tile_k + ((k / 8 + lane / 8 % 2) ^ lane % 8) "
          "* 8;");
      code.line("AKO_UNROLL");
      code.line(
          "for (int j = 0; j < wave_n / 16; ++j) load_fragments<false>(right_parts[to][j], right_lines + j * "
          "16 * "
          "tile_k);");
    } else {
      code.line("const {}* const right_line = right_tile + (k + lane % 16) * tile_n;", type);
      code.line("AKO_UNROLL");
      code.open("for (int j = 0; j < wave_n / 16; ++j)");
      code.line(
          "load_fragments<true>(right_parts[to][j], right_line + ((n_0 / 8 + j * 2 + lane / 16) ^ lane % 8) "
          "* 8);");
      code.close();
    }
    code.close("};");
  }

  void multiply(Code& code, const std::string& type) {
    code.line("AKO_UNROLL");
    code.open("for (int i = 0; i < wave_m / 16; ++i)");
    code.line("AKO_UNROLL");
    code.open("for (int j = 0; j < wave_n / 8; ++j)");
    code.line("const u32 (&f)[4] = right_parts[slice % 2][j / 2];");
    code.line("multiply_fragments<{}>(sums[i][j], left_parts[slice % 2][i], f[j % 2 * 2], f[j % 2 * 2 + 1]);",
              type);
    code.close();
    code.close();
  }

  void store(Code& code, const std::string& M, const std::string& N) {
    code.line("AKO_UNROLL");
    code.open("for (int i = 0; i < wave_m / 16 * 2; ++i)");
    code.line("const index_t m = row_0 + (index_t)(m_0 + i * 8 + lane / 4);");
    code.line("if (!whole && m >= {}) continue;", M);
    code.line("AKO_UNROLL");
    code.open("for (int j = 0; j < wave_n / 8; ++j)");
    code.line("const float* const pair = &sums[i / 2][j][i % 2 * 2];");
    code.line("const index_t n_pair = column_0 + (index_t)(n_0 + j * 8 + lane % 4 * 2);");
    const TensorId result = only_result();
    const bool pairs = result >= 0 && !is_packed(program_.tensor(result).type);
    if (pairs) {
      code.open("if (whole)");
      code.line("vec<{}, 2> two;", e_.storage_type(result));
      code.line("AKO_UNROLL");
      code.open("for (int k = 0; k < 2; ++k)");
      code.line("const index_t n = n_pair + k;");
      pair_ = "two[k]";
      finish("m", "n", "pair[k]");
      pair_.clear();
      code.close();
      code.line("const index_t n = n_pair;");
      code.line("ako::store({}, two);", pair_at_);
      code.line("continue;");
      code.close();
    }
    code.line("AKO_UNROLL");
    code.open("for (int k = 0; k < 2; ++k)");
    code.line("const index_t n = n_pair + k;");
    code.line("if (n >= {}) continue;", N);
    finish("m", "n", "pair[k]");
    code.close();
    code.close();
    code.close();
  }
};

}  // namespace

void write_product(Unit& unit, const Product& product, const ProductChoices& choices) {
  OrdinaryProduct(unit, product, choices).write();
}

void write_matrix_product(Unit& unit, const Product& product, const ProductChoices& choices) {
  MatrixProduct(unit, product, choices).write();
}

}  // namespace ako::synth::gpu
