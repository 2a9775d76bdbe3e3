// SPDX-License-Identifier: Apache-2.0
// What becomes of a tile's sums: kept for the rest of the depth, or handed to the statements that finish
// their elements while they are in the first cache.
#include <algorithm>

#include "synth/contraction_emitter.h"

namespace ako::synth {

void ContractionEmitter::store_finished(const Statement& statement, const std::string& value, bool lanes) {
  const Storage& where = printer_.storage(statement.target);
  if (where.home == Home::row || where.home == Home::local) return;
  printer_.store(statement.target, statement.subscripts, value, lanes);
}

void ContractionEmitter::finish_element(const std::string& sum, bool lanes) {
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

bool ContractionEmitter::finish_by_lanes() const {
  if (contraction_.columns.size() != 1 || products_ == Products::word_pairs) return false;
  const auto fits = [&](std::size_t at) {
    const Statement& statement = program_.statements[at];
    const Home home = printer_.storage(statement.target).home;
    return home == Home::row || home == Home::local || printer_.vector_storage(statement.target);
  };
  return fits(contraction_.statement) && std::ranges::all_of(contraction_.finish, fits);
}

void ContractionEmitter::finish() {
  code_.comment(
      "Adds the sums of earlier steps of the depth; keeps them for later ones, or finishes the elements.");
  code_.open(
      "const auto {0} = [&](const {1}* c, {1}* kept, int64_t m0, int64_t ms, int64_t n0, int64_t ns, bool "
      "first, bool last)",
      finish_, sum_type());
  code_.open("for (int64_t i = 0; i < ms; ++i, c += {}, kept += {})", nr_, whole_n_);
  code_.line("const int64_t m = m0 + i;");
  unflatten(contraction_.rows, "m");
  if (finish_by_lanes())
    finish_lanes();
  else
    finish_elements();
  code_.close();
  code_.close("};");
  end_scope();
}

void ContractionEmitter::finish_lanes() {
  printer_.need("v_load"), printer_.need("v_store");
  code_.open("const auto step = [&](int64_t n, auto span) __attribute__((always_inline))");
  code_.line("const int64_t j = n - n0;");
  code_.line("vec sum = v_load(c + j, span);");
  code_.line("if (!first) sum += v_load(kept + j, span);");
  code_.line("if (!last) return v_store(kept + j, sum, span);");
  printer_.bind_as(contraction_.columns[0], "n");
  finish_element("sum", true);
  code_.close("};");
  code_.line("int64_t n = n0;");
  code_.line("for (; n + {0} <= n0 + ns; n += {0}) step(n, whole{{}});", choices_.lanes);
  code_.line(std::string_view("if (n < n0 + ns) step(n, part{int(n0 + ns - n)});"));
}

void ContractionEmitter::finish_elements() {
  code_.open("if (!first || !last)");
  code_.line("for (int64_t j = 0; j < ns; ++j) kept[j] = first ? c[j] : kept[j] + c[j];");
  code_.line("if (!last) continue;");
  code_.close();
  code_.line("const {}* const sums_row = first ? c : kept;", sum_type());
  code_.open("for (int64_t j = 0; j < ns; ++j)");
  code_.line("const int64_t n = n0 + j;");
  unflatten(contraction_.columns, "n");
  code_.line("const {} sum = sums_row[j];", products_ == Products::word_pairs ? "int64_t" : sum_type());
  finish_element("sum", false);
  code_.close();
}

}  // namespace ako::synth
