// SPDX-License-Identifier: Apache-2.0
// Elementary functions on vectors of floats.
//
// The coefficients are minimax fits (Remez exchange, relative error) made for this file; the error of each
// function against fp64 is held by tests/synth/vector_math_test.cpp.
#include "synth/polynomials.h"

#include <fmt/format.h>

#include <map>
#include <string_view>

namespace ako::synth {

const VectorPieces& polynomial_pieces() {
  static const VectorPieces table = {
      {"v_sigmoid",
       {{"v_exp", "v_abs"}, R"(inline vec v_sigmoid(vec x) {  // by the exponential that cannot overflow
  const vec e = v_exp(-v_abs(x));
  return (x < 0 ? e : vec{} + 1) / (1 + e);
}
)"}},
      {"v_exp_short", {{"v_exp2_short"}, ""}},  // text below
      {"v_exp2_short", {{"v_round"}, ""}},
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

namespace {

// Two instructions of AVX-512 do the reduction: what is left after the whole part, and the scaling by it.
constexpr std::string_view short_exp2_512 =
    R"(inline vec v_exp2(vec t) {  // 2^whole * 2^rest, the rest in [0, 1): to 1e-7
#ifdef __clang__
  const vec r = __builtin_ia32_reduceps512_mask(t, 1, vec{}, 0xffff, 4);
#else
  const vec r = __builtin_ia32_reduceps512_mask(t, 1, vec{}, 0xffff);
#endif
  vec p = 1.8775788e-3f * r + 8.98933344e-3f;
  p = p * r + 5.58263254e-2f;
  p = p * r + 2.40153614e-1f;
  p = p * r + 6.93153074e-1f;
  p = p * r + 9.99999925e-1f;
  return __builtin_ia32_scalefps512_mask(p, t, p, 0xffff, 4);
}
)";

constexpr std::string_view short_exp2_any =
    R"(inline vec v_exp2(vec t) {  // 2^whole * 2^rest, the rest within 1/2 of zero: to 1e-7
  t = -127 > t ? -127 - vec{} : t;  // below: zero; comparisons leave a NaN alone
  t = 128 < t ? 128 - vec{} : t;    // above: infinity
  const vec n = v_round(t), r = t - n;
  vec p = 1.3276487e-3f * r + 9.67554e-3f;
  p = p * r + 5.55071323e-2f;
  p = p * r + 2.40221198e-1f;
  p = p * r + 6.93146967e-1f;
  p = p * r + 1;
  return p * (vec)((__builtin_convertvector(n, ivec) + 127) << 23);
}
)";

constexpr std::string_view short_exp =
    R"(inline vec v_exp(vec x) { return v_exp2(x * 1.44269504f); }  // x log2(e) rounds once: |x| * 6e-8
)";

}  // namespace

bool has_polynomial(Op op) {
  return op == Op::exp || op == Op::exp2 || op == Op::log || op == Op::log2 || op == Op::tanh ||
         op == Op::erf;
}

std::string polynomial_source(const std::string& name, bool wide, int lanes) {
  if (wide) return {};
  if (name == "v_scale" && lanes == 16)
    return "inline vec v_scale(vec x, vec n) { return __builtin_ia32_scalefps512_mask(x, n, x, -1, 4); }\n";
  if (name == "v_exp_short") return std::string(short_exp);
  if (name == "v_exp2_short") return std::string(lanes == 16 ? short_exp2_512 : short_exp2_any);
  return {};
}

}  // namespace ako::synth
