// SPDX-License-Identifier: Apache-2.0
// The part of a generated reference that is the same for every problem.
#include "problem/reference_lowering.h"

namespace ako {
namespace {

constexpr std::string_view kBasics = R"(#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <omp.h>

namespace {

using i64 = std::int64_t;
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

// Arrays of temporaries.
template <class T>
struct Array {
  T* data = nullptr;
  Array() = default;
  Array(const Array&) = delete;
  ~Array() { free(); }
  bool allocate(i64 count) {
    const std::size_t bytes = (std::size_t(count) * sizeof(T) + 127) / 64 * 64;
    return (data = static_cast<T*>(std::aligned_alloc(64, bytes))) != nullptr;
  }
  void free() {
    std::free(data);
    data = nullptr;
  }
  T& operator[](i64 i) { return data[i]; }
  const T& operator[](i64 i) const { return data[i]; }
};

// Inputs in storage, read as fp64, int64 or bool.
template <class Stored, class Value>
struct Stored_ {
  const Stored* data;
  explicit Stored_(const void* bytes) : data(static_cast<const Stored*>(bytes)) {}
  Value operator[](i64 i) const { return static_cast<Value>(data[i]); }
};
using f64 = Stored_<double, double>;
using f32 = Stored_<float, double>;
using tf32 = Stored_<float, double>;
using f16 = Stored_<_Float16, double>;
using i64_array = Stored_<std::int64_t, i64>;
using i32 = Stored_<std::int32_t, i64>;
using i16 = Stored_<std::int16_t, i64>;
using i8 = Stored_<std::int8_t, i64>;
using u8 = Stored_<std::uint8_t, i64>;
using boolean = Stored_<std::uint8_t, bool>;
struct bf16 {
  const std::uint16_t* data;
  explicit bf16(const void* bytes) : data(static_cast<const std::uint16_t*>(bytes)) {}
  double operator[](i64 i) const { return std::bit_cast<float>(std::uint32_t(data[i]) << 16); }
};
struct i4 {
  const std::uint8_t* data;
  explicit i4(const void* bytes) : data(static_cast<const std::uint8_t*>(bytes)) {}
  i64 operator[](i64 i) const { return std::int8_t(data[i / 2] >> (i % 2 * 4) << 4) >> 4; }
};
// Codes of `bits` bits, packed, looked up in a table of their values.
template <int bits, const double* values>
struct Coded {
  const std::uint8_t* data;
  explicit Coded(const void* bytes) : data(static_cast<const std::uint8_t*>(bytes)) {}
  double operator[](i64 i) const {
    if constexpr (bits == 8) return values[data[i]];
    const i64 first = i * bits;
    const unsigned window = data[first / 8] | unsigned(data[(first + bits - 1) / 8]) << 8;
    return values[window >> (first % 8) & ((1u << bits) - 1)];
  }
};

// Rounding to a type: ties to even, from fp64. Adding and subtracting 1.5 * 2^52 units of the last place leaves the
// sum no bits below that place; the unit follows from the value's exponent, but is never below the denormals'.
enum class Overflow { infinity, nan, saturate };
template <int precision, int least_exponent, Overflow overflow>
inline double rounded(double x, double largest) {
  const double size = std::fabs(x);
  if (!(size < 2 * largest)) {
    if (x != x) return overflow == Overflow::saturate ? 0.0 : x;
    return overflow == Overflow::infinity ? std::copysign(inf, x)
           : overflow == Overflow::nan    ? nan_value
                                          : std::copysign(largest, x);
  }
  const std::uint64_t exponent = std::max<std::uint64_t>(std::bit_cast<std::uint64_t>(size) & (0x7FFull << 52),
                                                         std::uint64_t(least_exponent + 1023) << 52);
  const double shift = std::bit_cast<double>(exponent + (std::uint64_t(53 - precision) << 52)) * 1.5;
  const double result = (size + shift) - shift;
  if (result > largest) return overflow == Overflow::infinity ? std::copysign(inf, x)
                               : overflow == Overflow::nan    ? nan_value
                                                              : std::copysign(largest, x);
  return std::copysign(result, x);
}
inline double round_f32(double x) { return static_cast<float>(x); }
inline double round_tf32(double x) { return rounded<11, -126, Overflow::infinity>(x, 0x1.ffcp127); }
inline double round_f16(double x) { return rounded<11, -14, Overflow::infinity>(x, 65504); }
inline double round_bf16(double x) { return rounded<8, -126, Overflow::infinity>(x, 0x1.fep127); }
inline double round_f8e4m3(double x) { return rounded<4, -6, Overflow::nan>(x, 448); }
inline double round_f8e5m2(double x) { return rounded<3, -14, Overflow::infinity>(x, 57344); }
inline double round_f8e4m3fnuz(double x) { return rounded<4, -7, Overflow::nan>(x, 240) + 0.0; }
inline double round_f8e5m2fnuz(double x) { return rounded<3, -15, Overflow::nan>(x, 57344) + 0.0; }
inline double round_f6e2m3(double x) { return rounded<4, 0, Overflow::saturate>(x, 7.5); }
inline double round_f6e3m2(double x) { return rounded<3, -2, Overflow::saturate>(x, 28); }
inline double round_f4e2m1(double x) { return rounded<2, 0, Overflow::saturate>(x, 6); }
inline double round_e8m0(double x) {
  if (!(x > 0) || x == inf) return nan_value;
  const std::uint64_t power = (std::bit_cast<std::uint64_t>(x) + (1ull << 51)) >> 52 << 52;
  const double result = std::max(std::bit_cast<double>(power), 0x1p-127);
  return result > 0x1p127 ? nan_value : result;
}
inline i64 saturated(i64 x, i64 low, i64 high) { return x < low ? low : x > high ? high : x; }
inline i64 rounded_integer(double x, double low, double high) {
  if (x != x) return 0;
  if (x >= high) return high >= 0x1p63 ? std::numeric_limits<i64>::max() : i64(high);
  return x <= low ? i64(low) : i64(std::nearbyint(x));
}

// Integers divide and take remainders as in Python: towards minus infinity. Where a guarded operand is evaluated ahead
// of its guard, a divisor may be zero and the result is not used.
inline i64 floor_div(i64 a, i64 b) {
  if (b == 0) return 0;
  const i64 q = a / b;
  return q - (a % b != 0 && (a < 0) != (b < 0));
}
inline i64 floor_mod(i64 a, i64 b) { return a - floor_div(a, b) * b; }
inline double real_mod(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
inline i64 to_integer(double x) {
  if (!(x > -0x1p63)) return x != x ? 0 : std::numeric_limits<i64>::min();
  return x >= 0x1p63 ? std::numeric_limits<i64>::max() : i64(x);
}
inline i64 integer_power(i64 base, i64 exponent) {
  i64 result = 1;
  for (; exponent > 0; --exponent) result *= base;
  return result;
}
inline double square(double x) { return x * x; }
inline double cube(double x) { return x * x * x; }

// NaN wins over any number in min and max.
template <class T>
inline T least(T a, T b) { return b < a || b != b ? b : a; }
template <class T>
inline T greatest(T a, T b) { return a < b || b != b ? b : a; }
template <class T>
inline T clamped(T x, T low, T high) { return least<T>(greatest<T>(x, low), high); }
inline double magnitude(double x) { return std::fabs(x); }
inline i64 magnitude(i64 x) { return x < 0 ? -x : x; }
inline double sign_of(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x; }
inline i64 sign_of(i64 x) { return (x > 0) - (x < 0); }
inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
inline bool inside(i64 i, i64 extent) { return 0 <= i && i < extent; }

)";

constexpr std::string_view kContraction =
    R"(// Contractions: out[batch, row, column] = sum of left(batch, row, k) * right(batch, k, column) for
// begin(batch, row) <= k < end(batch, row). Both operands are evaluated block by block into packed fp64 arrays that
// fit the caches; four rows by two vectors of columns are then kept in registers over a block of k.
#ifdef __AVX512F__
typedef double Vector __attribute__((vector_size(64)));
#else
typedef double Vector __attribute__((vector_size(32)));
#endif
constexpr i64 lanes = sizeof(Vector) / sizeof(double);
constexpr i64 tile_rows = 4, tile_columns = 2 * lanes;
constexpr i64 block_rows = 128, block_columns = 256, block_depth = 256;

// The one place where a fused multiply-add is wanted: twice as fast, and no less exact.
#ifdef __clang__
__attribute__((noinline))
#else
__attribute__((noinline, optimize("fp-contract=fast")))
#endif
void multiply_tile(i64 depth, const double* left, const double* right, double* out) {
#ifdef __clang__
#pragma clang fp contract(fast)
#endif
  Vector sums[tile_rows][2] = {};
  for (i64 k = 0; k < depth; ++k) {
    const Vector r0 = *reinterpret_cast<const Vector*>(right + k * tile_columns);
    const Vector r1 = *reinterpret_cast<const Vector*>(right + k * tile_columns + lanes);
    for (i64 i = 0; i < tile_rows; ++i) {
      const double l = left[k * tile_rows + i];
      sums[i][0] += l * r0;
      sums[i][1] += l * r1;
    }
  }
  for (i64 i = 0; i < tile_rows; ++i) {
    *reinterpret_cast<Vector*>(out + i * tile_columns) += sums[i][0];
    *reinterpret_cast<Vector*>(out + i * tile_columns + lanes) += sums[i][1];
  }
}

template <class Begin, class End, class Left, class Right>
bool contract(int threads, i64 batches, i64 rows, i64 columns, Begin begin, End end, Left left, Right right,
              double* out) {
  const i64 row_blocks = (rows + block_rows - 1) / block_rows;
  const i64 column_blocks = (columns + block_columns - 1) / block_columns;
  bool enough_memory = true;
#pragma omp parallel num_threads(threads)
  {
    Array<double> packed_left, packed_right, sums;
    Array<i64> from, to;
    const bool ready = packed_left.allocate(block_rows * block_depth) &&
                       packed_right.allocate(block_columns * block_depth) &&
                       sums.allocate(block_rows * block_columns) && from.allocate(block_rows) && to.allocate(block_rows);
    if (!ready) {
#pragma omp atomic write
      enough_memory = false;
    }
#pragma omp for collapse(3) schedule(dynamic)
    for (i64 batch = 0; batch < batches; ++batch)
      for (i64 row_block = 0; row_block < row_blocks; ++row_block)
        for (i64 column_block = 0; column_block < column_blocks; ++column_block) {
          if (!ready) continue;
          const i64 row0 = row_block * block_rows, row_count = std::min(block_rows, rows - row0);
          const i64 column0 = column_block * block_columns;
          const i64 column_count = std::min(block_columns, columns - column0);
          const i64 row_tiles = (row_count + tile_rows - 1) / tile_rows;
          const i64 column_tiles = (column_count + tile_columns - 1) / tile_columns;
          i64 depth0 = std::numeric_limits<i64>::max(), depth1 = std::numeric_limits<i64>::min();
          for (i64 i = 0; i < row_tiles * tile_rows; ++i) {
            const i64 row = row0 + std::min(i, row_count - 1);  // rows beyond the last repeat it and are not stored
            from[i] = begin(batch, row);
            to[i] = std::max(from[i], i64(end(batch, row)));
            if (from[i] < to[i]) depth0 = std::min(depth0, from[i]), depth1 = std::max(depth1, to[i]);
          }
          std::fill_n(sums.data, row_tiles * tile_rows * column_tiles * tile_columns, 0.0);
          for (i64 k0 = depth0; k0 < depth1; k0 += block_depth) {
            const i64 depth = std::min(block_depth, depth1 - k0);
            for (i64 tile = 0; tile < column_tiles; ++tile)
              for (i64 k = 0; k < depth; ++k) {
                double* const packed = &packed_right[(tile * block_depth + k) * tile_columns];
                const i64 first = column0 + tile * tile_columns;
                const i64 used = std::min(tile_columns, columns - first);
                for (i64 j = 0; j < used; ++j) packed[j] = right(batch, k0 + k, first + j);
                for (i64 j = used; j < tile_columns; ++j) packed[j] = 0;
              }
            for (i64 i = 0; i < row_tiles * tile_rows; ++i) {
              const i64 row = row0 + std::min(i, row_count - 1);
              double* const packed = &packed_left[i / tile_rows * block_depth * tile_rows + i % tile_rows];
              const i64 k_end = std::min(depth, to[i] - k0);
              for (i64 k = std::max(i64(0), from[i] - k0); k < k_end; ++k)
                packed[k * tile_rows] = left(batch, row, k0 + k);
            }
            for (i64 row_tile = 0; row_tile < row_tiles; ++row_tile) {
              // All four rows have the terms of [common0, common1); the others, at ragged ends, are added one by one.
              const i64 i0 = row_tile * tile_rows;
              i64 common0 = 0, common1 = depth;
              for (i64 i = i0; i < i0 + tile_rows; ++i) {
                common0 = std::max(common0, from[i] - k0);
                common1 = std::min(common1, to[i] - k0);
              }
              common0 = std::min(common0, depth);
              common1 = std::max(common1, common0);
              for (i64 tile = 0; tile < column_tiles; ++tile) {
                const double* const l = &packed_left[row_tile * block_depth * tile_rows];
                const double* const r = &packed_right[tile * block_depth * tile_columns];
                double* const s = &sums[(row_tile * column_tiles + tile) * tile_rows * tile_columns];
                multiply_tile(common1 - common0, l + common0 * tile_rows, r + common0 * tile_columns, s);
                for (i64 i = 0; i < tile_rows; ++i) {
                  const i64 k_end = std::min(depth, to[i0 + i] - k0);
                  for (i64 k = std::max(i64(0), from[i0 + i] - k0); k < k_end; ++k) {
                    if (k == common0 && common0 < common1) k = common1;
                    if (k >= k_end) break;
                    for (i64 j = 0; j < tile_columns; ++j)
                      s[i * tile_columns + j] += l[k * tile_rows + i] * r[k * tile_columns + j];
                  }
                }
              }
            }
          }
          for (i64 i = 0; i < row_count; ++i)
            for (i64 j = 0; j < column_count; ++j)
              out[(batch * rows + row0 + i) * columns + column0 + j] =
                  sums[((i / tile_rows * column_tiles + j / tile_columns) * tile_rows + i % tile_rows) * tile_columns +
                       j % tile_columns];
        }
  }
  return enough_memory;
}

)";

}  // namespace

std::string_view reference_basics() { return kBasics; }
std::string_view reference_contraction() { return kContraction; }

}  // namespace ako
