// SPDX-License-Identifier: Apache-2.0
#include "problem/normal_table.h"

#include <bit>

#include "problem/scalar_format.h"

namespace ako {
namespace {

/// Density of the standard normal distribution.
double density(double z) { return reproducible_exp(-0.5 * z * z) * 0.3989422804014327; }

/// P(Z > z) for z >= 0: near zero one half less the power series of the integral (Abramowitz and
/// Stegun 26.2.11), in the tail Laplace's continued fraction (26.2.14).
double tail_probability(double z) {
  if (z < 3) {
    double term = z, sum = z;
    for (int n = 1; n < 80; ++n) {
      term = term * (z * z) / (2 * n + 1);
      sum = sum + term;
    }
    return 0.5 - density(z) * sum;
  }
  double fraction = z;
  for (int n = 120; n >= 1; --n) fraction = z + n / fraction;
  return density(z) / fraction;
}

/// z with P(Z > z) = p, by Newton's method on the logarithm of the tail, which is nearly a parabola and so
/// safe to iterate from a neighbouring point.
double quantile(double p, double guess) {
  double z = guess;
  for (int step = 0; step < 8; ++step) {
    const double tail = tail_probability(z);
    const double error = reproducible_log(tail / p);
    z = z + error * tail / density(z);
    if (z < 0) z = 0;
  }
  return z;
}

NormalTable make_normal_table() {
  NormalTable table;
  const auto border = [](std::size_t segment) {
    return std::bit_cast<double>((static_cast<std::uint64_t>(segment) + kFirstSegmentBits) << 47);
  };
  // From the middle (u = 2^31, z = 0) outwards, each point starting from its neighbour.
  double right = 0;
  for (std::size_t segment = kNormalSegments; segment-- > 0;) {
    const double u0 = border(segment), u1 = border(segment + 1);
    const double left = quantile(u0 * 0x1p-32, right);
    table.slope[segment] = (right - left) / (u1 - u0);
    table.start[segment] = left - table.slope[segment] * u0;
    right = left;
  }
  return table;
}

}  // namespace

const NormalTable& normal_table() {
  static const NormalTable table = make_normal_table();
  return table;
}

double reproducible_exp(double x) {
  // x = n ln 2 + r with |r| <= ln 2 / 2; ln 2 in two parts, so that n ln 2 loses nothing.
  const double scaled = x * 1.4426950408889634;
  const auto n = static_cast<int>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
  const double high = x - n * 0x1.62e42fefap-1;
  const double r = high - n * 0x1.cf79abc9e3b3ap-40;
  double term = 1, sum = 1;
  for (int k = 1; k < 18; ++k) {
    term = term * r / k;
    sum = sum + term;
  }
  return sum * power_of_two(n);
}

double reproducible_log(double x) {
  // x = m 2^e with m about 1; ln m = 2 artanh((m - 1) / (m + 1)).
  const auto bits = std::bit_cast<std::uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & ((std::uint64_t{1} << 52) - 1)) | std::uint64_t{1023} << 52);
  if (m > 1.4142135623730951) {
    m = m * 0.5;
    ++exponent;
  }
  const double t = (m - 1) / (m + 1), square = t * t;
  double power = t, sum = t;
  for (int k = 3; k < 27; k += 2) {
    power = power * square;
    sum = sum + power / k;
  }
  return exponent * 0.6931471805599453 + 2 * sum;
}

}  // namespace ako
