// SPDX-License-Identifier: Apache-2.0
// The judge's own kernels, in the dialect of guest/device/ako_device.h: the same text for CUDA and HIP, and
// for a CPU, where tests hold the generator to problem/random_values.h bit by bit.
#include "judge/device_source.h"

namespace ako {
namespace {

constexpr std::string_view kSource = R"source(// SPDX-License-Identifier: Apache-2.0
#include "ako_device.h"
using namespace ako;

// Products and sums are rounded one by one: the values must be those that a CPU makes.
#if AKO_CUDA
AKO_DEVICE f64 times(f64 a, f64 b) { return __dmul_rn(a, b); }
AKO_DEVICE f64 plus(f64 a, f64 b) { return __dadd_rn(a, b); }
AKO_DEVICE u64 bits_of(f64 value) { return (u64)__double_as_longlong(value); }
AKO_DEVICE f64 from_bits(u64 bits) { return __longlong_as_double((long long)bits); }
#else
#if AKO_HIP
#pragma clang fp contract(off)
#endif
AKO_DEVICE f64 times(f64 a, f64 b) { return a * b; }
AKO_DEVICE f64 plus(f64 a, f64 b) { return a + b; }
AKO_DEVICE u64 bits_of(f64 value) { u64 bits; __builtin_memcpy(&bits, &value, 8); return bits; }
AKO_DEVICE f64 from_bits(u64 bits) { f64 value; __builtin_memcpy(&value, &bits, 8); return value; }
#endif

// ---- words: Philox4x32-10 (Salmon et al., SC'11), laid out as problem/random_values.h says ----
struct Words { u32 w[4]; };
AKO_DEVICE Words words_of_block(u64 seed, u64 stream, u32 top, u64 block) {
  u32 c0 = (u32)block, c1 = (u32)(block >> 32) | top, c2 = (u32)stream, c3 = (u32)(stream >> 32);
  u32 k0 = (u32)seed, k1 = (u32)(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    u64 a = (u64)0xD2511F53u * c0, b = (u64)0xCD9E8D57u * c2;
    c0 = (u32)(b >> 32) ^ c1 ^ k0;
    c1 = (u32)b;
    c2 = (u32)(a >> 32) ^ c3 ^ k1;
    c3 = (u32)a;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

// ---- storage: a format is exponent bits | mantissa bits << 8 | specials << 16 | padding << 24 | bias << 32 ----
enum Kind { kFloat, kF32, kF64, kInteger, kBoolean };
enum Specials { kIeee, kNanOnly, kNanAtZero, kNone };
struct Format { int exponent, mantissa, specials, padding, bias; };
AKO_DEVICE Format unpack(u64 f) {
  return {(int)(f & 255), (int)(f >> 8 & 255), (int)(f >> 16 & 255), (int)(f >> 24 & 255), (int)(f >> 32)};
}
AKO_DEVICE u64 shift_right_rounded(u64 bits, int drop) {
  u64 odd = (bits >> drop) & 1;
  return (bits + ((u64)1 << (drop - 1)) - 1 + odd) >> drop;
}
AKO_DEVICE u64 largest_code(const Format& f) {
  u64 sign = (u64)1 << (f.exponent + f.mantissa);
  if (f.specials == kIeee) return ((((u64)1 << f.exponent) - 1) << f.mantissa) - 1;
  return f.specials == kNanOnly ? sign - 2 : sign - 1;
}
AKO_DEVICE u64 overflow_code(const Format& f, u64 sign) {
  u64 top = (u64)1 << (f.exponent + f.mantissa);
  if (f.specials == kIeee) return sign | (largest_code(f) + 1);
  if (f.specials == kNone) return sign | largest_code(f);
  return f.specials == kNanOnly ? sign | (top - 1) : top;
}
// Finite values only: generators make no others.
AKO_DEVICE u64 encode_float(const Format& f, f64 value) {
  u64 bits = bits_of(value), magnitude = bits & ~((u64)1 << 63);
  u64 sign = (bits >> 63) << (f.exponent + f.mantissa), code = 0;
  int exponent = (int)(magnitude >> 52) - 1023, least = 1 - f.bias, drop = 52 - f.mantissa;
  if (exponent >= least) {
    code = shift_right_rounded(magnitude, drop) - ((u64)(1023 - f.bias) << f.mantissa);
    if (code > largest_code(f)) return overflow_code(f, sign) << f.padding;
  } else if (drop + least - exponent < 64) {
    u64 significand = (magnitude & (((u64)1 << 52) - 1)) | (u64)1 << 52;
    code = shift_right_rounded(significand, drop + least - exponent);
  }
  if (f.specials == kNanAtZero && code == 0) return 0;
  return (sign | code) << f.padding;
}
AKO_DEVICE f64 decode_float(const Format& f, u64 code) {
  const u64 infinity = (u64)0x7FF << 52, nan = infinity | (u64)1 << 51;
  code >>= f.padding;
  u64 top = (u64)1 << (f.exponent + f.mantissa), magnitude = code & (top - 1);
  u64 sign = (code & top) ? (u64)1 << 63 : 0;
  if (f.specials == kNanAtZero) {
    if (code == top) return from_bits(nan);
  } else if (f.specials != kNone && magnitude > largest_code(f)) {
    return from_bits((f.specials == kIeee && magnitude == largest_code(f) + 1 ? infinity : nan) | sign);
  }
  f64 value;
  if (magnitude >> f.mantissa == 0)
    value = (f64)magnitude * from_bits((u64)(1 - f.bias - f.mantissa + 1023) << 52);
  else
    value = from_bits((magnitude << (52 - f.mantissa)) + ((u64)(1023 - f.bias) << 52));
  return from_bits(bits_of(value) | sign);
}
AKO_DEVICE void store_value(u8* out, i64 at, int kind, int bytes, u64 format, f64 value) {
  u64 code;
  if (kind == kF32) {
    ((f32*)out)[at] = (f32)value;
    return;
  }
  if (kind == kF64) code = bits_of(value);
  else if (kind == kFloat) code = encode_float(unpack(format), value);
  else if (kind == kBoolean) code = value != 0;
  else code = (u64)(i64)value;
  if (bytes == 1) out[at] = (u8)code;
  else if (bytes == 2) ((u16*)out)[at] = (u16)code;
  else if (bytes == 4) ((u32*)out)[at] = (u32)code;
  else ((u64*)out)[at] = code;
}
AKO_DEVICE f64 load_value(const u8* in, i64 at, int kind, int bytes, u64 format, int is_signed) {
  if (kind == kF32) return ((const f32*)in)[at];
  u64 code;
  if (bytes == 1) code = in[at];
  else if (bytes == 2) code = ((const u16*)in)[at];
  else if (bytes == 4) code = ((const u32*)in)[at];
  else code = ((const u64*)in)[at];
  if (kind == kF64) return from_bits(code);
  if (kind == kFloat) return decode_float(unpack(format), code);
  if (kind == kBoolean) return code != 0;
  if (is_signed) return (f64)((i64)(code << (64 - 8 * bytes)) >> (64 - 8 * bytes));
  return (f64)code;
}

// ---- inputs: a thread makes the four elements of one block of words ----
enum Distribution { kNormal, kUniform, kIntegers };
AKO_DEVICE f64 value_of(int distribution, u32 word, u32 low, int fine, f64 a, f64 b, const f64* table) {
  if (distribution == kNormal) {
    f64 tail = (f64)(i32)(word & 0x7FFFFFFFu) + 0.5;
    u64 segment = (bits_of(tail) >> 47) - ((u64)1022 << 5);
    f64 magnitude = plus(table[segment], times(table[1024 + segment], tail));
    f64 normal = from_bits(bits_of(magnitude) | (u64)(word & 0x80000000u) << 32);
    return plus(times(normal, b), a);
  }
  if (distribution == kUniform) {
    f64 unit = fine ? times((f64)((u64)word << 32 | low), from_bits((u64)(1023 - 64) << 52))
                    : times(plus((f64)word, 0.5), from_bits((u64)(1023 - 32) << 52));
    return plus(a, times(plus(b, -a), unit));
  }
  return plus(a, (f64)((u64)plus(b, -a) * word >> 32));
}
AKO_KERNEL(256) ako_generate(u8* out, i64 count, u64 seed, u64 stream, i32 tensor, i32 distribution, i32 fine, f64 a,
                             f64 b, i32 kind, i32 bytes, u64 format, const f64* table) {
  const u32 top = (u32)tensor << 20, low_top = top | 1u << 16;
  const i64 blocks = (count + 63) / 64 * 16;
  for (i64 block = global_x(); block < blocks; block += stride_x()) {
    Words words = words_of_block(seed, stream, top, (u64)block), low = words;
    if (fine) low = words_of_block(seed, stream, low_top, (u64)block);
    const i64 first = block / 16 * 64 + block % 16;
    for (int i = 0; i < 4; ++i)
      if (i64 at = first + 16 * i; at < count)
        store_value(out, at, kind, bytes, format,
                    value_of(distribution, words.w[i], low.w[i], fine, a, b, table));
  }
}

// ---- memory: to the byte ----
AKO_KERNEL(256) ako_set(u8* out, i64 bytes, u32 value) {
  for (i64 i = global_x(); i < (bytes + 3) / 4; i += stride_x()) {
    if (4 * i + 4 <= bytes) ((u32*)out)[i] = value * 0x01010101u;
    else for (i64 at = 4 * i; at < bytes; ++at) out[at] = (u8)value;
  }
}
// result[0]: bytes that are not `value`; result[1]: one more than the offset, from `base`, of the first of them.
AKO_KERNEL(256) ako_guard(const u8* base, i64 begin, i64 end, u32 value, u64* result) {
  const u32 splat = value * 0x01010101u;
  for (i64 word = begin / 4 + global_x(); 4 * word < end; word += stride_x()) {
    if (4 * word >= begin && 4 * word + 4 <= end && ((const u32*)base)[word] == splat) continue;
    for (i64 at = 4 * word < begin ? begin : 4 * word; at < end && at < 4 * word + 4; ++at)
      if (base[at] != (u8)value) {
        atomic_add(&result[0], (u64)1);
        u64 mine = (u64)at + 1, seen = result[1];
        while (seen == 0 || mine < seen) {
          u64 before = atomic_cas(&result[1], seen, mine);
          if (before == seen) break;
          seen = before;
        }
      }
  }
}
AKO_DEVICE u64 mix(u64 x) {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ x >> 27) * 0x94D049BB133111EBull;
  return x ^ x >> 31;
}
// Sums a keyed function of every word and its place: any change shows but with probability 2^-64.
AKO_KERNEL(256) ako_hash(const u8* in, i64 bytes, u64 key, u64* result) {
  u64 sum = 0;
  for (i64 i = global_x(); i < (bytes + 7) / 8; i += stride_x()) {
    u64 word = 0;
    if (8 * i + 8 <= bytes) word = ((const u64*)in)[i];
    else for (i64 at = 8 * i; at < bytes; ++at) word = word << 8 | in[at];
    sum += mix(word ^ mix(key + (u64)i));
  }
  sum = block_sum<256>(sum);
  if (thread_x() == 0) atomic_add(result, sum);
}
// What earlier kernels left in shared memory is gone: whoever reads it unwritten gets NaN.
AKO_KERNEL(256) ako_scrub_shared(i32 words) {
  AKO_DYNAMIC_SHARED(u32, memory);
  volatile u32* cells = memory;
  for (int i = (int)thread_x(); i < words; i += (int)block_size_x()) cells[i] = 0xFFFFFFFFu;
}
AKO_KERNEL(256) ako_nothing(i32) {}

// ---- outputs: secret random projections ----
// Chunk c is the elements whose number divided by 256 is c, c + chunks, c + 2 chunks …; of each the sum with random
// signs, the sum of squares, and a keyed sum over the places of NaN and infinities. The difference of two outputs'
// projections is a projection of their difference: its square estimates the energy of the error without bias.
// One block a chunk; `specials` holds zeros before.
AKO_KERNEL(256) ako_sketch(const u8* in, i64 count, i64 chunks, u64 key, i32 kind, i32 bytes, u64 format,
                           i32 is_signed, f64* sums, f64* squares, u64* specials) {
  for (i64 chunk = block_x(); chunk < chunks; chunk += grid_size_x()) {
    f64 sum = 0, square = 0;
    u64 special = 0;
    for (i64 at = chunk * 256 + thread_x(); at < count; at += chunks * 256) {
      f64 value = load_value(in, at, kind, bytes, format, is_signed);
      u64 random = mix(key + (u64)at);
      u64 exponent = bits_of(value) >> 52 & 0x7FF;
      if (exponent == 0x7FF) {
        u64 what = (bits_of(value) << 12) != 0 ? 1 : 2 + (bits_of(value) >> 63);
        special += mix(random ^ what);
      } else {
        sum += from_bits(bits_of(value) ^ (random & (u64)1 << 63));
        square += value * value;
      }
    }
    sum = block_sum<256>(sum);
    square = block_sum<256>(square);
    if (special) atomic_add(&specials[chunk], special);
    if (thread_x() == 0) {
      sums[chunk] = sum;
      squares[chunk] = square;
    }
    barrier();
  }
}
)source";

}  // namespace

std::string_view device_judge_source() { return kSource; }

}  // namespace ako
