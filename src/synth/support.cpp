// SPDX-License-Identifier: Apache-2.0
// The functions that emitted kernels call, as text: only those that a kernel needs are written into it, so
// that it compiles in a fraction of a second and reads without looking elsewhere.
#include <fmt/format.h>

#include <array>
#include <map>

#include "synth/element.h"
#include "synth/polynomials.h"

namespace ako::synth {

namespace {

struct Piece {
  std::set<std::string> needs;
  std::string_view text;
};

const std::map<std::string, Piece, std::less<>>& pieces() {
  static const std::map<std::string, Piece, std::less<>> table = {
      {"larger", {{}, R"(template <class A, class B>
inline auto larger(A a, B b) {
  return a > b ? a : b;
}
)"}},
      {"smaller", {{}, R"(template <class A, class B>
inline auto smaller(A a, B b) {
  return a < b ? a : b;
}
)"}},
      {"dot_words",
       {{}, R"(typedef int32_t words_at __attribute__((aligned(2), may_alias));  // two of 16 bits
template <class V>
inline V dot_words(V c, V a, V b) {  // c + the products of both 16-bit halves of each lane
#if defined(__AVX512VNNI__) && defined(__AVX512VL__) && !defined(__clang__)
  if constexpr (sizeof(V) == 64) return (V)__builtin_ia32_vpdpwssd_v16si(c, a, b);
  else if constexpr (sizeof(V) == 32) return (V)__builtin_ia32_vpdpwssd_v8si(c, a, b);
  else return (V)__builtin_ia32_vpdpwssd_v4si(c, a, b);
#else
  return c + (a << 16 >> 16) * (b << 16 >> 16) + (a >> 16) * (b >> 16);
#endif
}
)"}},
      {"sign", {{}, R"(template <class T>
inline T sign(T x) {
  return T(x > 0) - T(x < 0);
}
)"}},
      {"is_nan", {{}, R"(template <class T>
inline bool is_nan(T x) {
  return __builtin_isnan(x);
}
)"}},
      {"is_inf", {{}, R"(template <class T>
inline bool is_inf(T x) {
  return __builtin_isinf(x) != 0;
}
)"}},
      {"floor_div", {{}, R"(inline int64_t floor_div(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
)"}},
      {"floor_mod", {{"libm:floor", "libm:floorf"}, R"(inline int64_t floor_mod(int64_t a, int64_t b) {
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
inline float floor_mod(float a, float b) { return a - floorf(a / b) * b; }
inline double floor_mod(double a, double b) { return a - floor(a / b) * b; }
)"}},
      {"int_power", {{}, R"(inline int64_t int_power(int64_t base, int64_t exponent) {
  int64_t result = 1;
  for (int64_t i = 0; i < exponent; ++i) result *= base;
  return result;
}
)"}},
      {"v_power", {{}, R"(template <int N, class T>
inline T v_power(T x) {
  if constexpr (N == 1) return x;
  else if constexpr (N % 2 == 0) return v_power<N / 2>(x * x);
  else return x * v_power<N - 1>(x);
}
)"}},
      {"from_bf16",
       {{},
        R"(inline float from_bf16(uint16_t bits) { return __builtin_bit_cast(float, uint32_t(bits) << 16); }
)"}},
      {"to_bf16", {{}, R"(inline uint16_t to_bf16(float x) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, x);
  if ((bits & 0x7fffffff) > 0x7f800000) return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
)"}},
      {"round_bf16",
       {{"from_bf16", "to_bf16"}, R"(inline float round_bf16(float x) { return from_bf16(to_bf16(x)); }
)"}},
      {"from_f16",
       {{}, R"(inline float from_f16(uint16_t bits) { return float(__builtin_bit_cast(_Float16, bits)); }
)"}},
      {"to_f16", {{}, R"(template <class T>
inline uint16_t to_f16(T x) {
  return __builtin_bit_cast(uint16_t, _Float16(x));
}
)"}},
      {"round_f16", {{"from_f16", "to_f16"}, R"(template <class T>
inline float round_f16(T x) {
  return from_f16(to_f16(x));
}
)"}},
      {"to_tf32", {{}, R"(inline float to_tf32(float x) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, x);
  if ((bits & 0x7f800000) == 0x7f800000) return x;
  return __builtin_bit_cast(float, (bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000);
}
)"}},
      {"round_tf32", {{"to_tf32"}, R"(inline float round_tf32(float x) { return to_tf32(x); }
)"}},
      {"saturate", {{}, R"(template <class T>
inline T saturate(int64_t x, int64_t low, int64_t high) {
  return T(x < low ? low : x > high ? high : x);
}
)"}},
      {"to_i32",
       {{"saturate"},
        R"(inline int32_t to_i32(int64_t x) { return saturate<int32_t>(x, INT32_MIN, INT32_MAX); }
)"}},
      {"to_i16",
       {{"saturate"},
        R"(inline int16_t to_i16(int64_t x) { return saturate<int16_t>(x, INT16_MIN, INT16_MAX); }
)"}},
      {"to_i8",
       {{"saturate"}, R"(inline int8_t to_i8(int64_t x) { return saturate<int8_t>(x, INT8_MIN, INT8_MAX); }
)"}},
      {"to_u8",
       {{"saturate"}, R"(inline uint8_t to_u8(int64_t x) { return saturate<uint8_t>(x, 0, UINT8_MAX); }
)"}},
      {"from_i4", {{}, R"(inline int64_t from_i4(const uint8_t* p, int64_t i) {
  return int64_t(int8_t(uint8_t(p[i / 2] >> (i % 2 * 4) << 4))) >> 4;
}
)"}},
      {"to_i4", {{"saturate", "put_bits"}, R"(inline void to_i4(uint8_t* p, int64_t i, int64_t x) {
  put_bits<4>(p, i, uint32_t(saturate<int8_t>(x, -8, 7)) & 15);
}
)"}},
      {"get_bits",
       {{}, R"(template <int BITS>  // element i of a packed array, the first in the least significant bits
inline uint32_t get_bits(const uint8_t* p, int64_t i) {
  const int64_t bit = i * BITS;
  uint32_t word = p[bit / 8];
  if (bit % 8 + BITS > 8) word |= uint32_t(p[bit / 8 + 1]) << 8;
  return word >> bit % 8 & ((1u << BITS) - 1);
}
)"}},
      {"put_bits", {{}, R"(template <int BITS>
inline void put_bits(uint8_t* p, int64_t i, uint32_t code) {
  const int64_t bit = i * BITS;
  const uint32_t mask = ((1u << BITS) - 1) << bit % 8, bits = code << bit % 8;
  p[bit / 8] = uint8_t((p[bit / 8] & ~mask) | bits);
  if (bit % 8 + BITS > 8) p[bit / 8 + 1] = uint8_t((p[bit / 8 + 1] & ~(mask >> 8)) | bits >> 8);
}
)"}},
      {"encode_small",
       {{},
        R"(// The code of a narrow floating-point format nearest to x, ties to even. `top` is the largest finite code.
template <int EXPONENT, int MANTISSA, int BIAS>
inline uint32_t encode_small(double x, uint32_t top, uint32_t overflow) {
  const double magnitude = __builtin_fabs(x);
  int exponent = 1 - BIAS;
  if (magnitude > 0) {
    const int own = int(__builtin_bit_cast(uint64_t, magnitude) >> 52) - 1023;
    if (own > exponent) exponent = own;
  }
  if (exponent > (1 << EXPONENT) - BIAS) return overflow;
  const double unit = __builtin_bit_cast(double, uint64_t(1023 + exponent - MANTISSA) << 52);
  const uint32_t significand = uint32_t(__builtin_rint(magnitude / unit));
  const uint32_t code = (uint32_t(exponent - 1 + BIAS) << MANTISSA) + significand;
  return code > top ? overflow : code;
}
)"}},
  };
  return table;
}

struct Small {
  ScalarType type;
  int bits, exponent, mantissa, bias;
  unsigned top, overflow, nan;  // codes without the sign
  bool negative_zero;
};

constexpr std::array<Small, 7> small_formats = {{
    {ScalarType::f8e4m3, 8, 4, 3, 7, 0x7e, 0x7f, 0x7f, true},
    {ScalarType::f8e5m2, 8, 5, 2, 15, 0x7b, 0x7c, 0x7e, true},
    {ScalarType::f8e4m3fnuz, 8, 4, 3, 8, 0x7f, 0x80, 0x80, false},
    {ScalarType::f8e5m2fnuz, 8, 5, 2, 16, 0x7f, 0x80, 0x80, false},
    {ScalarType::f6e2m3, 6, 2, 3, 1, 0x1f, 0x1f, 0, true},
    {ScalarType::f6e3m2, 6, 3, 2, 3, 0x1f, 0x1f, 0, true},
    {ScalarType::f4e2m1, 4, 2, 1, 1, 0x7, 0x7, 0, true},
}};

std::string real_text(double value) {
  if (value != value) return "__builtin_nanf(\"\")";
  if (value - value != 0) return value < 0 ? "-__builtin_inff()" : "__builtin_inff()";
  return fmt::format("{}f", value == static_cast<double>(static_cast<long>(value))
                                ? fmt::format("{:.1f}", value)
                                : fmt::format("{:.9g}", value));
}

std::string decode_table(ScalarType type, int bits) {
  std::string text = fmt::format("constexpr float {}_values[{}] = {{", name_of(type), 1 << bits);
  for (int code = 0; code < 1 << bits; ++code) {
    text += code % 12 == 0 ? "\n    " : " ";
    text += real_text(decode(type, static_cast<std::uint64_t>(code))) + ",";
  }
  return text + "\n};\n";
}

std::string decode_source(ScalarType type, int bits) {
  const std::string name(name_of(type));
  const std::string table = decode_table(type, bits);
  if (bits == 8)
    return table + fmt::format("inline float from_{0}(uint8_t code) {{ return {0}_values[code]; }}\n", name);
  return table + fmt::format(
                     "inline float from_{0}(const uint8_t* p, int64_t i) {{ return "
                     "{0}_values[get_bits<{1}>(p, i)]; }}\n",
                     name, bits);
}

/// The code of a value as a function `code_NAME`.
std::string code_source(const Small& format) {
  const std::string sign = fmt::format("(__builtin_signbit(x) ? {}u : 0u)", 1u << (format.bits - 1));
  std::string text = fmt::format("inline uint32_t code_{}(double x) {{\n", name_of(format.type));
  const std::string nan =
      format.nan == 0 ? "0" : fmt::format("{}{}u", format.negative_zero ? sign + " | " : "", format.nan);
  text += fmt::format("  if (x != x) return {};\n", nan);
  text += fmt::format("  const uint32_t code = encode_small<{}, {}, {}>(x, {}, {});\n", format.exponent,
                      format.mantissa, format.bias, format.top, format.overflow);
  if (format.negative_zero)
    text += fmt::format("  return code | {};\n}}\n", sign);
  else
    text += fmt::format("  return code == 0 || code == 128 ? code : code | {};\n}}\n", sign);
  return text;
}

const Small* small_format(std::string_view name) {
  for (const Small& format : small_formats) {
    if (name_of(format.type) == name) return &format;
  }
  return nullptr;
}

std::string scale_source(std::string_view function) {
  if (function == "from_")
    return "inline float from_e8m0(uint8_t code) {\n  return code == 255 ? __builtin_nanf(\"\") : code == 0 "
           "? 0x1p-127f : __builtin_bit_cast(float, uint32_t(code) << 23);\n}\n";
  if (function == "to_") {
    return R"(inline uint8_t to_e8m0(double x) {  // the nearest power of two; ties to the even code
  if (!(x > 0) || x - x != 0) return x == 0 ? 0 : 255;
  if (x < 0x1p-127) return 0;
  const uint64_t bits = __builtin_bit_cast(uint64_t, x);
  const int code = int(bits >> 52) - 1023 + 127;
  const uint64_t fraction = bits << 12, half = uint64_t(1) << 63;
  const int rounded = code + (fraction > half || (fraction == half && code % 2 != 0));
  return rounded > 254 ? 255 : uint8_t(rounded);
}
)";
  }
  return "inline float round_e8m0(double x) { return from_e8m0(to_e8m0(x)); }\n";
}

std::string small_source(const std::string& name) {
  for (const std::string_view prefix : {"from_", "to_", "round_", "code_"}) {
    if (!name.starts_with(prefix)) continue;
    const std::string type = name.substr(prefix.size());
    if (type == "e8m0") return scale_source(prefix);
    const Small* format = small_format(type);
    if (format == nullptr) return {};
    if (prefix == "from_") return decode_source(format->type, format->bits);
    if (prefix == "code_") return code_source(*format);
    if (prefix == "round_") {
      return fmt::format("inline float round_{0}(double x) {{ return {0}_values[code_{0}(x)]; }}\n", type);
    }
    if (format->bits == 8)
      return fmt::format("inline uint8_t to_{0}(double x) {{ return uint8_t(code_{0}(x)); }}\n", type);
    return fmt::format(
        "inline void to_{0}(uint8_t* p, int64_t i, double x) {{ put_bits<{1}>(p, i, code_{0}(x)); }}\n", type,
        format->bits);
  }
  return {};
}

std::string library_source(const std::string& name) {
  const std::string function = name.substr(name.find(':') + 1);
  const std::string type = function.ends_with("f") && function != "erf" ? "float" : "double";
  const bool two = name.starts_with("libm2:");
  return fmt::format("extern \"C\" {0} {1}({0}{2}) noexcept;\n", type, function, two ? ", " + type : "");
}

}  // namespace

std::set<std::string> support_needs(const std::string& name, const std::string& real) {
  if (const auto piece = pieces().find(name); piece != pieces().end()) return piece->second.needs;
  if (name.starts_with("v_") || name.starts_with("ako_")) return vector_support_needs(name, real == "double");
  if (name.starts_with("libm")) return {};
  const auto type = name.substr(name.find('_') + 1);
  if (type == "e8m0")
    return name.starts_with("round_") ? std::set<std::string>{"from_e8m0", "to_e8m0"}
                                      : std::set<std::string>{};
  const Small* format = small_format(type);
  if (format == nullptr) return {};
  std::set<std::string> needs;
  if (name.starts_with("code_")) needs = {"encode_small"};
  if (name.starts_with("to_") || name.starts_with("round_")) needs = {"code_" + type};
  if (name.starts_with("round_")) needs.insert("from_" + type);
  if (format->bits < 8 && name.starts_with("from_")) needs.insert("get_bits");
  if (format->bits < 8 && name.starts_with("to_")) needs.insert("put_bits");
  return needs;
}

std::string support_source(const std::string& name, const std::string& real, int lanes) {
  if (const auto piece = pieces().find(name); piece != pieces().end()) return std::string(piece->second.text);
  if (name.starts_with("libm")) return library_source(name);
  if (name.starts_with("v_") || name.starts_with("ako_")) return vector_support_source(name, real, lanes);
  return small_source(name);
}

}  // namespace ako::synth
