// SPDX-License-Identifier: Apache-2.0
// Vector support code as text, in GCC's vector extensions: no intrinsics header, which would take longer to
// parse than the kernel takes to compile.
#include <fmt/format.h>

#include <functional>
#include <map>
#include <string_view>

#include "synth/polynomials.h"

namespace ako::synth {

namespace {

const VectorPieces& lane_pieces() {
  static const VectorPieces table = {
      {"v_splat", {{}, R"(inline vec v_splat(real_t x) { return x - vec{}; }
)"}},
      {"v_keep", {{"v_index"}, R"(// Lanes beyond the end of a row take the value that a reduction ignores.
inline vec v_keep(vec x, whole, real_t) { return x; }
inline vec v_keep(vec x, part n, real_t other) { return v_index(0) < n.count ? x : other - vec{}; }
)"}},
      {"v_where",
       {{}, R"(inline vec v_where(ivec mask, vec x, real_t other) { return mask ? x : other - vec{}; }
)"}},
      {"v_each", {{}, R"(// What has no vector form, element by element.
template <class N, class F>
inline vec v_each(int64_t first, N n, F f) {
  vec x = {};
  for (int i = 0; i < n.count; ++i) x[i] = f(first + i, i);
  return x;
}
)"}},
      {"v_each_mask", {{}, R"(template <class N, class F>
inline ivec v_each_mask(int64_t first, N n, F f) {
  ivec x = {};
  for (int i = 0; i < n.count; ++i) x[i] = -lane_int(f(first + i, i));
  return x;
}
)"}},
      {"v_sum",
       {{"v_fold"}, R"(inline real_t v_sum(vec x) { return v_fold(x, [](vec a, vec b) { return a + b; }); }
)"}},
      {"v_prod",
       {{"v_fold"}, R"(inline real_t v_prod(vec x) { return v_fold(x, [](vec a, vec b) { return a * b; }); }
)"}},
      {"v_max",
       {{"v_fold", "larger"},
        R"(inline real_t v_max(vec x) { return v_fold(x, [](vec a, vec b) { return larger(a, b); }); }
)"}},
      {"v_min",
       {{"v_fold", "smaller"},
        R"(inline real_t v_min(vec x) { return v_fold(x, [](vec a, vec b) { return smaller(a, b); }); }
)"}},
      {"v_abs", {{}, R"(inline vec v_abs(vec x) { return x < 0 ? -x : x + 0; }
)"}},
      {"v_rsqrt", {{"v_sqrt"}, R"(inline vec v_rsqrt(vec x) { return 1 / v_sqrt(x); }
)"}},
      {"v_sigmoid_libm", {{"libm:expf", "libm:exp"}, R"(inline vec v_sigmoid_libm(vec x) {
  for (int i = 0; i < lanes; ++i) x[i] = 1 / (1 + (sizeof(real_t) == 4 ? real_t(expf(float(-x[i]))) : real_t(exp(-x[i]))));
  return x;
}
)"}},
  };
  return table;
}

std::string index_source(int lanes) {
  std::string numbers;
  for (int i = 0; i < lanes; ++i) numbers += fmt::format("{}{}", i == 0 ? "" : ", ", i);
  return fmt::format("inline ivec v_index(int64_t first) {{ return ivec{{{}}} + lane_int(first); }}\n",
                     numbers);
}

/// Halves onto each other until one lane is left. The permutations are spelled out: built by a loop they
/// would not be constants to the compiler.
std::string fold_source(int lanes) {
  std::string text = "template <class Op>\ninline real_t v_fold(vec x, Op op) {  // halves onto each other\n";
  for (int step = lanes / 2; step > 0; step /= 2) {
    text += "  x = op(x, __builtin_shuffle(x, ivec{";
    for (int i = 0; i < lanes; ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", (i + step) % lanes);
    text += "}));\n";
  }
  return text + "  return x[0];\n}\n";
}

std::string shuffle_mask(int lanes, const std::function<int(int)>& from) {
  std::string text = "ivec{";
  for (int i = 0; i < lanes; ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", from(i));
  return text + "}";
}

/// Lanes moved up by `step`; those that come free take the lanes of a second vector.
std::string moved_up(int lanes, int step) {
  return shuffle_mask(lanes, [&](int i) { return i < step ? lanes + i : i - step; });
}

std::string prefix_source(int lanes) {
  std::string text =
      "template <class Op>\ninline vec v_prefix(vec x, real_t identity, Op op) {  // by doubling distances\n"
      "  const vec none = identity - vec{};\n";
  for (int step = 1; step < lanes; step *= 2)
    text += fmt::format("  x = op(__builtin_shuffle(x, none, {}), x);\n", moved_up(lanes, step));
  return text + "  return x;\n}\n";
}

/// A square of vectors, rows to columns: in each round halves of pairs of rows change places.
std::string transpose_source(int lanes) {
  std::string text = "inline void v_transpose(vec (&v)[lanes]) {\n";
  for (int half = lanes / 2; half > 0; half /= 2) {
    const auto low = shuffle_mask(lanes, [&](int i) { return i & half ? lanes + i - half : i; });
    const auto high = shuffle_mask(lanes, [&](int i) { return i & half ? lanes + i : i + half; });
    text += fmt::format(
        "  for (int i = 0; i < lanes; ++i) {{\n    if (i & {0}) continue;\n    const vec a = v[i], b = v[i + "
        "{0}];\n"
        "    v[i] = __builtin_shuffle(a, b, {1});\n    v[i + {0}] = __builtin_shuffle(a, b, {2});\n  }}\n",
        half, low, high);
  }
  return text + "}\n";
}

/// One instruction; GCC would take a loop over lanes apart.
std::string sqrt_source(bool wide, int lanes) {
  const int bytes = lanes * (wide ? 8 : 4);
  const std::string name = fmt::format("__builtin_ia32_sqrtp{}", wide ? "d" : "s");
  std::string gcc = bytes == 64   ? fmt::format("{}512_mask(x, x, -1, 4)", name)
                    : bytes == 32 ? name + "256(x)"
                                  : name + "(x)";
  return fmt::format(R"(inline vec v_sqrt(vec x) {{
#ifdef __clang__
  return __builtin_elementwise_sqrt(x);
#else
  return {};
#endif
}}
)",
                     gcc);
}

std::string place_source(const std::string& name) {
  return fmt::format(R"(inline int64_t {}(vec best, ivec step) {{  // of equal ones the first
  int64_t where = int64_t(step[0]) * lanes;
  real_t value = best[0];
  for (int i = 1; i < lanes; ++i) {{
    const int64_t here = int64_t(step[i]) * lanes + i;
    if (best[i] {} value || (best[i] == value && here < where)) value = best[i], where = here;
  }}
  return where;
}}
)",
                     name, name == "v_place_of_largest" ? ">" : "<");
}

/// Tables in the order in which they are asked; polynomials in doubles stand before those in floats.
const VectorPiece* find_piece(const std::string& name, bool wide) {
  if (wide) {
    if (const auto found = wide_polynomial_pieces().find(name); found != wide_polynomial_pieces().end())
      return &found->second;
  }
  for (const VectorPieces* table : {&lane_pieces(), &memory_pieces(), &polynomial_pieces()}) {
    if (const auto found = table->find(name); found != table->end()) return &found->second;
  }
  return nullptr;
}

}  // namespace

std::set<std::string> vector_support_needs(const std::string& name, bool wide) {
  const VectorPiece* piece = find_piece(name, wide);
  return piece == nullptr ? std::set<std::string>{} : piece->needs;
}

std::string vector_support_source(const std::string& name, const std::string& real, int lanes) {
  if (name == "v_index") return index_source(lanes);
  if (name == "v_fold") return fold_source(lanes);
  if (name == "v_sqrt") return sqrt_source(real == "double", lanes);
  if (name == "v_prefix") return prefix_source(lanes);
  if (name == "v_transpose") return transpose_source(lanes);
  if (name == "v_last")
    return fmt::format("inline vec v_last(vec x) {{ return x[{}] - vec{{}}; }}\n", lanes - 1);
  if (name == "v_shift") {
    return fmt::format(
        "inline vec v_shift(vec x, real_t first) {{ return __builtin_shuffle(x, first - vec{{}}, {}); }}\n",
        moved_up(lanes, 1));
  }
  if (name.starts_with("v_place_of_")) return place_source(name);
  if (std::string text = memory_source(name, real, lanes); !text.empty()) return text;
  const bool wide = real == "double";
  if (std::string text = polynomial_source(name, wide, lanes); !text.empty()) return text;
  const VectorPiece* piece = find_piece(name, wide);
  return piece == nullptr ? std::string{} : std::string(piece->text);
}

std::string vector_types_source(const std::string& real, int lanes) {
  const bool wide = real == "double";
  std::string text =
      fmt::format(R"(using real_t = {0};
using lane_int = {1};
constexpr int lanes = {2};
typedef real_t vec __attribute__((vector_size({3})));
typedef lane_int ivec __attribute__((vector_size({3})));
typedef real_t vec_at __attribute__((vector_size({3}), aligned({4}), may_alias));  // anywhere in memory
)",
                  real, wide ? "int64_t" : "int32_t", lanes, lanes * (wide ? 8 : 4), wide ? 8 : 4);
  if (!wide) {
    text += fmt::format(R"(typedef uint32_t word __attribute__((vector_size({0})));
typedef uint16_t half __attribute__((vector_size({1})));
typedef uint16_t half_at __attribute__((vector_size({1}), aligned(2), may_alias));
)",
                        lanes * 4, lanes * 2);
  }
  return text + R"(struct whole {  // all lanes
  static constexpr int count = lanes;
};
struct part {  // the first few
  int count;
};
)";
}

}  // namespace ako::synth
