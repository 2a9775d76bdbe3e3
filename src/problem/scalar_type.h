// SPDX-License-Identifier: Apache-2.0
// Element types of tensors and their exact conversions to and from fp64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/units.h"

namespace ako {

enum class ScalarType : std::uint8_t {
  f64, f32, tf32, f16, bf16,
  f8e4m3, f8e5m2,          // OCP 8-bit floating point (gfx950, sm_90): e4m3 has no infinities ("fn")
  f8e4m3fnuz, f8e5m2fnuz,  // finite, NaN is the code 0x80, no negative zero (gfx942)
  f6e2m3, f6e3m2, f4e2m1,  // OCP MX element types: finite only
  e8m0,                    // OCP MX block scale: 2^(code-127), 0xFF is NaN
  i64, i32, i16, i8, u8, i4,
  boolean,
};

enum class NumberClass : std::uint8_t { real, integer, boolean };

/// The name used in problem files: "bf16", "f8e4m3", "bool" …
std::string_view name_of(ScalarType);
/// Accepts the names and the aliases double float half bfloat16 int32 …; nullopt when unknown.
std::optional<ScalarType> scalar_type_from(std::string_view name);
NumberClass class_of(ScalarType);
/// Bits of storage of one element: tf32 32, f6 6, f4 and i4 4, bool 8.
int storage_bits(ScalarType);
/// Storage of `count` consecutive elements. Elements narrower than a byte are packed, the first one in the
/// least significant bits (f4, i4: two a byte; f6: four in three bytes), and the total is rounded up to bytes.
Bytes storage_bytes(ScalarType, std::int64_t count);
/// Largest finite value; for integers the largest value.
double largest(ScalarType);
/// Distance from 1 to the next larger value (2^-mantissa bits); 1 for integers.
double epsilon(ScalarType);
/// Bits of significand including the implicit one: f32 24, bf16 8, tf32 11.
int precision_bits(ScalarType);

/// The value of a code (the stored bits, right-aligned), exact. i64 beyond 2^53 loses precision.
double decode(ScalarType, std::uint64_t code);
/// The code nearest to a value, ties to even, straight from fp64 (no double rounding). Overflow goes to infinity
/// where the type has one, else to NaN (f8e4m3, both fnuz, e8m0) or saturates (f6, f4, integers).
/// NaN into a type without NaN becomes zero. Matches ml_dtypes bit for bit on every fp32 value (ml_dtypes takes wider
/// ones through fp32 and so rounds them twice; encode does not), but for e8m0 between its two least values:
/// tests/problem/scalar_type_test.cpp, ml_dtypes_tables.py.
std::uint64_t encode(ScalarType, double value);
/// encode then decode.
double round_to(ScalarType, double value);

/// Whole arrays, packed as storage_bytes says. Sizes must agree: bytes.size() >= storage_bytes(type, values.size()).
void decode_array(ScalarType, std::span<const std::byte> bytes, std::span<double> values);
void encode_array(ScalarType, std::span<const double> values, std::span<std::byte> bytes);

}  // namespace ako
