// SPDX-License-Identifier: Apache-2.0
// What one element of an output may be off by, and the sums over many elements from which an output is
// judged.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "judge/compare.h"

namespace ako {

/// The element that is farthest beyond what it is held to.
struct Extreme {
  double excess = -std::numeric_limits<double>::infinity();
  std::int64_t index = -1;
  double expected = 0, got = 0;

  void see(double how_far, std::int64_t at, double e, double g) {
    if (how_far > excess) *this = {how_far, at, e, g};
  }
  void see(const Extreme& other) { see(other.excess, other.index, other.expected, other.got); }
};

/// Bounds of one element, and what rounding alone costs there.
struct ElementRule {
  ScalarType type;
  bool exact;         // integers and booleans: equal or not
  bool close;         // atol and rtol bind
  double atol, rtol;  // 0 unless they bind
  /// What an element may be off by whatever the mean says, relative to hypot(scale, element); infinite when
  /// no mean is asked for.
  double cap;
  double peak;  // times the noise allowed in the mean, which the cap is
  /// Relative standard deviation of rounding to the type: half an ulp uniform, 2^-p / sqrt(3).
  double rounding;
  double largest_value;

  /// A tolerance of nothing asks for the value that rounding fp64 to the output's type gives: what fp64 says
  /// itself may have no code in that type.
  bool to_the_bit() const { return close && !exact && atol == 0 && rtol == 0; }
  bool capped() const { return !exact && cap < std::numeric_limits<double>::infinity(); }
  double noise() const { return cap / peak; }
};
ElementRule rule_for(ScalarType, const Bounds&);

/// Sums over a range of elements.
struct ElementSums {
  double signal = 0, noise = 0;  // of squares
  std::int64_t beyond = 0;       // elements outside atol + rtol |expected|, or unequal
  std::int64_t hopeless = 0;     // NaN or infinity where a number was expected, or the other way round
  Extreme worst;                 // by error less atol + rtol |expected|; infinite when hopeless
  /// By the square of the error less the part of the cap's square that grows with the element: beyond the
  /// cap if more than what is left, (cap * scale)^2. So the scale need not be known before the last element.
  Extreme peak;

  void add(const ElementSums&);
  void add(const ElementRule&, const double* expected, const double* got, std::int64_t first,
           std::int64_t count);

 private:
  bool add_block(const ElementRule&, const double* expected, const double* got, std::int64_t first);
  void add_each(const ElementRule&, const double* expected, const double* got, std::int64_t first,
                std::int64_t count);
  void see(const ElementRule&, double expected, double got, double error, std::int64_t index);
};

/// The element in the words of a verdict: "off by 0.31, 55 times the noise that …".
std::string describe_peak(const ElementRule&, const Extreme&, double scale);

}  // namespace ako
