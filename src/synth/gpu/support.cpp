// SPDX-License-Identifier: Apache-2.0
#include "synth/gpu/support.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace ako::synth::gpu {

namespace {

struct Support {
  std::string_view name;
  std::string_view needs;  // names with spaces between
  std::string_view text;
};

constexpr Support kSupport[] = {
    {"square", "", R"(template <class T>
AKO_DEVICE T square(T x) {
  return x * x;
}
)"},
    {"cube", "", R"(template <class T>
AKO_DEVICE T cube(T x) {
  return x * x * x;
}
)"},
    {"inside", "", R"(AKO_DEVICE bool inside(index_t i, index_t extent) { return 0 <= i && i < extent; }
)"},
    {"saturated", "",
     R"(AKO_DEVICE i64 saturated(i64 x, i64 low, i64 high) { return x < low ? low : x > high ? high : x; }
)"},
    {"to_integer", "", R"(AKO_DEVICE i64 to_integer(double x) {
  if (!(x > -0x1p63)) return x != x ? 0 : (i64)0x8000000000000000ull;
  return x >= 0x1p63 ? (i64)0x7fffffffffffffffull : (i64)x;
}
)"},
    {"rounded_integer", "", R"(AKO_DEVICE i64 rounded_integer(double x, double low, double high) {
  if (x != x) return 0;
  if (x >= high) return high >= 0x1p63 ? (i64)0x7fffffffffffffffull : (i64)high;
  return x <= low ? (i64)low : (i64)ako::round(x);
}
)"},
    {"integer_power", "", R"(AKO_DEVICE i64 integer_power(i64 base, i64 exponent) {
  i64 result = 1;
  for (; exponent > 0; --exponent) result *= base;
  return result;
}
)"},
    {"product_of", "", R"(struct product_of {
  template <class T>
  static AKO_MEMBER T combine(T a, T b) {
    return a * b;
  }
};
)"},
    {"argument_key", "", R"(// Ordered as values are, NaN above all, and the first of equals above the others.
AKO_DEVICE u64 argument_key(float value, u32 place) {
  const u32 bits = value != value ? 0x7fffffffu : ako::bits_as<u32>(value + 0.0f);
  const u32 order = bits >> 31 ? ~bits : bits | 0x80000000u;
  return (u64)order << 32 | (u32)~place;
}
)"},
    // Fragments as PTX lays them out: "Matrix Fragments for mma.m16n8k16", and ldmatrix.
    {"matrix_units", "", R"(#if AKO_CUDA
// 16 bytes on their way to shared memory; `there`: how many of the 8 elements exist.
template <bool whole, class T>
AKO_DEVICE void copy_piece(T* to, const T* from, bool pieces, int there) {
  const u32 address = (u32)__cvta_generic_to_shared(to);
  if (whole) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
  } else if (pieces) {
    const int bytes = there > 0 ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(there > 0 ? from : to), "r"(bytes) : "memory");
  } else {
#pragma unroll 1
    for (int i = 0; i < 8; ++i) to[i] = i < there ? from[i] : T(0.0f);
  }
}
AKO_DEVICE void copies_end_stage() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int left>
AKO_DEVICE void copies_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
}
template <bool transposed, class T>
AKO_DEVICE void load_fragments(u32 (&f)[4], const T* from) {
  const u32 address = (u32)__cvta_generic_to_shared(from);
  if (transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3]) : "r"(address) : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3]) : "r"(address) : "memory");
  }
}
template <class T>
AKO_DEVICE void multiply_fragments(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1);
template <>
__device__ __forceinline__ void multiply_fragments<bf16>(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
template <>
__device__ __forceinline__ void multiply_fragments<f16>(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
#elif AKO_HOST
template <bool whole, class T>
AKO_DEVICE void copy_piece(T* to, const T* from, bool, int there) {
  for (int i = 0; i < 8; ++i) to[i] = i < there ? from[i] : T(0.0f);
}
AKO_DEVICE void copies_end_stage() {}
template <int left>
AKO_DEVICE void copies_wait() {}
template <bool transposed, class T>
AKO_DEVICE void load_fragments(u32 (&f)[4], const T* from) {
  for (int matrix = 0; matrix < 4; ++matrix) {
    const int line = ako::lane() / 4, pair = ako::lane() % 4 * 2;
    T two[2];
    for (int i = 0; i < 2; ++i) {
      const u64 address = ako::shuffle((u64)from, matrix * 8 + (transposed ? pair + i : line));
      two[i] = reinterpret_cast<const T*>(address)[transposed ? line : pair + i];
    }
    f[matrix] = (u32)two[0].bits | (u32)two[1].bits << 16;
  }
}
template <class T>
AKO_DEVICE float half_of(u32 two, int which) {
  T value;
  value.bits = (u16)(two >> (16 * which));
  return value;
}
template <class T>
AKO_DEVICE void multiply_fragments(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  const int line = ako::lane() / 4, pair = ako::lane() % 4;
  for (int k = 0; k < 8; ++k) {
    u32 left[2], right[2];
    for (int i = 0; i < 2; ++i) {
      const u32 low = ako::shuffle(a[i], line * 4 + k % 4), high = ako::shuffle(a[i + 2], line * 4 + k % 4);
      left[i] = k < 4 ? low : high;
      const u32 first = ako::shuffle(b0, (pair * 2 + i) * 4 + k % 4), second = ako::shuffle(b1, (pair * 2 + i) * 4 + k % 4);
      right[i] = k < 4 ? first : second;
    }
    for (int i = 0; i < 4; ++i)
      for (int h = 0; h < 2; ++h) c[i] += half_of<T>(left[i / 2], h) * half_of<T>(right[i % 2], h);
  }
}
#endif
)"},
    // Adding and subtracting 1.5 * 2^52 units of the last place leaves no bits below that place; the unit
    // follows from the value's exponent, but is never below the denormals'.
    {"rounded", "",
     R"(// To a type of fewer bits, ties to even. overflow: 0 to infinity, 1 to NaN, 2 to the largest.
template <int precision, int least_exponent, int overflow>
AKO_DEVICE double rounded(double x, double largest) {
  const double size = ako::abs(x);
  const double beyond = overflow == 0 ? infinity : overflow == 1 ? not_a_number : largest;
  if (!(size < 2 * largest)) {
    if (x != x) return overflow == 2 ? 0.0 : x;
    return x < 0 ? -beyond : beyond;
  }
  const u64 bits = ako::bits_as<u64>(size) & 0x7ff0000000000000ull, least = (u64)(least_exponent + 1023) << 52;
  const double shift = ako::bits_as<double>((bits > least ? bits : least) + ((u64)(53 - precision) << 52)) * 1.5;
  const double sum = size + shift;
  const double result = sum - shift;
  const double kept = result > largest ? beyond : result;
  return x < 0 ? -kept : kept;
}
)"},
    {"round_f32", "", R"(AKO_DEVICE double round_f32(double x) { return (float)x; }
)"},
    {"round_tf32", "rounded",
     R"(AKO_DEVICE double round_tf32(double x) { return rounded<11, -126, 0>(x, 0x1.ffcp127); }
)"},
    {"round_f16", "rounded",
     R"(AKO_DEVICE double round_f16(double x) { return rounded<11, -14, 0>(x, 65504); }
)"},
    {"round_bf16", "rounded",
     R"(AKO_DEVICE double round_bf16(double x) { return rounded<8, -126, 0>(x, 0x1.fep127); }
)"},
    {"round_f8e4m3", "rounded",
     R"(AKO_DEVICE double round_f8e4m3(double x) { return rounded<4, -6, 1>(x, 448); }
)"},
    {"round_f8e5m2", "rounded",
     R"(AKO_DEVICE double round_f8e5m2(double x) { return rounded<3, -14, 0>(x, 57344); }
)"},
    {"round_f8e4m3fnuz", "rounded",
     R"(AKO_DEVICE double round_f8e4m3fnuz(double x) { return rounded<4, -7, 1>(x, 240) + 0.0; }
)"},
    {"round_f8e5m2fnuz", "rounded",
     R"(AKO_DEVICE double round_f8e5m2fnuz(double x) { return rounded<3, -15, 1>(x, 57344) + 0.0; }
)"},
    {"round_f6e2m3", "rounded",
     R"(AKO_DEVICE double round_f6e2m3(double x) { return rounded<4, 0, 2>(x, 7.5); }
)"},
    {"round_f6e3m2", "rounded",
     R"(AKO_DEVICE double round_f6e3m2(double x) { return rounded<3, -2, 2>(x, 28); }
)"},
    {"round_f4e2m1", "rounded", R"(AKO_DEVICE double round_f4e2m1(double x) { return rounded<2, 0, 2>(x, 6); }
)"},
    {"round_e8m0", "", R"(AKO_DEVICE double round_e8m0(double x) {
  if (!(x > 0) || x == infinity) return not_a_number;
  const double power = ako::bits_as<double>((ako::bits_as<u64>(x) + (1ull << 51)) >> 52 << 52);
  const double result = power < 0x1p-127 ? 0x1p-127 : power;
  return result > 0x1p127 ? not_a_number : result;
}
)"},
    {"from_e8m0", "", R"(AKO_DEVICE float from_e8m0(u8 code) {
  return ako::bits_as<float>(code == 255 ? 0x7fc00000u : code == 0 ? 0x00400000u : (u32)code << 23);
}
)"},
    {"to_e8m0", "", R"(AKO_DEVICE u8 to_e8m0(float x) {
  const u32 bits = ako::bits_as<u32>(x);
  if (!(x > 0) || bits >= 0x7f800000u) return 255;
  return bits < 0x00800000u ? (u8)(bits >= 0x00600000u) : (u8)((bits + 0x00400000u) >> 23);
}
)"},
    {"to_tf32", "", R"(AKO_DEVICE float to_tf32(float x) {
  const u32 bits = ako::bits_as<u32>(x);
  if ((bits & 0x7f800000u) == 0x7f800000u) return x;
  return ako::bits_as<float>((bits + 0xfffu + (bits >> 13 & 1)) & ~0x1fffu);
}
)"},
    {"small_value", "", R"(// Formats of finite numbers only: a sign, exponent bits, mantissa bits.
template <int exponent_bits, int mantissa_bits, int bias>
AKO_DEVICE float small_value(u32 code) {
  const u32 sign = code >> (exponent_bits + mantissa_bits) & 1;
  const u32 magnitude = code & ((1u << (exponent_bits + mantissa_bits)) - 1);
  const float least = ako::bits_as<float>((u32)(128 - bias - mantissa_bits) << 23);
  const float value = magnitude >> mantissa_bits == 0
                          ? (float)(int)magnitude * least
                          : ako::bits_as<float>((magnitude << (23 - mantissa_bits)) + ((u32)(127 - bias) << 23));
  return sign ? -value : value;
}
)"},
    {"small_code", "",
     R"(// To a format of finite numbers only: to nearest, ties to even, too large ones to the largest.
template <int exponent_bits, int mantissa_bits, int bias>
AKO_DEVICE u32 small_code(float x) {
  const u32 bits = ako::bits_as<u32>(x), size = bits & 0x7fffffffu;
  const u32 largest = (1u << (exponent_bits + mantissa_bits)) - 1;
  const int dropped = 23 - mantissa_bits;
  if (size > 0x7f800000u) return 0;
  const u32 normal =
      ((size + (1u << (dropped - 1)) - 1 + (size >> dropped & 1)) >> dropped) - ((u32)(127 - bias) << mantissa_bits);
  // Below the least normal number codes count in equal steps, and the addition rounds to them.
  const u32 steps = (u32)(127 + 23 + 1 - bias - mantissa_bits) << 23;
  const u32 small = ako::bits_as<u32>(ako::bits_as<float>(size) + ako::bits_as<float>(steps)) - steps;
  const u32 code = size < (u32)(128 - bias) << 23 ? small : normal;
  return (code > largest ? largest : code) | (bits >> 31) << (exponent_bits + mantissa_bits);
}
)"},
    {"four_bits", "",
     R"(AKO_DEVICE u32 four_bits(const u8* codes, i64 i) { return codes[i / 2] >> (i % 2 * 4) & 15; }
)"},
    {"set_four_bits", "", R"(AKO_DEVICE void set_four_bits(u8* codes, i64 i, u32 code) {
  codes[i / 2] = (u8)(i % 2 ? (codes[i / 2] & 15) | code << 4 : (codes[i / 2] & 240) | code);
}
)"},
    {"six_bits", "", R"(AKO_DEVICE u32 six_bits(const u8* codes, i64 i) {
  const i64 bit = i * 6, last = (bit + 5) / 8;
  return (codes[bit / 8] | (u32)codes[last] << 8) >> (bit % 8) & 63;
}
)"},
    {"set_six_bits", "", R"(AKO_DEVICE void set_six_bits(u8* codes, i64 i, u32 code) {
  const i64 bit = i * 6, last = (bit + 5) / 8;
  const u32 word = codes[bit / 8] | (u32)codes[last] << 8;
  const u32 changed = (word & ~(63u << bit % 8)) | code << bit % 8;
  codes[bit / 8] = (u8)changed;
  if (last != bit / 8) codes[last] = (u8)(changed >> 8);
}
)"},
    {"from_f4e2m1", "small_value four_bits",
     R"(AKO_DEVICE float from_f4e2m1(const u8* codes, i64 i) { return small_value<2, 1, 1>(four_bits(codes, i)); }
)"},
    {"to_f4e2m1", "small_code set_four_bits",
     R"(AKO_DEVICE void to_f4e2m1(u8* codes, i64 i, float x) { set_four_bits(codes, i, small_code<2, 1, 1>(x)); }
)"},
    {"from_f6e2m3", "small_value six_bits",
     R"(AKO_DEVICE float from_f6e2m3(const u8* codes, i64 i) { return small_value<2, 3, 1>(six_bits(codes, i)); }
)"},
    {"to_f6e2m3", "small_code set_six_bits",
     R"(AKO_DEVICE void to_f6e2m3(u8* codes, i64 i, float x) { set_six_bits(codes, i, small_code<2, 3, 1>(x)); }
)"},
    {"from_f6e3m2", "small_value six_bits",
     R"(AKO_DEVICE float from_f6e3m2(const u8* codes, i64 i) { return small_value<3, 2, 3>(six_bits(codes, i)); }
)"},
    {"to_f6e3m2", "small_code set_six_bits",
     R"(AKO_DEVICE void to_f6e3m2(u8* codes, i64 i, float x) { set_six_bits(codes, i, small_code<3, 2, 3>(x)); }
)"},
    {"from_i4", "four_bits",
     R"(AKO_DEVICE i64 from_i4(const u8* codes, i64 i) { return (i64)(four_bits(codes, i) ^ 8) - 8; }
)"},
    {"to_i4", "set_four_bits", R"(AKO_DEVICE void to_i4(u8* codes, i64 i, i64 x) {
  set_four_bits(codes, i, (u32)(x < -8 ? -8 : x > 7 ? 7 : x) & 15);
}
)"},
};

void write(std::string_view name, std::set<std::string_view>& written, std::string& text) {
  if (!written.insert(name).second) return;
  for (const Support& support : kSupport) {
    if (support.name != name) continue;
    for (std::string_view rest = support.needs; !rest.empty();) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      write(rest.substr(0, end), written, text);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    text += support.text;
  }
}

}  // namespace

std::string support_source(const std::set<std::string>& needs) {
  std::string text;
  std::set<std::string_view> written;
  for (const std::string& name : needs) write(name, written, text);
  return text;
}

}  // namespace ako::synth::gpu
