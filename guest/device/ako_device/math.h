// SPDX-License-Identifier: Apache-2.0
// Elementary functions of ako_device.h. CUDA and the host have their compilers' own; on AMD's targets clang
// lowers exp, log and the roots of f32 by itself, the rest is in math_hip.h, since device libraries may be
// absent.
#pragma once

#if AKO_HIP
#include "ako_device/math_hip.h"
#else
#if AKO_CUDA
#define AKO_BUILT_IN(name) ::name
#else
#define AKO_BUILT_IN(name) __builtin_##name
#endif
#define AKO_FUNCTION(name)                                        \
  AKO_DEVICE f32 name(f32 x) { return AKO_BUILT_IN(name##f)(x); } \
  AKO_DEVICE f64 name(f64 x) { return AKO_BUILT_IN(name)(x); }
namespace ako {
AKO_FUNCTION(exp)
AKO_FUNCTION(exp2)
AKO_FUNCTION(expm1)
AKO_FUNCTION(log)
AKO_FUNCTION(log2)
AKO_FUNCTION(log1p)
AKO_FUNCTION(sqrt)
AKO_FUNCTION(sin)
AKO_FUNCTION(cos)
AKO_FUNCTION(tan)
AKO_FUNCTION(tanh)
AKO_FUNCTION(sinh)
AKO_FUNCTION(cosh)
AKO_FUNCTION(asin)
AKO_FUNCTION(acos)
AKO_FUNCTION(atan)
AKO_FUNCTION(erf)
AKO_FUNCTION(floor)
AKO_FUNCTION(ceil)
AKO_FUNCTION(trunc)
AKO_DEVICE f32 abs(f32 x) { return AKO_BUILT_IN(fabsf)(x); }
AKO_DEVICE f64 abs(f64 x) { return AKO_BUILT_IN(fabs)(x); }
AKO_DEVICE f32 round(f32 x) { return AKO_BUILT_IN(rintf)(x); }
AKO_DEVICE f64 round(f64 x) { return AKO_BUILT_IN(rint)(x); }
AKO_DEVICE f32 pow(f32 x, f32 y) { return AKO_BUILT_IN(powf)(x, y); }
AKO_DEVICE f64 pow(f64 x, f64 y) { return AKO_BUILT_IN(pow)(x, y); }
AKO_DEVICE f32 atan2(f32 y, f32 x) { return AKO_BUILT_IN(atan2f)(y, x); }
AKO_DEVICE f64 atan2(f64 y, f64 x) { return AKO_BUILT_IN(atan2)(y, x); }
AKO_DEVICE f32 fma(f32 a, f32 b, f32 c) { return AKO_BUILT_IN(fmaf)(a, b, c); }
AKO_DEVICE f64 fma(f64 a, f64 b, f64 c) { return AKO_BUILT_IN(fma)(a, b, c); }
}  // namespace ako
#undef AKO_FUNCTION
#undef AKO_BUILT_IN
#endif

namespace ako {

AKO_DEVICE f32 rsqrt(f32 x) { return 1 / sqrt(x); }
AKO_DEVICE f64 rsqrt(f64 x) { return 1 / sqrt(x); }

template <class T>
AKO_DEVICE bool is_nan(T x) {
  return x != x;
}
AKO_DEVICE bool is_inf(f32 x) { return (bits_as<u32>(x) & 0x7FFFFFFFu) == 0x7F800000u; }
AKO_DEVICE bool is_inf(f64 x) { return (bits_as<u64>(x) & 0x7FFFFFFFFFFFFFFFul) == 0x7FF0000000000000ul; }
template <class T>
AKO_DEVICE T sign(T x) {
  return T(x > T(0)) - T(x < T(0));
}

template <class T>
AKO_DEVICE T max(T a, T b) {
  return a > b || a != a ? a : b;
}
template <class T>
AKO_DEVICE T min(T a, T b) {
  return a < b || a != a ? a : b;
}
AKO_DEVICE i32 abs(i32 x) { return x < 0 ? -x : x; }
AKO_DEVICE i64 abs(i64 x) { return x < 0 ? -x : x; }

AKO_DEVICE i64 floor_div(i64 a, i64 b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
AKO_DEVICE i64 floor_mod(i64 a, i64 b) {
  i64 r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
AKO_DEVICE f32 floor_mod(f32 a, f32 b) { return a - floor(a / b) * b; }
AKO_DEVICE f64 floor_mod(f64 a, f64 b) { return a - floor(a / b) * b; }

/// By the exponential that cannot overflow.
template <class T>
AKO_DEVICE T sigmoid(T x) {
  T e = exp(-abs(x));
  return (x < 0 ? e : T(1)) / (1 + e);
}

AKO_DEVICE f32 fast_exp(f32 x) { return fast_exp2(x * 1.44269504f); }
AKO_DEVICE f32 fast_log(f32 x) { return fast_log2(x) * 0.693147181f; }
AKO_DEVICE f32 fast_sigmoid(f32 x) { return fast_rcp(1 + fast_exp(-x)); }
/// Absolute, not relative, to 2^-21: near zero the one is subtracted from nearly one.
AKO_DEVICE f32 fast_tanh(f32 x) { return 1 - 2 * fast_rcp(1 + fast_exp(2 * x)); }

}  // namespace ako
