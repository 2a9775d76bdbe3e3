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
/// Stress styles make problems worse conditioned (a layer norm of a constant row divides rounding noise by
/// sqrt(eps)), so that an honest kernel loses digits that the declared inputs never cost. Under them the
/// bounds are 100 times (40 dB) wider, and errors are held against the larger of this output's scale and
/// `declared_rms`, the scale under declared inputs.
struct Bounds {
  Tolerance tolerance;
  double declared_rms = 0;
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
/// Which elements to blame: beyond the per-element bound, or for signal-to-noise bounds beyond three times
/// the allowed noise.
std::vector<bool> wrong_elements(ScalarType, const Bounds&, std::span<const double> expected,
                                 std::span<const double> got);
double root_mean_square(std::span<const double> values);  // of the finite ones
bool all_finite(std::span<const double> values);

}  // namespace ako
