// SPDX-License-Identifier: Apache-2.0
// Storage of narrow floating-point types and their conversions: to nearest, ties to even, straight from
// float. 8 bits: OCP 8-bit floating point (OFP8) 1.0, and the FNUZ variants that gfx940 to gfx942 read.
// Overflow becomes NaN where the type has no infinity (no saturation), as in the problem language.
#pragma once

namespace ako {

AKO_DEVICE float bf16_to_float(u16 bits) { return bits_as<float>(u32(bits) << 16); }

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
AKO_DEVICE float float8_to_float(u8 code) {
  typedef Float8Layout<format> L;
  u32 magnitude = code & 0x7Fu, sign = u32(code & 0x80u) << 24;
  u32 normal = (magnitude << (23 - L::mantissa)) + (u32(127 - L::bias) << 23);
  // Below the smallest normal value the codes count in equal steps.
  float step = bits_as<float>(u32(128 - L::bias - L::mantissa) << 23);
  u32 subnormal = bits_as<u32>(float(i32(magnitude)) * step);
  u32 bits = magnitude >> L::mantissa ? normal : subnormal;
  bool nan = L::fnuz ? code == 0x80 : L::ieee ? magnitude > 0x7C : magnitude == 0x7F;
  if (L::ieee) bits = magnitude == 0x7C ? 0x7F800000 : bits;
  if (nan) return bits_as<float>(0x7FC00000u | (L::fnuz ? 0 : sign));
  return bits_as<float>(bits | sign);
}

template <Float8 format>
AKO_DEVICE u8 float_to_float8(float value) {
  typedef Float8Layout<format> L;
  constexpr int dropped = 23 - L::mantissa;
  u32 bits = bits_as<u32>(value);
  u32 sign = bits >> 24 & 0x80, size = bits & 0x7FFFFFFF;
  u32 normal = ((size + (1u << (dropped - 1)) - 1 + (size >> dropped & 1)) >> dropped) -
               (u32(127 - L::bias) << L::mantissa);
  // Added to this, a value below the smallest normal one is rounded to the codes' equal steps by the addition
  // itself.
  constexpr u32 steps = u32(127 + 23 + 1 - L::bias - L::mantissa) << 23;
  u32 subnormal = bits_as<u32>(bits_as<float>(size) + bits_as<float>(steps)) - steps;
  u32 code = size < (u32(128 - L::bias) << 23) ? subnormal : normal;
  code = code > L::largest ? L::beyond : code;
  code = size > 0x7F800000 ? L::nan : code;
  if (L::fnuz) return u8(code == 0 || code == 0x80 ? code : code | sign);
  return u8(code | sign);
}

struct bf16 {
  u16 bits;
  bf16() = default;
  AKO_MEMBER explicit bf16(float value) : bits(float_to_bf16(value)) {}
  AKO_MEMBER operator float() const { return bf16_to_float(bits); }
};
struct f16 {
  u16 bits;
  f16() = default;
  AKO_MEMBER explicit f16(float value) : bits(float_to_f16(value)) {}
  AKO_MEMBER operator float() const { return f16_to_float(bits); }
};
template <Float8 format>
struct float8 {
  u8 bits;
  float8() = default;
  AKO_MEMBER explicit float8(float value) : bits(float_to_float8<format>(value)) {}
  AKO_MEMBER operator float() const { return float8_to_float<format>(bits); }
};
typedef float8<Float8::e4m3> f8e4m3;
typedef float8<Float8::e5m2> f8e5m2;
typedef float8<Float8::e4m3fnuz> f8e4m3fnuz;
typedef float8<Float8::e5m2fnuz> f8e5m2fnuz;
#if AKO_FP8_FNUZ
typedef f8e4m3fnuz f8;
typedef f8e5m2fnuz bf8;
#else
typedef f8e4m3 f8;
typedef f8e5m2 bf8;
#endif

}  // namespace ako
