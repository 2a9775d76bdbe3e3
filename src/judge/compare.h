// SPDX-License-Identifier: Apache-2.0
// Is an output right? Against fp64 expected values, or against another kernel's output on the same inputs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "problem/inputs.h"
#include "problem/problem.h"

namespace ako {

struct OutputCheck {
  bool ok = true;
  double snr_db = 0;        // signal to noise; the largest double when there is no noise at all
  double fraction = 0;      // of elements beyond tolerance
  std::int64_t worst = -1;  // linear index; -1 when nothing was compared
  double expected = 0, got = 0;
  std::string metric;  // "snr 12.1 dB, needs 45"; when not ok
};

/// What an output must satisfy: the problem's own tolerance, or a default by its type when the problem says
/// nothing.
///
/// A mean over all elements says nothing of a few: one zero among sixteen million costs 72 dB. So where the
/// tolerance is one on the mean (snr_db, error_ratio), no element may be off by more than `peak` times the
/// noise allowed in the mean, relative to hypot(the output's rms, the element): part of an error goes with
/// the output's scale, what sums leave behind, and part with the element itself, as rounding does. Theory:
/// the largest of N Gaussian errors is about sqrt(2 ln N) deviations, 6.4 for a billion; rounding reaches
/// sqrt(3) of its own. Evidence: over all shipped problems, plainly written and well scheduled, the largest
/// error was 1.3 times the allowed noise where that is 3 dB from what the type's rounding makes (8-bit
/// floats), elsewhere 0.7 times and less.
///
/// Stress styles make problems worse conditioned (a layer norm of a constant row divides rounding noise by
/// sqrt(eps)), so that an honest kernel loses digits that the declared inputs never cost. Under them the
/// bounds are 100 times (40 dB) wider, and errors are held against the larger of this output's scale and
/// `declared_rms`, the scale under declared inputs. And they do it to one row and not the next: the noise of
/// a whole output may sit in a few rows, where `peak` is four times as far.
struct Bounds {
  Tolerance tolerance;
  double declared_rms = 0;
  double peak = 8;
};
Bounds bounds_for(const Problem&, const Tensor&, InputStyle, double declared_rms);
/// For two outputs that each satisfy `bounds` against the truth: twice as wide.
Bounds between_two(Bounds);

/// `got` holds the storage of expected.size() elements. Expected values beyond the type's range may come out
/// as infinity.
OutputCheck compare_output(ScalarType, const Bounds&, std::span<const double> expected,
                           std::span<const std::byte> got);
/// Compares elements [begin, begin + count) of two outputs; `begin` must be a multiple of 8.
OutputCheck compare_outputs(ScalarType, const Bounds&, std::span<const std::byte> trusted,
                            std::span<const std::byte> got, std::int64_t begin, std::int64_t count);
/// Which elements to blame: beyond the per-element bound, or for bounds on the mean beyond three times the
/// allowed noise.
std::vector<bool> wrong_elements(ScalarType, const Bounds&, std::span<const double> expected,
                                 std::span<const double> got);
double root_mean_square(std::span<const double> values);  // of the finite ones
bool all_finite(std::span<const double> values);

}  // namespace ako
