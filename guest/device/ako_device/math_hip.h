// SPDX-License-Identifier: Apache-2.0
// Elementary functions for AMD's targets without device libraries. In f64 from their series and the usual
// argument reductions (Muller, "Elementary Functions", chapters 3 and 11), to a few ulp; f32 ones that clang
// does not lower go through f64, which these targets compute at half the rate of f32 or better.
#pragma once

namespace ako {

AKO_DEVICE f32 fma(f32 a, f32 b, f32 c) { return __builtin_elementwise_fma(a, b, c); }
AKO_DEVICE f64 fma(f64 a, f64 b, f64 c) { return __builtin_elementwise_fma(a, b, c); }
AKO_DEVICE f32 sqrt(f32 x) { return __builtin_elementwise_sqrt(x); }
AKO_DEVICE f64 sqrt(f64 x) { return __builtin_elementwise_sqrt(x); }
AKO_DEVICE f32 floor(f32 x) { return __builtin_elementwise_floor(x); }
AKO_DEVICE f64 floor(f64 x) { return __builtin_elementwise_floor(x); }
AKO_DEVICE f32 ceil(f32 x) { return __builtin_elementwise_ceil(x); }
AKO_DEVICE f64 ceil(f64 x) { return __builtin_elementwise_ceil(x); }
AKO_DEVICE f32 trunc(f32 x) { return __builtin_elementwise_trunc(x); }
AKO_DEVICE f64 trunc(f64 x) { return __builtin_elementwise_trunc(x); }
AKO_DEVICE f32 round(f32 x) { return __builtin_elementwise_roundeven(x); }
AKO_DEVICE f64 round(f64 x) { return __builtin_elementwise_roundeven(x); }
AKO_DEVICE f32 abs(f32 x) { return __builtin_elementwise_abs(x); }
AKO_DEVICE f64 abs(f64 x) { return __builtin_elementwise_abs(x); }
AKO_DEVICE f32 exp(f32 x) { return __builtin_elementwise_exp(x); }
AKO_DEVICE f32 exp2(f32 x) { return __builtin_elementwise_exp2(x); }
AKO_DEVICE f32 log(f32 x) { return __builtin_elementwise_log(x); }
AKO_DEVICE f32 log2(f32 x) { return __builtin_elementwise_log2(x); }

namespace detail {

constexpr f64 ln2_high = 0x1.62e42fefa3800p-1,
              ln2_low = 0x1.ef35793c76730p-45;  // the first has 11 spare bits
constexpr f64 infinity = __builtin_huge_val();

/// x * 2^n, in two steps so that results below the normal range come out right.
AKO_DEVICE f64 scale(f64 x, int n) {
  int half = n >> 1;
  return x * bits_as<f64>(u64(half + 1023) << 52) * bits_as<f64>(u64(n - half + 1023) << 52);
}
/// e^r - 1 for |r| <= ln(2) / 2: Taylor to r^14, by Horner. The remainder is below 2^-58 of r.
AKO_DEVICE f64 expm1_reduced(f64 r) {
  f64 p = 1;
  AKO_UNROLL
  for (int n = 14; n >= 2; --n) p = fma(p, r * (1.0 / n), 1.0);
  return p * r;
}
/// log(1 + f) for 1 + f in [sqrt(1/2), sqrt(2)]: 2 atanh(s), s = f / (2 + f), |s| <= 0.1716, to s^23.
AKO_DEVICE f64 log1p_reduced(f64 f) {
  f64 s = f / (2 + f), z = s * s, p = 0;
  AKO_UNROLL
  for (int n = 23; n >= 3; n -= 2) p = fma(p, z, 1.0 / n);
  // 2s = f - s f: keeps f's own digits.
  return f - s * (f - 2 * z * p);
}
/// x = (1 + f) * 2^exponent.
AKO_DEVICE f64 mantissa_less_one(f64 x, int& exponent) {
  int extra = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    extra = 54;
  }
  u64 bits = bits_as<u64>(x) - 0x3FE6A09E667F3BCDul;  // of sqrt(1/2)
  exponent = int(i64(bits) >> 52) - extra;
  return bits_as<f64>((bits & 0xFFFFFFFFFFFFFul) + 0x3FE6A09E667F3BCDul) - 1;
}
AKO_DEVICE bool log_is_special(f64 x, f64& value) {
  value = x == 0 ? -infinity : x < 0 ? __builtin_nan("") : x;
  return !(x > 0) || x == infinity;
}
/// x = n * (pi/2) + r, |r| <= pi/4, for |x| < 2^30 to about 2^-53 absolute times |x| 2^-53; returns n mod 4.
/// pi/2 in three parts, the products exact by fma (Cody and Waite).
AKO_DEVICE int reduce_quarter_turns(f64 x, f64& r) {
  f64 n = round(x * 0x1.45f306dc9c883p-1);
  r = fma(-n, 0x1.921fb54442d18p+0, x);
  r = fma(-n, 0x1.1a62633145c07p-54, r);
  r = fma(-n, -0x1.f1976b7ed8fbcp-110, r);
  return int(i64(n) & 3);
}
AKO_DEVICE f64 sin_reduced(f64 r) {
  f64 z = r * r, p = 1;
  AKO_UNROLL
  for (int n = 19; n >= 3; n -= 2) p = fma(p, z * (-1.0 / (n * (n - 1))), 1.0);
  return p * r;
}
AKO_DEVICE f64 cos_reduced(f64 r) {
  f64 z = r * r, p = 1;
  AKO_UNROLL
  for (int n = 18; n >= 2; n -= 2) p = fma(p, z * (-1.0 / (n * (n - 1))), 1.0);
  return p;
}
AKO_DEVICE f64 sin_turned(f64 x, int quarters) {
  f64 r;
  int n = reduce_quarter_turns(x, r) + quarters;
  f64 y = n & 1 ? cos_reduced(r) : sin_reduced(r);
  return n & 2 ? -y : y;
}
/// atan(x) for 0 <= x <= tan(pi/16), by its series to x^21.
AKO_DEVICE f64 atan_reduced(f64 x) {
  f64 z = -x * x, p = 0;
  AKO_UNROLL
  for (int n = 23; n >= 3; n -= 2) p = fma(p, z, 1.0 / n);
  return fma(x * z, p, x);
}
/// x >= 0. The argument is turned by pi/8 as often as needed: atan(x) = k pi/8 + atan((x - t) / (1 + x t)).
AKO_DEVICE f64 atan_positive(f64 x) {
  constexpr f64 pi_8 = 0x1.921fb54442d18p-2;
  bool over = x > 1;
  f64 y = over ? 1 / x : x;
  f64 base = 0;
  if (y > 0.66817863791929891) {  // tan(3 pi/16)
    y = (y - 1) / (1 + y);
    base = 2 * pi_8;
  } else if (y > 0.19891236737965800) {  // tan(pi/16)
    constexpr f64 t = 0.41421356237309505;
    y = (y - t) / fma(y, t, 1.0);
    base = pi_8;
  }
  f64 a = y < 0 ? -atan_reduced(-y) : atan_reduced(y);
  return over ? 4 * pi_8 - (base + a) : base + a;
}

}  // namespace detail

AKO_DEVICE f64 exp(f64 x) {
  if (!(x < 710)) return x > 0 ? detail::infinity : x;  // a NaN falls through as itself
  if (x < -746) return 0;
  f64 n = round(x * 0x1.71547652b82fep+0);
  f64 r = fma(-n, detail::ln2_low, fma(-n, detail::ln2_high, x));
  return detail::scale(1 + detail::expm1_reduced(r), int(n));
}
AKO_DEVICE f64 exp2(f64 x) {
  if (!(x < 1024)) return x > 0 ? detail::infinity : x;
  if (x < -1076) return 0;
  f64 n = round(x), r = x - n;
  return detail::scale(1 + detail::expm1_reduced(r * 0x1.62e42fefa39efp-1), int(n));
}
AKO_DEVICE f64 expm1(f64 x) { return abs(x) < 0.34 ? detail::expm1_reduced(x) : exp(x) - 1; }
AKO_DEVICE f64 log(f64 x) {
  f64 special;
  if (detail::log_is_special(x, special)) return special;
  int exponent;
  f64 f = detail::mantissa_less_one(x, exponent), n = exponent;
  return fma(n, detail::ln2_high, fma(n, detail::ln2_low, detail::log1p_reduced(f)));
}
AKO_DEVICE f64 log2(f64 x) {
  f64 special;
  if (detail::log_is_special(x, special)) return special;
  int exponent;
  f64 f = detail::mantissa_less_one(x, exponent);
  return exponent + detail::log1p_reduced(f) * 0x1.71547652b82fep+0;
}
AKO_DEVICE f64 log1p(f64 x) {
  if (x > -0.29 && x < 0.41) return detail::log1p_reduced(x);
  return log(1 + x);
}
AKO_DEVICE f64 sin(f64 x) { return detail::sin_turned(x, 0); }
AKO_DEVICE f64 cos(f64 x) { return detail::sin_turned(x, 1); }
AKO_DEVICE f64 tan(f64 x) {
  f64 r;
  int n = detail::reduce_quarter_turns(x, r);
  f64 s = detail::sin_reduced(r), c = detail::cos_reduced(r);
  return n & 1 ? -c / s : s / c;
}
AKO_DEVICE f64 sinh(f64 x) {
  f64 a = abs(x);
  f64 y = a < 0.34 ? 0 : 0.5 * exp(a > 700 ? a - 0x1p-1 : a);
  if (a < 0.34) {
    f64 e = expm1(a);
    y = 0.5 * (e + e / (e + 1));
  } else {
    y = a > 700 ? y * 0x1.a61298e1e069cp+0 : y - 0.25 / y;  // times sqrt(e): half the power would overflow
  }
  return x < 0 ? -y : y;
}
AKO_DEVICE f64 cosh(f64 x) {
  f64 a = abs(x);
  if (a > 700) return 0.5 * exp(a - 0.5) * 0x1.a61298e1e069cp+0;
  f64 e = 0.5 * exp(a);
  return e + 0.25 / e;
}
AKO_DEVICE f64 tanh(f64 x) {
  f64 a = abs(x);
  f64 e = expm1(2 * (a < 20 ? a : 20));
  f64 y = a < 20 ? e / (e + 2) : 1;
  if (x != x) return x;
  return x < 0 ? -y : y;
}
AKO_DEVICE f64 atan(f64 x) {
  return x < 0 ? -detail::atan_positive(-x) : x == x ? detail::atan_positive(x) : x;
}
AKO_DEVICE f64 asin(f64 x) { return 2 * atan(x / (1 + sqrt((1 - x) * (1 + x)))); }
AKO_DEVICE f64 acos(f64 x) { return 2 * atan(sqrt((1 - x) / (1 + x))); }
AKO_DEVICE f64 atan2(f64 y, f64 x) {
  if (x != x || y != y) return x + y;
  constexpr f64 pi = 0x1.921fb54442d18p+1;
  f64 ay = abs(y), ax = abs(x);
  f64 a = ax == 0 && ay == 0                   ? 0
          : ax == detail::infinity && ay == ax ? pi / 4
          : ax > ay                            ? detail::atan_positive(ay / ax)
                                               : pi / 2 - detail::atan_positive(ax / ay);
  bool left = bits_as<i64>(x) < 0, below = bits_as<i64>(y) < 0;
  if (left) a = pi - a;
  return below ? -a : a;
}
/// By the series e^(-x²) Σ 2^n x^(2n+1) / (2n+1)!!, whose terms are all of one sign, below 2.5; by the
/// continued fraction of the complement above (Abramowitz and Stegun 7.1.6, 7.1.14).
AKO_DEVICE f64 erf(f64 x) {
  f64 a = abs(x), y;
  constexpr f64 two_over_root_pi = 0x1.20dd750429b6dp+0;
  if (a < 2.5) {
    f64 term = a, sum = a, z = 2 * a * a;
    for (int n = 1; n <= 45; ++n) {
      term *= z / (2 * n + 1);
      sum += term;
    }
    y = two_over_root_pi * exp(-a * a) * sum;
  } else {
    f64 fraction = 0;
    for (int n = 60; n >= 1; --n) fraction = 0.5 * n / (a + fraction);
    y = 1 - (a < 6 ? 0.5 * two_over_root_pi * exp(-a * a) / (a + fraction) : 0);
  }
  if (x != x) return x;
  return x < 0 ? -y : y;
}
/// Relative error about |y log(x)| 2^-53.
AKO_DEVICE f64 pow(f64 x, f64 y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return x + y;
  bool whole = trunc(y) == y, odd = whole && trunc(y / 2) != y / 2;
  f64 a = abs(x);
  f64 magnitude = a == 1 ? 1 : a == 0 ? (y > 0 ? 0 : detail::infinity) : exp(y * log(a));
  if (bits_as<i64>(x) >= 0) return magnitude;
  if (!whole && a != 0 && a != detail::infinity) return __builtin_nan("");
  return odd ? -magnitude : magnitude;
}

#define AKO_THROUGH_F64(name) \
  AKO_DEVICE f32 name(f32 x) { return f32(name(f64(x))); }
AKO_THROUGH_F64(expm1)
AKO_THROUGH_F64(log1p)
AKO_THROUGH_F64(sin)
AKO_THROUGH_F64(cos)
AKO_THROUGH_F64(tan)
AKO_THROUGH_F64(tanh)
AKO_THROUGH_F64(sinh)
AKO_THROUGH_F64(cosh)
AKO_THROUGH_F64(asin)
AKO_THROUGH_F64(acos)
AKO_THROUGH_F64(atan)
AKO_THROUGH_F64(erf)
#undef AKO_THROUGH_F64
AKO_DEVICE f32 pow(f32 x, f32 y) { return f32(pow(f64(x), f64(y))); }
AKO_DEVICE f32 atan2(f32 y, f32 x) { return f32(atan2(f64(y), f64(x))); }

}  // namespace ako
