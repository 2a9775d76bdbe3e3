// SPDX-License-Identifier: Apache-2.0
// Elementary functions on vectors of doubles. exp and log by their Taylor series on reduced arguments (of
// which twelve terms reach past 2^-53), erf by minimax fits made for this file; their errors are held by
// tests/synth/vector_math_test.cpp.
#include "synth/polynomials.h"

namespace ako::synth {

const VectorPieces& wide_polynomial_pieces() {
  static const VectorPieces table = {
      {"v_round", {{}, R"(// To the nearest whole number by adding 1.5 * 2^52, whose last bit is worth one.
inline vec v_round(vec x) { return (x + 0x1.8p52) - 0x1.8p52; }
)"}},
      {"v_scale",
       {{}, R"(inline vec v_scale(vec x, vec n) {  // x * 2^n in two steps, so that denormals come out right
  const ivec exponent = (ivec)(n + 0x1.8p52) - (ivec)(vec{} + 0x1.8p52), half = exponent >> 1;
  return x * (vec)((half + 1023) << 52) * (vec)((exponent - half + 1023) << 52);
}
)"}},
      {"v_exp_reduced", {{}, R"(inline vec v_exp_reduced(vec r) {  // e^r - 1 for |r| <= ln(2) / 2
  vec p = 1.6059043836821613e-10 * r + 2.0876756987868100e-09;
  p = p * r + 2.5052108385441720e-08;
  p = p * r + 2.7557319223985888e-07;
  p = p * r + 2.7557319223985893e-06;
  p = p * r + 2.4801587301587302e-05;
  p = p * r + 1.9841269841269841e-04;
  p = p * r + 1.3888888888888889e-03;
  p = p * r + 8.3333333333333332e-03;
  p = p * r + 4.1666666666666664e-02;
  p = p * r + 1.6666666666666666e-01;
  p = p * r + 5.0000000000000000e-01;
  return p * (r * r) + r;
}
)"}},
      {"v_exp",
       {{"v_round", "v_scale", "v_exp_reduced"},
        R"(inline vec v_exp(vec x) {  // 2^n * e^r with x = n * ln(2) + r
  x = -746 > x ? -746 - vec{} : x;  // below: zero; comparisons leave a NaN alone
  x = 710 < x ? 710 - vec{} : x;    // above: infinity
  const vec n = v_round(x * 1.4426950408889634);
  const vec r = x - n * 6.93147180369123816490e-1 - n * 1.90821492927058770002e-10;
  return v_scale(v_exp_reduced(r) + 1, n);
}
)"}},
      {"v_exp2", {{"v_round", "v_scale", "v_exp_reduced"}, R"(inline vec v_exp2(vec x) {
  x = -1077 > x ? -1077 - vec{} : x;
  x = 1025 < x ? 1025 - vec{} : x;
  const vec n = v_round(x);
  return v_scale(v_exp_reduced((x - n) * 0.6931471805599453) + 1, n);
}
)"}},
      {"v_log_parts",
       {{}, R"(// log(1 + f) for the mantissa 1 + f in [sqrt(1/2), sqrt(2)) of x, and the exponent.
inline vec v_log_parts(vec x, vec& exponent) {
  const ivec tiny = x < 0x1p-1022;
  x = tiny ? x * 0x1p54 : x;
  const ivec bits = (ivec)x - 0x3fe6a09e667f3bcd;  // of sqrt(1/2)
  exponent = (vec)((bits >> 52) + (ivec)(vec{} + 0x1.8p52)) - 0x1.8p52 - (tiny ? vec{} + 54 : vec{});
  const vec f = (vec)((bits & 0xfffffffffffff) + 0x3fe6a09e667f3bcd) - 1;
  const vec s = f / (2 + f), z = s * s, half = 0.5 * f * f;  // log(1 + f) = 2 atanh(s)
  vec p = 9.5238095238095233e-02 * z + 1.0526315789473684e-01;
  p = p * z + 1.1764705882352941e-01;
  p = p * z + 1.3333333333333333e-01;
  p = p * z + 1.5384615384615385e-01;
  p = p * z + 1.8181818181818182e-01;
  p = p * z + 2.2222222222222221e-01;
  p = p * z + 2.8571428571428570e-01;
  p = p * z + 4.0000000000000002e-01;
  p = p * z + 6.6666666666666663e-01;
  return f - (half - s * (half + p * z));
}
inline vec v_log_special(vec x, vec result) {
  result = x == 0 ? -__builtin_inf() - vec{} : result;
  result = x < 0 ? __builtin_nan("") - vec{} : result;
  return x - x == 0 ? result : x < 0 ? __builtin_nan("") - vec{} : x;
}
)"}},
      {"v_log", {{"v_log_parts"}, R"(inline vec v_log(vec x) {
  vec n;
  const vec m = v_log_parts(x, n);
  return v_log_special(x, m + n * 1.90821492927058770002e-10 + n * 6.93147180369123816490e-1);
}
)"}},
      {"v_log2", {{"v_log_parts"}, R"(inline vec v_log2(vec x) {
  vec n;
  const vec m = v_log_parts(x, n);
  return v_log_special(x, m * 1.4426950408889634 + n);
}
)"}},
      {"v_tanh", {{"v_exp_reduced", "v_round", "v_scale", "v_abs"}, R"(inline vec v_tanh(vec x) {
  vec t = v_abs(x);
  t = t > 22 ? 22 - vec{} : t;  // from there on the nearest double is 1
  const vec n = v_round(2 * t * 1.4426950408889634);
  const vec r = 2 * t - n * 6.93147180369123816490e-1 - n * 1.90821492927058770002e-10;
  const vec power = v_scale(vec{} + 1, n), less_one = power * v_exp_reduced(r) + (power - 1);  // e^2t - 1
  const vec y = less_one / (less_one + 2);
  return x < 0 ? -y : x == x ? y : x;
}
)"}},
      {"v_erf", {{"v_exp", "v_abs"}, R"(inline vec v_erf(vec x) {
  const vec z = x * x;
  vec p = 6.2838474421979544e-11 * z - 1.1549740330843528e-09;
  p = p * z + 1.4701658844466421e-08;
  p = p * z - 1.6356005466609824e-07;
  p = p * z + 1.6461490709095608e-06;
  p = p * z - 1.4925623117124019e-05;
  p = p * z + 1.2055332165583362e-04;
  p = p * z - 8.5483270070422124e-04;
  p = p * z + 5.2239776252302767e-03;
  p = p * z - 2.6866170645114956e-02;
  p = p * z + 1.1283791670955061e-01;
  p = p * z - 3.7612638903183754e-01;
  p = p * z + 1.1283791670955126e+00;
  vec t = v_abs(x);
  t = t > 6 ? 6 - vec{} : t;  // from there on the nearest double is 1
  // -log(1 - erf(t))
  vec q = -1.5063558842901450e-14 * t + 8.8412405064370019e-13;
  q = q * t - 2.4441562314741689e-11;
  q = q * t + 4.2329080878084779e-10;
  q = q * t - 5.1507914536071558e-09;
  q = q * t + 4.6788576063868931e-08;
  q = q * t - 3.2867138550064866e-07;
  q = q * t + 1.8212329403446506e-06;
  q = q * t - 8.0170328155979305e-06;
  q = q * t + 2.7788985619342509e-05;
  q = q * t - 7.2908356325333281e-05;
  q = q * t + 1.2624477297040065e-04;
  q = q * t - 4.5943127154282902e-05;
  q = q * t - 5.2230238397708384e-04;
  q = q * t + 1.6446472466608067e-03;
  q = q * t - 1.7812631337514842e-04;
  q = q * t - 1.9142930260124733e-02;
  q = q * t + 1.0277763294066929e-01;
  q = q * t + 6.3661854956428243e-01;
  q = q * t + 1.1283793524578984e+00;
  q = q * t - 1.3160138088451779e-08;
  const vec large = 1 - v_exp(-q);
  return z < 0.8836 ? p * x : x < 0 ? -large : x == x ? large : x;
}
)"}},
  };
  return table;
}

}  // namespace ako::synth
