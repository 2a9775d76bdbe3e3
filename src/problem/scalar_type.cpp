// SPDX-License-Identifier: Apache-2.0
#include "problem/scalar_type.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "problem/scalar_format.h"

namespace ako {
namespace {

struct TypeFacts {
  ScalarType type;
  std::string_view name;
  NumberClass number;
  int bits;
};
using enum ScalarType;
constexpr std::array<TypeFacts, 20> kTypes = {{
    {f64, "f64", NumberClass::real, 64},
    {f32, "f32", NumberClass::real, 32},
    {tf32, "tf32", NumberClass::real, 32},
    {f16, "f16", NumberClass::real, 16},
    {bf16, "bf16", NumberClass::real, 16},
    {f8e4m3, "f8e4m3", NumberClass::real, 8},
    {f8e5m2, "f8e5m2", NumberClass::real, 8},
    {f8e4m3fnuz, "f8e4m3fnuz", NumberClass::real, 8},
    {f8e5m2fnuz, "f8e5m2fnuz", NumberClass::real, 8},
    {f6e2m3, "f6e2m3", NumberClass::real, 6},
    {f6e3m2, "f6e3m2", NumberClass::real, 6},
    {f4e2m1, "f4e2m1", NumberClass::real, 4},
    {e8m0, "e8m0", NumberClass::real, 8},
    {i64, "i64", NumberClass::integer, 64},
    {i32, "i32", NumberClass::integer, 32},
    {i16, "i16", NumberClass::integer, 16},
    {i8, "i8", NumberClass::integer, 8},
    {u8, "u8", NumberClass::integer, 8},
    {i4, "i4", NumberClass::integer, 4},
    {boolean, "bool", NumberClass::boolean, 8},
}};

constexpr bool listed_in_order() {
  for (std::size_t i = 0; i < kTypes.size(); ++i)
    if (kTypes[i].type != static_cast<ScalarType>(i)) return false;
  return true;
}
static_assert(listed_in_order(), "facts() indexes kTypes by type");

struct Alias {
  std::string_view name;
  ScalarType type;
};
constexpr Alias kAliases[] = {
    {"double", f64},
    {"float64", f64},
    {"fp64", f64},
    {"float", f32},
    {"float32", f32},
    {"fp32", f32},
    {"half", f16},
    {"float16", f16},
    {"fp16", f16},
    {"bfloat16", bf16},
    {"f8e4m3fn", f8e4m3},
    {"float8_e4m3fn", f8e4m3},
    {"fp8", f8e4m3},
    {"float8_e5m2", f8e5m2},
    {"float8_e4m3fnuz", f8e4m3fnuz},
    {"f6e2m3fn", f6e2m3},
    {"f6e3m2fn", f6e3m2},
    {"float8_e5m2fnuz", f8e5m2fnuz},
    {"f4e2m1fn", f4e2m1},
    {"float4_e2m1fn", f4e2m1},
    {"float8_e8m0fnu", e8m0},
    {"f8e8m0", e8m0},
    {"int64", i64},
    {"long", i64},
    {"int32", i32},
    {"int", i32},
    {"int16", i16},
    {"short", i16},
    {"int8", i8},
    {"uint8", u8},
    {"byte", u8},
    {"int4", i4},
    {"boolean", boolean},
};

constexpr const TypeFacts& facts(ScalarType type) { return kTypes[static_cast<std::size_t>(type)]; }

struct IntegerRange {
  double low, high;
};
constexpr IntegerRange integer_range(ScalarType type) {
  if (type == boolean) return {0, 1};
  if (type == u8) return {0, 255};
  const double half = power_of_two(facts(type).bits - 1);
  return {-half, half - 1};  // i64: half - 1 rounds to 2^63, which encode_integer saturates
}

std::uint64_t encode_integer(ScalarType type, double value) {
  if (value != value) return 0;
  if (type == boolean) return value != 0 ? 1 : 0;
  const auto [low, high] = integer_range(type);
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - facts(type).bits);
  if (type == i64 && value >= high) return mask >> 1;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(std::nearbyint(std::clamp(value, low, high)))) &
         mask;
}

double decode_integer(ScalarType type, std::uint64_t code) {
  if (type == boolean) return code != 0 ? 1 : 0;
  if (type == u8) return static_cast<double>(code & 0xFF);
  const int unused = 64 - facts(type).bits;
  return static_cast<double>(static_cast<std::int64_t>(code << unused) >> unused);
}

/// The powers of two from 2^-127 to 2^127. Values between two neighbours go to the nearer one, those in the
/// middle to the larger (the significand 1.1 rounds to the even 10); what no power of two can stand for
/// becomes NaN.
std::uint64_t encode_e8m0(double value) {
  constexpr std::uint64_t nan = 0xFF;
  if (!(value > 0) || value > std::numeric_limits<double>::max()) return nan;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto rounded = static_cast<int>((bits + (std::uint64_t{1} << 51)) >> 52) - 1023 + 127;
  if (rounded > 254) return nan;
  return static_cast<std::uint64_t>(std::max(rounded, 0));
}

double decode_e8m0(std::uint64_t code) {
  code &= 0xFF;
  return code == 0xFF ? std::numeric_limits<double>::quiet_NaN() : power_of_two(static_cast<int>(code) - 127);
}

/// The `bits` (4 or 6) of element `i` of packed storage. A six-bit code may straddle two bytes.
std::uint64_t packed_code(std::span<const std::byte> bytes, int bits, std::size_t i) {
  const std::size_t at = i * static_cast<std::size_t>(bits);
  unsigned window = std::to_integer<unsigned>(bytes[at / 8]);
  if (at / 8 + 1 < bytes.size()) window |= std::to_integer<unsigned>(bytes[at / 8 + 1]) << 8;
  return window >> (at % 8) & ((1u << bits) - 1);
}

void set_packed_code(std::span<std::byte> bytes, int bits, std::size_t i, std::uint64_t code) {
  const std::size_t at = i * static_cast<std::size_t>(bits);
  const auto window = static_cast<unsigned>(code) << (at % 8);
  bytes[at / 8] |= static_cast<std::byte>(window);
  if (window > 0xFF) bytes[at / 8 + 1] |= static_cast<std::byte>(window >> 8);
}

std::array<double, 256> byte_table(ScalarType type) {
  std::array<double, 256> table{};
  for (unsigned code = 0; code < table.size(); ++code) table[code] = decode(type, code);
  return table;
}

template <class Code>
Code load(std::span<const std::byte> bytes, std::size_t i) {
  Code code;
  std::memcpy(&code, bytes.data() + i * sizeof(Code), sizeof(Code));
  return code;
}

template <class Code>
void store(std::span<std::byte> bytes, std::size_t i, Code code) {
  std::memcpy(bytes.data() + i * sizeof(Code), &code, sizeof(Code));
}

/// Calls f with a zero of the unsigned type that holds one code of 8, 16, 32 or 64 bits.
template <class Function>
void with_code_type(int bits, Function&& f) {
  switch (bits) {
    case 8:
      return f(std::uint8_t{});
    case 16:
      return f(std::uint16_t{});
    case 32:
      return f(std::uint32_t{});
    default:
      return f(std::uint64_t{});
  }
}

}  // namespace

std::string_view name_of(ScalarType type) { return facts(type).name; }

std::optional<ScalarType> scalar_type_from(std::string_view name) {
  for (const TypeFacts& known : kTypes)
    if (known.name == name) return known.type;
  for (const Alias& alias : kAliases)
    if (alias.name == name) return alias.type;
  return std::nullopt;
}

NumberClass class_of(ScalarType type) { return facts(type).number; }
int storage_bits(ScalarType type) { return facts(type).bits; }
Bytes storage_bytes(ScalarType type, std::int64_t count) { return {(count * facts(type).bits + 7) / 8}; }

double largest(ScalarType type) {
  if (class_of(type) != NumberClass::real) return integer_range(type).high;
  if (type == f64) return std::numeric_limits<double>::max();
  if (type == e8m0) return power_of_two(127);
  const FloatFormat format = format_of(type);
  return decode(type, format.largest_code() << format.padding);
}

double epsilon(ScalarType type) {
  if (class_of(type) != NumberClass::real || type == e8m0) return 1;
  return power_of_two(-format_of(type).mantissa_bits);
}

int precision_bits(ScalarType type) {
  if (class_of(type) == NumberClass::boolean || type == e8m0) return 1;
  if (class_of(type) == NumberClass::integer) return type == u8 ? 8 : storage_bits(type) - 1;
  return format_of(type).mantissa_bits + 1;
}

double decode(ScalarType type, std::uint64_t code) {
  if (class_of(type) != NumberClass::real) return decode_integer(type, code);
  if (type == f64) return std::bit_cast<double>(code);
  if (type == e8m0) return decode_e8m0(code);
  if (type == tf32) type = f32;  // what else a kernel left in the low bits counts
  return with_float_type(type, [&](auto t) { return decode_float<format_of(t())>(code); });
}

std::uint64_t encode(ScalarType type, double value) {
  if (class_of(type) != NumberClass::real) return encode_integer(type, value);
  if (type == f64) return std::bit_cast<std::uint64_t>(value);
  if (type == e8m0) return encode_e8m0(value);
  return with_float_type(type, [&](auto t) { return encode_float<format_of(t())>(value); });
}

double round_to(ScalarType type, double value) { return decode(type, encode(type, value)); }

void decode_array(ScalarType type, std::span<const std::byte> bytes, std::span<double> values) {
  const int bits = storage_bits(type);
  const std::size_t count = values.size();
  if (bits <= 8) {
    const std::array<double, 256> table = byte_table(type);
    for (std::size_t i = 0; i < count; ++i)
      values[i] = table[bits == 8 ? std::to_integer<unsigned>(bytes[i]) : packed_code(bytes, bits, i)];
  } else if (type == f64) {
    std::memcpy(values.data(), bytes.data(), count * sizeof(double));
  } else if (type == f32 || type == tf32) {
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<double>(load<float>(bytes, i));
  } else if (type == bf16) {
    for (std::size_t i = 0; i < count; ++i)
      values[i] =
          static_cast<double>(std::bit_cast<float>(std::uint32_t{load<std::uint16_t>(bytes, i)} << 16));
  } else if (type == f16) {
    for (std::size_t i = 0; i < count; ++i)
      values[i] = decode_float<format_of(f16)>(load<std::uint16_t>(bytes, i));
  } else {
    with_code_type(bits, [&](auto zero) {
      for (std::size_t i = 0; i < count; ++i)
        values[i] = decode_integer(type, load<decltype(zero)>(bytes, i));
    });
  }
}

void encode_array(ScalarType type, std::span<const double> values, std::span<std::byte> bytes) {
  const int bits = storage_bits(type);
  const std::size_t count = values.size();
  if (bits < 8) {
    std::memset(bytes.data(), 0,
                static_cast<std::size_t>(storage_bytes(type, static_cast<std::int64_t>(count)).count));
    for (std::size_t i = 0; i < count; ++i) set_packed_code(bytes, bits, i, encode(type, values[i]));
  } else if (type == f64) {
    std::memcpy(bytes.data(), values.data(), count * sizeof(double));
  } else if (type == f32) {
    for (std::size_t i = 0; i < count; ++i) store(bytes, i, static_cast<float>(values[i]));
  } else if (class_of(type) == NumberClass::real && type != e8m0) {
    with_float_type(type, [&](auto t) {
      with_code_type(bits, [&](auto zero) {
        for (std::size_t i = 0; i < count; ++i)
          store(bytes, i, static_cast<decltype(zero)>(encode_float<format_of(t())>(values[i])));
      });
    });
  } else {
    with_code_type(bits, [&](auto zero) {
      for (std::size_t i = 0; i < count; ++i)
        store(bytes, i, static_cast<decltype(zero)>(encode(type, values[i])));
    });
  }
}

}  // namespace ako
