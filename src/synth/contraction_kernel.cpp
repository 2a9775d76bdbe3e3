// SPDX-License-Identifier: Apache-2.0
// Writing contractions: sizes, buffers and the blocked loops round the register tile.
#include <algorithm>

#include "synth/contraction_emitter.h"
#include "synth/kernel_writer.h"
#include "synth/register_tile.h"

namespace ako::synth {

namespace {

Products products_of(const Contraction& contraction, const Program& program, const Choices& choices) {
  if (contraction.integer) return Products::word_pairs;
  return choices.pairs && can_pair(program, contraction) ? Products::bf16_pairs : Products::reals;
}

}  // namespace

ContractionEmitter::ContractionEmitter(const Contraction& contraction, Printer& printer, Code& functions,
                                       std::vector<Workspace>& workspace)
    : contraction_(contraction),
      printer_(printer),
      program_(printer.program()),
      choices_(printer.choices()),
      code_(printer.code()),
      functions_(functions),
      workspace_(workspace),
      products_(products_of(contraction, program_, choices_)),
      mr_(choices_.tile_m),
      nr_(choices_.tile_n * choices_.lanes) {}

std::string ContractionEmitter::element() const {
  return products_ == Products::reals        ? printer_.real()
         : products_ == Products::bf16_pairs ? "uint16_t"
                                             : "int16_t";
}
std::string ContractionEmitter::sum_type() const {
  return products_ == Products::word_pairs ? "int32_t" : printer_.real();
}
ScalarType ContractionEmitter::element_type() const {
  if (products_ == Products::bf16_pairs) return ScalarType::bf16;
  if (products_ == Products::word_pairs) return ScalarType::i16;
  return printer_.wide() ? ScalarType::f64 : ScalarType::f32;
}
ScalarType ContractionEmitter::sum_scalar() const {
  if (products_ == Products::word_pairs) return ScalarType::i32;
  return printer_.wide() ? ScalarType::f64 : ScalarType::f32;
}

std::string ContractionEmitter::extent(const std::vector<Range>& ranges) {
  std::string text;
  for (const Range& range : ranges) text += (text.empty() ? "" : " * ") + printer_.scalar(range.upper, 81);
  return text;
}

std::string ContractionEmitter::plan_extent(const std::vector<Range>& ranges) const {
  std::string text;
  for (const Range& range : ranges) text += (text.empty() ? "" : " * ") + plan_text(program_, range.upper);
  return "(" + text + ")";
}

void ContractionEmitter::unflatten(const std::vector<Range>& ranges, const std::string& flat) {
  if (ranges.size() == 1) return printer_.bind_as(ranges[0], flat);
  std::string rest = flat;
  for (std::size_t i = ranges.size(); i-- > 0;) {
    const std::string name = printer_.take(program_.indices[static_cast<std::size_t>(ranges[i].index)].name);
    const std::string size = printer_.scalar(ranges[i].upper, 81);
    code_.line("const int64_t {} = {}{};", name, rest, i == 0 ? "" : " % " + size);
    rest = fmt::format("{} / {}", rest, size);
    printer_.bind_as(ranges[i], name);
    scoped_.push_back(name);
  }
}

void ContractionEmitter::end_scope() {
  for (const std::string& name : scoped_) printer_.give_back(name);
  scoped_.clear();
}

std::string ContractionEmitter::product(const std::vector<ExprId>& factors) {
  std::string text;
  for (const ExprId factor : factors) {
    text += (text.empty() ? "" : " * ") +
            (contraction_.integer ? printer_.scalar(factor, 81) : printer_.lanes_or_one(factor, 81));
  }
  return text.empty() ? (printer_.wide() ? "1.0" : "1.0f") : text;
}

void ContractionEmitter::emit() {
  code_.comment(to_text(program_, program_.statements[contraction_.statement]));
  names();
  code_.line("const int64_t {} = {}, {} = {}, {} = {};", rows_, extent(contraction_.rows), columns_,
             extent(contraction_.columns), depth_, extent(contraction_.depth));
  functions_.line("");
  functions_.comment(
      fmt::format("A tile of {} x {} sums in registers: for each step of the depth, {} vectors of B times {} "
                  "elements of A{}.",
                  mr_, nr_, choices_.tile_n, mr_, pairs() ? ", two steps at a time" : ""));
  emit_register_tile({tile_, element(), sum_type(), mr_, choices_.tile_n, products_, 0, nr_, false}, printer_,
                     functions_);
  buffers();
  std::string small = fmt::format("{} * {} * {} < 2048", rows_, columns_, depth_);
  if (products_ == Products::word_pairs) {
    // A product of two bytes is at most 255 * 255; beyond this many of them 32 bits may not hold the sum.
    small += fmt::format(" || {} > {}", depth_, INT32_MAX / (255 * 255));
  }
  code_.open("if ({})", small);
  open_batch();
  tiny();
  close_batch();
  code_.close("} else {");
  code_.indent();
  blocked();
  code_.close();
}

void ContractionEmitter::names() {
  rows_ = printer_.take("row_count"), columns_ = printer_.take("column_count"),
  depth_ = printer_.take("step_count");
  tile_ = printer_.take("product_tile");
  block_m_ = printer_.take("block_m"), block_n_ = printer_.take("block_n"),
  block_k_ = printer_.take("block_k");
  pack_a_ = printer_.take("pack_a"), pack_b_ = printer_.take("pack_b"), finish_ = printer_.take("finish");
  a_panel_ = printer_.take("a_panel"), b_panel_ = printer_.take("b_panel"), sums_ = printer_.take("own_sums");
}

void ContractionEmitter::open_batch() {
  for (const Range& range : contraction_.batch) printer_.open_loop(range);
}
void ContractionEmitter::close_batch() {
  for (auto range = contraction_.batch.rbegin(); range != contraction_.batch.rend(); ++range)
    printer_.close_loop(*range);
}

/// Block sizes fitted to the problem, and the buffers.
void ContractionEmitter::buffers() {
  const int threads = choices_.threads;
  whole_m_ = std::max<std::int64_t>(1, choices_.block_m / mr_) * mr_;
  whole_n_ = std::max<std::int64_t>(1, choices_.block_n / nr_) * nr_;
  const auto fitted = [&](const std::string& name, std::int64_t most, const std::string& total, int parts,
                          int unit) {
    code_.line("const int64_t {0} = smaller<int64_t>({1}, (({2} + {3}) / {4} + {5}) / {6} * {6});", name,
               most, total, parts - 1, parts, unit - 1, unit);
  };
  printer_.need("smaller"), printer_.need("larger");
  fitted(block_m_, whole_m_, rows_, by_columns() ? 1 : threads, mr_);
  fitted(block_n_, whole_n_, columns_, by_columns() && contraction_.batch.empty() ? threads : 1, nr_);
  fitted(block_k_, choices_.block_k, depth_, 1, 2);

  const int b_copies = by_columns() ? threads : 1;
  a_panels_ = add_buffer("a_panels", element_type(), std::to_string(whole_m_ * choices_.block_k * threads));
  b_panels_ = add_buffer("b_panels", element_type(), std::to_string(whole_n_ * choices_.block_k * b_copies));
  // Sums of a block of columns wait here for the rest of the depth.
  kept_sums_ = add_buffer("kept_sums", sum_scalar(),
                          fmt::format("{} * {} * {}", plan_extent(contraction_.rows), whole_n_, b_copies));
}

std::string ContractionEmitter::add_buffer(const std::string& name, ScalarType type, std::string elements) {
  workspace_.push_back({printer_.take(name), type, std::move(elements)});
  return workspace_.back().name;
}

void ContractionEmitter::pointers() {
  const auto own = [&](const std::string& buffer, const std::string& size, bool shared) {
    if (!threaded() || shared) return buffer;
    return fmt::format("{} + omp_get_thread_num() * {}", buffer, size);
  };
  code_.line("{}* const {} = {};", element(), a_panel_,
             own(a_panels_, fmt::format("int64_t({})", whole_m_ * choices_.block_k), false));
  code_.line("{}* const {} = {};", element(), b_panel_,
             own(b_panels_, fmt::format("int64_t({})", whole_n_ * choices_.block_k), !by_columns()));
  code_.line("{}* const {} = {};", sum_type(), sums_,
             own(kept_sums_, fmt::format("{} * {}", rows_, whole_n_), !by_columns()));
}

std::string ContractionEmitter::enough() {
  std::string work = fmt::format("{} * {} * {}", rows_, columns_, depth_);
  for (const Range& range : contraction_.batch) work = printer_.scalar(range.upper, 81) + " * " + work;
  return fmt::format("if ({} > 65536)", work);
}

void ContractionEmitter::blocked() {
  if (threaded()) printer_.need("ako_thread");
  by_columns() ? own_columns() : shared_columns();
}

/// Each thread takes blocks of columns, of any batch, with panels of its own: nobody waits for anybody.
void ContractionEmitter::own_columns() {
  code_.directive(fmt::format("#pragma omp parallel for num_threads({}) schedule(dynamic) collapse({}) {}",
                              choices_.threads, contraction_.batch.size() + 1, enough()));
  open_batch();
  code_.open("for (int64_t jc = 0; jc < {}; jc += {})", columns_, block_n_);
  pointers();
  pack_a(), pack_b(), finish();
  column_block(false);
  code_.close();
  close_batch();
}

/// All threads share a packed block of columns and divide the rows among them, and the columns too where
/// there are few rows.
void ContractionEmitter::shared_columns() {
  if (threaded())
    code_.directive(fmt::format("#pragma omp parallel num_threads({}) {}", choices_.threads, enough()));
  code_.open_block();
  pointers();
  open_batch();
  pack_a(), pack_b(), finish();
  code_.open("for (int64_t jc = 0; jc < {}; jc += {})", columns_, block_n_);
  column_block(threaded());
  code_.close();
  close_batch();
  code_.close();
}

void ContractionEmitter::column_block(bool shared) {
  code_.line("const int64_t ns = smaller<int64_t>({}, {} - jc);", block_n_, columns_);
  if (shared) {
    const int shares = 2 * choices_.threads;
    code_.comment("Where rows alone are too few to go round, threads take parts of the columns.");
    code_.line(
        "const int64_t width = {0} > {1} * {2} ? ns : larger<int64_t>({3}, ((ns + {4}) / {2} + {5}) / {6} * "
        "{6});",
        rows_, block_m_, shares, 2 * nr_, shares - 1, nr_ - 1, nr_);
  }
  // An empty sum still has elements to write: the loop runs once, and must then end.
  code_.open("for (int64_t pc = 0; pc < {0} || pc == 0; pc += larger<int64_t>({1}, 1))", depth_, block_k_);
  code_.line("const int64_t ks = smaller<int64_t>({}, {} - pc);", block_k_, depth_);
  if (shared) code_.directive("#pragma omp for schedule(static)");
  code_.open("for (int64_t j = 0; j < ns; j += {})", nr_);
  code_.line("{}({} + j * {}, jc + j, smaller<int64_t>({}, ns - j), pc, ks);", pack_b_, b_panel_,
             padded_depth(), nr_);
  code_.close();
  row_block(shared);
  code_.close();
}

void ContractionEmitter::row_block(bool shared) {
  if (shared) code_.directive("#pragma omp for schedule(dynamic) collapse(2)");
  code_.open("for (int64_t ic = 0; ic < {}; ic += {})", rows_, block_m_);
  if (shared) code_.open("for (int64_t j0 = 0; j0 < ns; j0 += width)");
  code_.line("const int64_t ms = smaller<int64_t>({}, {} - ic);", block_m_, rows_);
  code_.line("{}({}, ic, ms, pc, ks);", pack_a_, a_panel_);
  if (shared)
    code_.open("for (int64_t j = j0; j < smaller(j0 + width, ns); j += {})", nr_);
  else
    code_.open("for (int64_t j = 0; j < ns; j += {})", nr_);
  code_.open("for (int64_t i = 0; i < ms; i += {})", mr_);
  code_.line("alignas(64) {} c[{}];", sum_type(), mr_ * nr_);
  code_.line("{0}({1}, {2} + i * {1}, {3} + j * {1}, c);", tile_, padded_depth(), a_panel_, b_panel_);
  code_.line(
      "{}(c, {} + (ic + i) * {} + j, ic + i, smaller<int64_t>({}, ms - i), jc + j, smaller<int64_t>({}, ns - "
      "j), "
      "pc == 0, pc + ks >= {});",
      finish_, sums_, whole_n_, mr_, nr_, depth_);
  code_.close();
  code_.close();
  if (shared) code_.close();
  code_.close();
}

/// Packing and threads cost more than a few hundred products do.
void ContractionEmitter::tiny() {
  code_.open("for (int64_t m = 0; m < {}; ++m)", rows_);
  unflatten(contraction_.rows, "m");
  code_.open("for (int64_t n = 0; n < {}; ++n)", columns_);
  unflatten(contraction_.columns, "n");
  code_.line("{} sum = 0;", contraction_.integer ? "int64_t" : printer_.real());
  code_.open("for (int64_t p = 0; p < {}; ++p)", depth_);
  unflatten(contraction_.depth, "p");
  code_.line("sum += {} * {};", product(contraction_.a), product(contraction_.b));
  code_.close();
  finish_element("sum", false);
  code_.close();
  code_.close();
  end_scope();
}

void emit_contraction(const Contraction& contraction, Printer& printer, Code& functions,
                      std::vector<Workspace>& workspace) {
  ContractionEmitter(contraction, printer, functions, workspace).emit();
}

}  // namespace ako::synth
