// SPDX-License-Identifier: Apache-2.0
// Binary floating-point formats as data, and conversions that the compiler specializes for each.
//
// Encoding works on the bits of the fp64 value: its 53-bit significand is shifted right to the target's
// precision with one rounding, ties to even. The exponent field is then added to, not stored beside, the
// rounded significand, so that a carry out of the significand moves to the next binade, from the largest
// denormal to the smallest normal number, or past the largest finite code, all by itself.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "problem/scalar_type.h"

namespace ako {

/// What the codes at the top of the range, and the code of negative zero, stand for.
enum class Specials : std::uint8_t {
  ieee,         // the largest exponent holds infinity and NaN
  nan_only,     // "fn": only the code of all ones is NaN, the rest of the top binade are numbers
  nan_at_zero,  // "fnuz": NaN takes the code of negative zero; no infinity
  none,         // every code is a finite number
};

/// A sign bit, then the exponent, then the mantissa; `padding` zero bits follow in storage (tf32).
struct FloatFormat {
  int exponent_bits = 0, mantissa_bits = 0, bias = 0;
  Specials specials = Specials::ieee;
  int padding = 0;

  constexpr int magnitude_bits() const { return exponent_bits + mantissa_bits; }
  constexpr int least_exponent() const { return 1 - bias; }
  constexpr std::uint64_t sign_code() const { return std::uint64_t{1} << magnitude_bits(); }
  constexpr std::uint64_t infinity_code() const {
    return ((std::uint64_t{1} << exponent_bits) - 1) << mantissa_bits;
  }
  constexpr std::uint64_t largest_code() const {
    switch (specials) {
      case Specials::ieee:
        return infinity_code() - 1;
      case Specials::nan_only:
        return sign_code() - 2;
      default:
        return sign_code() - 1;
    }
  }
  constexpr std::uint64_t nan_code(std::uint64_t sign) const {
    switch (specials) {
      case Specials::ieee:
        return sign | infinity_code() | std::uint64_t{1} << (mantissa_bits - 1);
      case Specials::nan_only:
        return sign | (sign_code() - 1);
      case Specials::nan_at_zero:
        return sign_code();
      default:
        return sign ^ sign_code();  // no NaN: a zero, of the sign that ml_dtypes gives it
    }
  }
  constexpr std::uint64_t overflow_code(std::uint64_t sign) const {
    switch (specials) {
      case Specials::ieee:
        return sign | infinity_code();
      case Specials::none:
        return sign | largest_code();
      default:
        return nan_code(sign);
    }
  }
};

constexpr FloatFormat format_of(ScalarType type) {
  using enum ScalarType;
  switch (type) {
    case f32:
      return {8, 23, 127};
    case tf32:
      return {8, 10, 127, Specials::ieee, 13};
    case f16:
      return {5, 10, 15};
    case bf16:
      return {8, 7, 127};
    case f8e4m3:
      return {4, 3, 7, Specials::nan_only};
    case f8e5m2:
      return {5, 2, 15};
    case f8e4m3fnuz:
      return {4, 3, 8, Specials::nan_at_zero};
    case f8e5m2fnuz:
      return {5, 2, 16, Specials::nan_at_zero};
    case f6e2m3:
      return {2, 3, 1, Specials::none};
    case f6e3m2:
      return {3, 2, 3, Specials::none};
    case f4e2m1:
      return {2, 1, 1, Specials::none};
    default:
      return {11, 52, 1023};  // f64
  }
}

/// 2^exponent for exponents of normal fp64 numbers.
constexpr double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

template <FloatFormat F>
constexpr double decode_float(std::uint64_t code) {
  code >>= F.padding;
  const std::uint64_t sign = code & F.sign_code();
  const std::uint64_t magnitude = code & (F.sign_code() - 1);
  const std::uint64_t sign_bit = sign << (63 - F.magnitude_bits());
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if constexpr (F.specials == Specials::nan_at_zero) {
    if (code == F.sign_code()) return nan;
  } else if constexpr (F.specials != Specials::none) {
    if (magnitude > F.largest_code()) {
      const bool infinite = F.specials == Specials::ieee && magnitude == F.infinity_code();
      const double special = infinite ? std::numeric_limits<double>::infinity() : nan;
      return std::bit_cast<double>(std::bit_cast<std::uint64_t>(special) | sign_bit);
    }
  }
  double value = 0;
  if (magnitude >> F.mantissa_bits == 0) {
    value = static_cast<double>(magnitude) * power_of_two(F.least_exponent() - F.mantissa_bits);
  } else {
    const std::uint64_t rebias = static_cast<std::uint64_t>(1023 - F.bias) << 52;
    value = std::bit_cast<double>((magnitude << (52 - F.mantissa_bits)) + rebias);
  }
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) | sign_bit);
}

/// Round half to even of bits / 2^drop, 0 < drop < 64.
constexpr std::uint64_t shift_right_rounded(std::uint64_t bits, int drop) {
  const std::uint64_t odd = (bits >> drop) & 1;
  return (bits + (std::uint64_t{1} << (drop - 1)) - 1 + odd) >> drop;
}

template <FloatFormat F>
constexpr std::uint64_t encode_float(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << 63);
  const std::uint64_t sign = (bits >> 63) << F.magnitude_bits();
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  constexpr int drop = 52 - F.mantissa_bits;
  std::uint64_t code = 0;
  if (exponent >= F.least_exponent() && exponent <= 1023) [[likely]] {
    const std::uint64_t rebias = static_cast<std::uint64_t>(1023 - F.bias) << F.mantissa_bits;
    code = shift_right_rounded(magnitude, drop) - rebias;
    if (code > F.largest_code()) return F.overflow_code(sign) << F.padding;
  } else if (exponent == 1024) {
    const bool nan = (magnitude << 12) != 0;
    return (nan ? F.nan_code(sign) : F.overflow_code(sign)) << F.padding;
  } else if (const int below = F.least_exponent() - exponent; drop + below < 64) {
    // fp64 denormals end up here only for formats whose least number is far above them.
    const std::uint64_t significand = (magnitude & ((std::uint64_t{1} << 52) - 1)) | std::uint64_t{1} << 52;
    code = shift_right_rounded(significand, drop + below);
  }
  if (F.specials == Specials::nan_at_zero && code == 0) return 0;
  return (sign | code) << F.padding;
}

/// f(std::integral_constant<ScalarType, type>{}) for a floating-point type other than f64 and e8m0.
template <class Function>
decltype(auto) with_float_type(ScalarType type, Function&& f) {
  using enum ScalarType;
  switch (type) {
    case tf32:
      return f(std::integral_constant<ScalarType, tf32>{});
    case f16:
      return f(std::integral_constant<ScalarType, f16>{});
    case bf16:
      return f(std::integral_constant<ScalarType, bf16>{});
    case f8e4m3:
      return f(std::integral_constant<ScalarType, f8e4m3>{});
    case f8e5m2:
      return f(std::integral_constant<ScalarType, f8e5m2>{});
    case f8e4m3fnuz:
      return f(std::integral_constant<ScalarType, f8e4m3fnuz>{});
    case f8e5m2fnuz:
      return f(std::integral_constant<ScalarType, f8e5m2fnuz>{});
    case f6e2m3:
      return f(std::integral_constant<ScalarType, f6e2m3>{});
    case f6e3m2:
      return f(std::integral_constant<ScalarType, f6e3m2>{});
    case f4e2m1:
      return f(std::integral_constant<ScalarType, f4e2m1>{});
    default:
      return f(std::integral_constant<ScalarType, f32>{});
  }
}

}  // namespace ako
