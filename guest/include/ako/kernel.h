// SPDX-License-Identifier: Apache-2.0
// For C++ kernels: storage of narrow floating-point types with their conversions, and vectors.
//
//   #include "ako/kernel.h"
//   extern "C" void scale(const ako::bf16* x, ako::bf16* y, long n) {
//     for (long i = 0; i < n; ++i) y[i] = ako::bf16(2 * float(x[i]));
//   }
//
// Conversions round to nearest, ties to even, straight from float. They are branch-free, so that loops over
// them vectorize, and work on bits, so that they stay right under -ffast-math (NaN apart). No header is
// included: they take as long to compile as the kernel itself.
#ifndef AKO_KERNEL_H
#define AKO_KERNEL_H

namespace ako {

typedef __UINT8_TYPE__ u8;
typedef __UINT16_TYPE__ u16;
typedef __UINT32_TYPE__ u32;
typedef __UINT64_TYPE__ u64;
typedef __INT8_TYPE__ i8;
typedef __INT16_TYPE__ i16;
typedef __INT32_TYPE__ i32;
typedef __INT64_TYPE__ i64;

// ---- 16 bits ----

inline float bf16_to_float(u16 bits) { return __builtin_bit_cast(float, u32(bits) << 16); }
inline u16 float_to_bf16(float value) {
  u32 bits = __builtin_bit_cast(u32, value);
  u32 rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  u32 nan = (bits >> 16) | 0x40;  // quiet; rounding could carry a NaN into infinity
  return u16((bits & 0x7FFFFFFF) > 0x7F800000 ? nan : rounded);
}

inline float f16_to_float(u16 bits) { return float(__builtin_bit_cast(_Float16, bits)); }
inline u16 float_to_f16(float value) { return __builtin_bit_cast(u16, _Float16(value)); }

// ---- 8 bits: OCP 8-bit floating point (OFP8) 1.0, and the FNUZ variants of gfx940 to gfx942 ----

enum class Float8 { e4m3, e5m2, e4m3fnuz, e5m2fnuz };

template <Float8 format>
struct Float8Layout {
  static constexpr bool fnuz = format == Float8::e4m3fnuz || format == Float8::e5m2fnuz;
  static constexpr bool ieee = format == Float8::e5m2;  // the one with infinities
  static constexpr int mantissa = format == Float8::e4m3 || format == Float8::e4m3fnuz ? 3 : 2;
  static constexpr int bias = (mantissa == 3 ? 7 : 15) + fnuz;
  static constexpr u32 largest = ieee ? 0x7B : fnuz ? 0x7F : 0x7E;  // code of the largest finite value
  static constexpr u32 nan = fnuz ? 0x80 : ieee ? 0x7E : 0x7F;
  static constexpr u32 beyond = ieee ? 0x7C : nan;  // what overflow becomes
};

template <Float8 format>
inline float float8_to_float(u8 code) {
  using L = Float8Layout<format>;
  u32 magnitude = code & 0x7Fu, sign = u32(code & 0x80u) << 24;
  u32 normal = (magnitude << (23 - L::mantissa)) + (u32(127 - L::bias) << 23);
  // Below the smallest normal value the codes count in equal steps.
  constexpr float step = __builtin_bit_cast(float, u32(128 - L::bias - L::mantissa) << 23);
  u32 subnormal = __builtin_bit_cast(u32, float(i32(magnitude)) * step);
  u32 bits = magnitude >> L::mantissa ? normal : subnormal;
  bool nan = L::fnuz ? code == 0x80 : L::ieee ? magnitude > 0x7C : magnitude == 0x7F;
  if (L::ieee) bits = magnitude == 0x7C ? 0x7F800000 : bits;
  bits = nan ? 0x7FC00000 : bits;
  return __builtin_bit_cast(float, L::fnuz&& nan ? bits : bits | sign);
}

template <Float8 format>
inline u8 float_to_float8(float value) {
  using L = Float8Layout<format>;
  constexpr int dropped = 23 - L::mantissa;
  u32 bits = __builtin_bit_cast(u32, value);
  u32 sign = bits >> 24 & 0x80, size = bits & 0x7FFFFFFF;
  u32 normal = ((size + (1u << (dropped - 1)) - 1 + (size >> dropped & 1)) >> dropped) -
               (u32(127 - L::bias) << L::mantissa);
  // Added to this, a value below the smallest normal one is rounded to the codes' equal steps by the addition
  // itself.
  constexpr u32 steps = u32(127 + 23 + 1 - L::bias - L::mantissa) << 23;
  u32 subnormal =
      __builtin_bit_cast(u32, __builtin_bit_cast(float, size) + __builtin_bit_cast(float, steps)) - steps;
  u32 code = size < (u32(128 - L::bias) << 23) ? subnormal : normal;
  code = code > L::largest ? L::beyond : code;
  code = size > 0x7F800000 ? L::nan : code;
  if (L::fnuz) return u8(code == 0 || code == 0x80 ? code : code | sign);
  return u8(code | sign);
}

// ---- the same as types: as wide as what is stored, converting to and from float ----

struct bf16 {
  u16 bits;
  bf16() = default;
  explicit bf16(float value) : bits(float_to_bf16(value)) {}
  operator float() const { return bf16_to_float(bits); }
};
struct f16 {
  u16 bits;
  f16() = default;
  explicit f16(float value) : bits(float_to_f16(value)) {}
  operator float() const { return f16_to_float(bits); }
};
template <Float8 format>
struct float8 {
  u8 bits;
  float8() = default;
  explicit float8(float value) : bits(float_to_float8<format>(value)) {}
  operator float() const { return float8_to_float<format>(bits); }
};
typedef float8<Float8::e4m3> f8e4m3;
typedef float8<Float8::e5m2> f8e5m2;
typedef float8<Float8::e4m3fnuz> f8e4m3fnuz;
typedef float8<Float8::e5m2fnuz> f8e5m2fnuz;

// ---- vectors: any address, any arithmetic; v[i] is a lane ----

#define AKO_VECTOR(name, element, lanes) \
  typedef element name                   \
      __attribute__((vector_size(lanes * sizeof(element)), aligned(sizeof(element)), may_alias))
AKO_VECTOR(f32x4, float, 4);
AKO_VECTOR(f32x8, float, 8);
AKO_VECTOR(f32x16, float, 16);
AKO_VECTOR(f64x2, double, 2);
AKO_VECTOR(f64x4, double, 4);
AKO_VECTOR(f64x8, double, 8);
AKO_VECTOR(i32x4, i32, 4);
AKO_VECTOR(i32x8, i32, 8);
AKO_VECTOR(i32x16, i32, 16);
AKO_VECTOR(u32x4, u32, 4);
AKO_VECTOR(u32x8, u32, 8);
AKO_VECTOR(u32x16, u32, 16);
AKO_VECTOR(u16x8, u16, 8);
AKO_VECTOR(u16x16, u16, 16);
AKO_VECTOR(u16x32, u16, 32);

#if defined(__AVX512F__)
#define AKO_VECTOR_BYTES 64
#elif defined(__AVX__)
#define AKO_VECTOR_BYTES 32
#else
#define AKO_VECTOR_BYTES 16
#endif
AKO_VECTOR(f32v, float, (AKO_VECTOR_BYTES / 4));  // the widest of this machine
AKO_VECTOR(f64v, double, (AKO_VECTOR_BYTES / 8));
#undef AKO_VECTOR

/// Sixteen bf16 as float, and back.
inline f32x16 bf16_to_float(u16x16 bits) { return (f32x16)(__builtin_convertvector(bits, u32x16) << 16); }
inline u16x16 float_to_bf16(f32x16 value) {
  u32x16 bits = (u32x16)value;
  u32x16 rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  u32x16 nan = (bits >> 16) | 0x40;
  i32x16 is_nan = (bits & 0x7FFFFFFF) > 0x7F800000;
  return __builtin_convertvector((rounded & ~(u32x16)is_nan) | (nan & (u32x16)is_nan), u16x16);
}

}  // namespace ako

#endif
