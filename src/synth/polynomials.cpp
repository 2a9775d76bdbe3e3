// SPDX-License-Identifier: Apache-2.0
// Vector support code as text, in GCC's vector extensions: no intrinsics header, which would take longer to
// parse than the kernel takes to compile.
//
// The coefficients are minimax fits (Remez exchange, relative error) made for this file; the error of each
// function against fp64 is held by tests/synth/vector_math_test.cpp.
#include "synth/polynomials.h"

#include <fmt/format.h>

#include <map>
#include <string_view>

namespace ako::synth {

namespace {

struct Piece {
  std::set<std::string> needs;
  std::string_view text;
};

const std::map<std::string, Piece, std::less<>>& pieces() {
  static const std::map<std::string, Piece, std::less<>> table = {
      {"v_splat", {{}, R"(inline vec v_splat(real_t x) { return x - vec{}; }
)"}},
      {"v_keep", {{"v_index"}, R"(// Lanes beyond the end of a row take the value that a reduction ignores.
inline vec v_keep(vec x, whole, real_t) { return x; }
inline vec v_keep(vec x, part n, real_t other) { return v_index(0) < n.count ? x : other - vec{}; }
)"}},
      {"v_where",
       {{}, R"(inline vec v_where(ivec mask, vec x, real_t other) { return mask ? x : other - vec{}; }
)"}},
      {"v_load",
       {{"v_load_part"},
        R"(inline vec v_load(const real_t* p, whole) { return *reinterpret_cast<const vec_at*>(p); }
inline vec v_load(const real_t* p, part n) { return v_load_part(p, n.count); }
)"}},
      {"v_store",
       {{"v_store_part"},
        R"(inline void v_store(real_t* p, vec x, whole) { *reinterpret_cast<vec_at*>(p) = x; }
inline void v_store(real_t* p, vec x, part n) { v_store_part(p, x, n.count); }
)"}},
      {"v_stream",
       {{"v_store", "v_nontemporal"},
        R"(// Past the caches where the address allows it: the row is not read before it is overwritten.
inline void v_stream(real_t* p, vec x, whole n) {
  if (reinterpret_cast<uintptr_t>(p) % sizeof(vec) == 0) v_nontemporal(p, x);
  else v_store(p, x, n);
}
inline void v_stream(real_t* p, vec x, part n) { v_store(p, x, n); }
)"}},
      {"v_load_bf16", {{"v_widen", "v_load_half_part"}, R"(inline vec v_load_bf16(const uint16_t* p, whole) {
  return (vec)(v_widen(*reinterpret_cast<const half_at*>(p)) << 16);
}
inline vec v_load_bf16(const uint16_t* p, part n) { return (vec)(v_widen(v_load_half_part(p, n.count)) << 16); }
)"}},
      {"v_bf16", {{"v_narrow"}, R"(inline half v_bf16(vec x) {  // to nearest even; a NaN stays one
  const word bits = (word)x;
  const word rounded = bits + 0x7fff + (bits >> 16 & 1);
  return v_narrow((x == x ? rounded : bits | 0x400000) >> 16);
}
)"}},
      {"v_store_bf16",  // beside v_bf16 or v_bf16_hardware
       {{"v_store_half_part"},
        R"(inline void v_store_bf16(uint16_t* p, vec x, whole) { *reinterpret_cast<half_at*>(p) = v_bf16(x); }
inline void v_store_bf16(uint16_t* p, vec x, part n) { v_store_half_part(p, v_bf16(x), n.count); }
)"}},
      {"v_stream_bf16",
       {{"v_store_bf16", "v_nontemporal_half"}, R"(inline void v_stream_bf16(uint16_t* p, vec x, whole n) {
  if (reinterpret_cast<uintptr_t>(p) % sizeof(half) == 0) v_nontemporal_half(p, v_bf16(x));
  else v_store_bf16(p, x, n);
}
inline void v_stream_bf16(uint16_t* p, vec x, part n) { v_store_bf16(p, x, n); }
)"}},
      {"v_load_f16", {{}, R"(template <class N>
inline vec v_load_f16(const uint16_t* p, N n) {
  vec x = {};
  for (int i = 0; i < n.count; ++i) x[i] = real_t(__builtin_bit_cast(_Float16, p[i]));
  return x;
}
)"}},
      {"v_store_f16", {{}, R"(template <class N>
inline void v_store_f16(uint16_t* p, vec x, N n) {
  for (int i = 0; i < n.count; ++i) p[i] = __builtin_bit_cast(uint16_t, _Float16(x[i]));
}
)"}},
      {"v_stream_f16", {{"v_store_f16"}, R"(template <class N>
inline void v_stream_f16(uint16_t* p, vec x, N n) {
  v_store_f16(p, x, n);
}
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
      {"v_sqrt", {{}, R"(inline vec v_sqrt(vec x) {
  for (int i = 0; i < lanes; ++i) x[i] = real_t(sizeof(real_t) == 4 ? __builtin_sqrtf(float(x[i])) : __builtin_sqrt(x[i]));
  return x;
}
)"}},
      {"v_rsqrt", {{"v_sqrt"}, R"(inline vec v_rsqrt(vec x) { return 1 / v_sqrt(x); }
)"}},
      {"v_sigmoid",
       {{"v_exp", "v_abs"}, R"(inline vec v_sigmoid(vec x) {  // by the exponential that cannot overflow
  const vec e = v_exp(-v_abs(x));
  return (x < 0 ? e : vec{} + 1) / (1 + e);
}
)"}},
      {"v_sigmoid_libm", {{"libm:expf", "libm:exp"}, R"(inline vec v_sigmoid_libm(vec x) {
  for (int i = 0; i < lanes; ++i) x[i] = 1 / (1 + (sizeof(real_t) == 4 ? real_t(expf(float(-x[i]))) : real_t(exp(-x[i]))));
  return x;
}
)"}},
      {"v_round", {{}, R"(// To the nearest whole number by adding 1.5 * 2^23, whose last bit is worth one.
inline vec v_round(vec x) { return (x + 0x1.8p23f) - 0x1.8p23f; }
)"}},
      {"v_scale",
       {{}, R"(inline vec v_scale(vec x, vec n) {  // x * 2^n in two steps, so that denormals come out right
  const ivec exponent = __builtin_convertvector(n, ivec), half = exponent >> 1;
  return x * (vec)((half + 127) << 23) * (vec)((exponent - half + 127) << 23);
}
)"}},
      {"v_exp_reduced", {{}, R"(inline vec v_exp_reduced(vec r) {  // e^r for |r| <= ln(2) / 2, to 4e-9
  vec p = 1.381314455e-3f * r + 8.369418827e-3f;
  p = p * r + 4.166845679e-2f;
  p = p * r + 1.666651479e-1f;
  p = p * r + 4.999999305e-1f;
  return p * (r * r) + r + 1;
}
)"}},
      {"v_exp",
       {{"v_round", "v_scale", "v_exp_reduced"},
        R"(inline vec v_exp(vec x) {  // 2^n * e^r with x = n * ln(2) + r
  x = -105 > x ? -105 - vec{} : x;  // below: zero; comparisons leave a NaN alone
  x = 90 < x ? 90 - vec{} : x;      // above: infinity
  const vec n = v_round(x * 1.44269504f);
  const vec r = x - n * 0.693145752f - n * 1.42860677e-6f;
  return v_scale(v_exp_reduced(r), n);
}
)"}},
      {"v_exp2", {{"v_round", "v_scale", "v_exp_reduced"}, R"(inline vec v_exp2(vec x) {
  x = -151 > x ? -151 - vec{} : x;
  x = 129 < x ? 129 - vec{} : x;
  const vec n = v_round(x);
  return v_scale(v_exp_reduced((x - n) * 0.693147181f), n);
}
)"}},
      {"v_log_parts",
       {{}, R"(// log(1 + f) for the mantissa 1 + f in [sqrt(1/2), sqrt(2)) of x, and the exponent.
inline vec v_log_parts(vec x, vec& exponent) {
  const ivec tiny = x < 0x1p-126f;
  x = tiny ? x * 0x1p24f : x;
  const ivec bits = (ivec)x - 0x3f3504f3;  // of sqrt(1/2)
  exponent = __builtin_convertvector(bits >> 23, vec) - (tiny ? vec{} + 24 : vec{});
  const vec f = (vec)((bits & 0x7fffff) + 0x3f3504f3) - 1;
  vec p = 6.746642102e-2f * f - 1.167565245e-1f;
  p = p * f + 1.188816188e-1f;
  p = p * f - 1.240558879e-1f;
  p = p * f + 1.421955240e-1f;
  p = p * f - 1.666799586e-1f;
  p = p * f + 2.000211866e-1f;
  p = p * f - 2.500000960e-1f;
  p = p * f + 3.333331260e-1f;
  return f + (p * f - 0.5f) * (f * f);
}
inline vec v_log_special(vec x, vec result) {
  result = x == 0 ? -__builtin_inff() - vec{} : result;
  result = x < 0 ? __builtin_nanf("") - vec{} : result;
  return x - x == 0 ? result : x < 0 ? __builtin_nanf("") - vec{} : x;
}
)"}},
      {"v_log", {{"v_log_parts"}, R"(inline vec v_log(vec x) {
  vec n;
  const vec m = v_log_parts(x, n);
  return v_log_special(x, m + n * 1.42860677e-6f + n * 0.693145752f);
}
)"}},
      {"v_log2", {{"v_log_parts"}, R"(inline vec v_log2(vec x) {
  vec n;
  const vec m = v_log_parts(x, n);
  return v_log_special(x, m * 1.44269504f + n);
}
)"}},
      {"v_tanh", {{"v_exp", "v_abs"}, R"(inline vec v_tanh(vec x) {
  const vec t = v_abs(x), z = x * x;
  vec p = -5.717045369e-3f * z + 2.065058764e-2f;
  p = p * z - 5.374349821e-2f;
  p = p * z + 1.333149129e-1f;
  p = p * z - 3.333328393e-1f;
  const vec small = p * (z * x) + x;
  const vec large = 1 - 2 / (v_exp(2 * t) + 1);
  return t < 0.625f ? small : x < 0 ? -large : large;
}
)"}},
      {"v_erf", {{"v_exp", "v_abs"}, R"(inline vec v_erf(vec x) {
  const vec z = x * x;
  vec p = 7.853861222e-5f * z - 8.010193590e-4f;
  p = p * z + 5.188327682e-3f;
  p = p * z - 2.685381193e-2f;
  p = p * z + 1.128358515e-1f;
  p = p * z - 3.761262582e-1f;
  const vec small = p * (z * x) + 1.128379166e+0f * x;
  vec t = v_abs(x);
  t = t > 4 ? 4 - vec{} : t;  // from there on the nearest float is 1
  vec q = -1.949457084e-4f * t + 3.033682754e-3f;  // -log(1 - erf(t))
  q = q * t - 2.218974063e-2f;
  q = q * t + 1.038563040e-1f;
  q = q * t + 6.372658277e-1f;
  q = q * t + 1.127627358e+0f;
  q = q * t + 2.070181126e-4f;
  const vec large = 1 - v_exp(-q);
  return z < 0.8836f ? small : x < 0 ? -large : x == x ? large : x;
}
)"}},
  };
  return table;
}

/// The first few lanes from and to memory: one masked instruction where there are 64-byte vectors, else one
/// by one.
std::string part_source(const std::string& name, const std::string& real, int lanes) {
  const bool halves = name.find("half") != std::string::npos, load = name.find("load") != std::string::npos;
  const std::string element = halves ? "uint16_t" : real, vector = halves ? "half" : "vec";
  std::string masked;
  if (lanes * (real == "double" ? 8 : 4) == 64) {
    const std::string kind = halves ? "dquhi256" : real == "double" ? "upd512" : "ups512";
    const std::string raw = halves ? "short" : real, lane_mask = "(1u << n) - 1";
    const std::string types = halves ? "  typedef short shorts __attribute__((vector_size(32)));\n" : "";
    const std::string cast = halves ? "(shorts)" : "";
    masked = "#if defined(__AVX512BW__) && defined(__AVX512VL__) && !defined(__clang__)\n" + types;
    masked +=
        load ? fmt::format(
                   "  return ({})__builtin_ia32_load{}_mask(reinterpret_cast<const {}*>(p), {}{}{{}}, {});\n",
                   vector, kind, raw, cast, vector, lane_mask)
             : fmt::format("  __builtin_ia32_store{}_mask(reinterpret_cast<{}*>(p), {}x, {});\n", kind, raw,
                           cast, lane_mask);
    masked += "#else\n";
  }
  const std::string end = masked.empty() ? "" : "#endif\n";
  if (load) {
    return fmt::format(
        "inline {0} {1}(const {2}* p, int n) {{\n{3}  {0} x = {{}};\n  for (int i = 0; i < n; ++i) x[i] = "
        "p[i];\n"
        "  return x;\n{4}}}\n",
        vector, name, element, masked, end);
  }
  return fmt::format(
      "inline void {1}({2}* p, {0} x, int n) {{\n{3}  for (int i = 0; i < n; ++i) p[i] = x[i];\n{4}}}\n",
      vector, name, element, masked, end);
}

// GCC 12 splits these conversions of 16 lanes into halves; the builtins are one instruction.
std::string widen_source(int lanes) {
  if (lanes != 16) return "inline word v_widen(half x) { return __builtin_convertvector(x, word); }\n";
  return R"(inline word v_widen(half x) {
#ifdef __clang__
  return __builtin_convertvector(x, word);
#else
  typedef short shorts __attribute__((vector_size(32)));
  return (word)__builtin_ia32_pmovzxwd512_mask((shorts)x, ivec{}, 0xffff);
#endif
}
)";
}

std::string narrow_source(int lanes) {
  if (lanes != 16) return "inline half v_narrow(word x) { return __builtin_convertvector(x, half); }\n";
  return R"(inline half v_narrow(word x) {
#ifdef __clang__
  return __builtin_convertvector(x, half);
#else
  typedef short shorts __attribute__((vector_size(32)));
  return (half)__builtin_ia32_pmovdw512_mask((ivec)x, shorts{}, 0xffff);
#endif
}
)";
}

constexpr std::string_view dot_pairs_source =
    R"(typedef int32_t pair_at __attribute__((aligned(2), may_alias));  // two bf16
#if defined(__clang__) || __GNUC__ >= 13
typedef __bf16 pairs __attribute__((vector_size(64)));
#else
typedef short pairs __attribute__((vector_size(64)));
#endif
inline vec v_dot_pairs(vec c, ivec a, ivec b) {
#ifdef __clang__
  return __builtin_ia32_dpbf16ps_512(c, (pairs)a, (pairs)b);
#else
  return __builtin_ia32_dpbf16ps_v16sf(c, (pairs)a, (pairs)b);
#endif
}
)";

constexpr std::string_view hardware_bf16_source = R"(inline half v_bf16(vec x) {  // denormals become zero
#ifdef __clang__
  return (half)__builtin_ia32_cvtneps2bf16_512(x);
#else
  return (half)__builtin_ia32_cvtneps2bf16_v16sf(x);
#endif
}
)";

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

/// A non-temporal store of a whole vector: GCC has one builtin per width, clang one for all.
std::string nontemporal_source(const std::string& function, const std::string& element,
                               const std::string& vector, int bytes) {
  std::string gcc;
  if (element == "uint16_t") {
    gcc = bytes == 64   ? "typedef long long I __attribute__((vector_size(64), may_alias));\n  "
                          "__builtin_ia32_movntdq512(reinterpret_cast<I*>(p), (I)x);"
          : bytes == 32 ? "typedef long long I __attribute__((vector_size(32), may_alias));\n  "
                          "__builtin_ia32_movntdq256(reinterpret_cast<I*>(p), (I)x);"
          : bytes == 16 ? "typedef long long I __attribute__((vector_size(16), may_alias));\n  "
                          "__builtin_ia32_movntdq(reinterpret_cast<I*>(p), (I)x);"
                        : "*reinterpret_cast<half_at*>(p) = x;";
  } else {
    const std::string kind = element == "double" ? "pd" : "ps";
    gcc = bytes == 64   ? "__builtin_ia32_movnt" + kind + "512(p, x);"
          : bytes == 32 ? "__builtin_ia32_movnt" + kind + "256(p, x);"
          : bytes == 16 ? "__builtin_ia32_movnt" + kind + "(p, x);"
                        : "*reinterpret_cast<vec_at*>(p) = x;";
  }
  return fmt::format(R"(inline void {0}({1}* p, {2} x) {{
#ifdef __clang__
  __builtin_nontemporal_store(x, reinterpret_cast<{2}*>(p));
#else
  {3}
#endif
}}
)",
                     function, element, vector, gcc);
}

}  // namespace

bool has_polynomial(Op op) {
  return op == Op::exp || op == Op::exp2 || op == Op::log || op == Op::log2 || op == Op::tanh ||
         op == Op::erf;
}

std::set<std::string> vector_support_needs(const std::string& name) {
  const auto piece = pieces().find(name);
  return piece == pieces().end() ? std::set<std::string>{} : piece->second.needs;
}

std::string vector_support_source(const std::string& name, const std::string& real, int lanes) {
  if (name.ends_with("_part")) return part_source(name, real, lanes);
  if (name == "v_widen") return widen_source(lanes);
  if (name == "v_narrow") return narrow_source(lanes);
  if (name == "v_dot_pairs") return std::string(dot_pairs_source);
  if (name == "v_index") return index_source(lanes);
  if (name == "v_fold") return fold_source(lanes);
  const int bytes = lanes * (real == "double" ? 8 : 4);
  if (name == "v_nontemporal") return nontemporal_source(name, real, "vec", bytes);
  if (name == "v_nontemporal_half") return nontemporal_source(name, "uint16_t", "half", bytes / 2);
  if (name == "v_scale" && lanes == 16 && real == "float") {
    return "inline vec v_scale(vec x, vec n) { return __builtin_ia32_scalefps512_mask(x, n, x, -1, 4); }\n";
  }
  if (name == "v_bf16_hardware") return std::string(hardware_bf16_source);
  const auto piece = pieces().find(name);
  return piece == pieces().end() ? std::string{} : std::string(piece->second.text);
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
