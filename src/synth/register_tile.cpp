// SPDX-License-Identifier: Apache-2.0
#include "synth/register_tile.h"

namespace ako::synth {

namespace {

std::string sum_name(int row, int vector) { return fmt::format("c{}_{}", row, vector); }

const char* sum_vector(const RegisterTile& tile) {
  return tile.products == Products::word_pairs ? "ivec" : "vec";
}

void declare_sums(const RegisterTile& tile, int lanes, Code& code) {
  for (int i = 0; i < tile.rows; ++i) {
    std::string names;
    for (int j = 0; j < tile.vectors; ++j) {
      const std::string start = tile.rescaled
                                    ? fmt::format("*reinterpret_cast<const vec*>(c + {}) * scale[{}]",
                                                  i * tile.c_stride + j * lanes, i)
                                    : "{}";
      names += (j == 0 ? "" : ", ") + sum_name(i, j) + " = " + start;
    }
    code.line("{} {};", sum_vector(tile), names);
  }
}

void multiply_step(const RegisterTile& tile, int lanes, Code& code) {
  const bool pairs = tile.products != Products::reals;
  const char* vector = pairs ? "ivec" : "vec";
  const char* dot = tile.products == Products::word_pairs ? "dot_words" : "v_dot_pairs";
  const char* pair = tile.products == Products::word_pairs ? "words_at" : "pair_at";
  for (int j = 0; j < tile.vectors; ++j) {
    code.line("const {0} b{1} = *reinterpret_cast<const {0}*>(b + {2});", vector, j,
              j * lanes * (pairs ? 2 : 1));
  }
  for (int i = 0; i < tile.rows; ++i) {
    if (pairs) code.line("const ivec a{} = ivec{{}} + *reinterpret_cast<const {}*>(a + {});", i, pair, i * 2);
    const int place = tile.a_stride == 0 ? i : i * tile.a_stride;
    for (int j = 0; j < tile.vectors; ++j) {
      if (pairs)
        code.line("{0} = {1}({0}, a{2}, b{3});", sum_name(i, j), dot, i, j);
      else
        code.line("{} += a[{}] * b{};", sum_name(i, j), place, j);
    }
  }
}

}  // namespace

void emit_register_tile(const RegisterTile& tile, Printer& printer, Code& code) {
  const int lanes = printer.choices().lanes;
  const int step = tile.products == Products::reals ? 1 : 2;
  if (tile.products == Products::bf16_pairs) printer.need("v_dot_pairs");
  if (tile.products == Products::word_pairs) printer.need("dot_words");
  code.open("inline void {0}(int64_t depth, const {1}* a, const {1}* b, {2}* c{3})", tile.name, tile.element,
            tile.sum, tile.rescaled ? ", const " + tile.sum + "* scale" : "");
  declare_sums(tile, lanes, code);
  code.open("for (int64_t k = 0; k < depth; k += {}, a += {}, b += {})", step,
            tile.a_stride == 0 ? tile.rows * step : step, tile.vectors * lanes * step);
  multiply_step(tile, lanes, code);
  code.close();
  for (int i = 0; i < tile.rows; ++i) {
    for (int j = 0; j < tile.vectors; ++j) {
      code.line("*reinterpret_cast<{}*>(c + {}) = {};", sum_vector(tile), i * tile.c_stride + j * lanes,
                sum_name(i, j));
    }
  }
  code.close();
}

}  // namespace ako::synth
