// SPDX-License-Identifier: Apache-2.0
// The table behind normal random numbers, and elementary functions that give the same bits on every machine.
#pragma once

#include <array>
#include <cstdint>

namespace ako {

/// One segment per exponent and five mantissa bits of the scaled tail probability u = 2^32 p, 2^-1 <= u <
/// 2^31: there the quantile z(p) is close to start + slope * u.
inline constexpr std::size_t kNormalSegments = 32 * 32;
inline constexpr std::uint64_t kFirstSegmentBits = std::uint64_t{1022} << 5;  // of u = 1/2

struct NormalTable {
  std::array<double, kNormalSegments> start, slope;
};
/// Computed on first use, in about a millisecond; thread-safe.
const NormalTable& normal_table();

/// e^x for |x| <= 700 and ln(x) for normal x > 0, good to about 1e-14, from +, -, *, / alone: libm's last
/// bits differ between versions, and input values may not.
double reproducible_exp(double x);
double reproducible_log(double x);

}  // namespace ako
