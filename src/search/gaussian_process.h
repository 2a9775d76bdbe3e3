// SPDX-License-Identifier: Apache-2.0
// The regression under `model` and the cost model: a Gaussian process (Rasmussen and Williams, 2006) for
// small data on discrete axes. The kernel is a product of one Matérn-5/2 per axis; since an axis has few
// levels, each factor is a small table, and a correlation is a few look-ups.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ako {

/// One feature: the coordinates of its levels, best scaled to [0, 1].
struct Axis {
  std::vector<double> at;
};
/// A sample: one level per axis.
using Levels = std::vector<std::uint16_t>;

struct Kernel {
  std::vector<double> lengths;  // per axis, in units of its coordinates; long: the axis matters little
  double noise = 1e-2;          // variance of the noise, the signal's being 1
};

double matern52(double distance, double length);

/// Correlations between samples on given axes.
class Correlations {
 public:
  Correlations(std::span<const Axis> axes, const Kernel& kernel);
  double between(const Levels& a, const Levels& b) const;
  /// Correlation of every level of an axis with one level of it.
  std::span<const double> column(std::size_t axis, std::size_t level) const;

 private:
  struct Table {
    std::size_t levels;
    std::vector<double> values;
  };
  std::vector<Table> tables_;
};

/// The lower Cholesky factor of a growing symmetric positive definite matrix.
class CholeskyFactor {
 public:
  /// The new row's covariances with those before it, and its own variance.
  void append(std::span<const double> covariances, double variance);
  std::size_t size() const { return size_; }
  std::span<const double> row(std::size_t i) const { return {values_.data() + i * (i + 1) / 2, i + 1}; }
  /// Solves L x = b in place.
  void solve_lower(std::span<double> b) const;
  /// Continues solve_lower by its next element, given those before it.
  double next_of_solution(std::span<const double> solved, double b) const;
  double half_log_determinant() const;

 private:
  std::vector<double> values_;  // rows of the lower triangle, packed
  std::size_t size_ = 0;
};

/// The factor of the samples' covariance (correlations plus noise on the diagonal).
CholeskyFactor factorize(std::span<const Levels> samples, const Correlations&, double noise);

/// Lengths and noise of highest posterior density, by coordinate ascent from `start`; mean and variance are
/// integrated out in closed form. Cost: about 3·(axes + 1)·n³/6 operations a sweep.
Kernel fit_kernel(std::span<const Axis> axes, std::span<const Levels> samples, std::span<const double> values,
                  Kernel start, int sweeps);

/// What the samples say of the constant mean and the signal's variance, given a factor.
struct Trend {
  double mean = 0, variance = 1;
};
Trend trend_of(const CholeskyFactor&, std::span<const double> values);
/// The same from L⁻¹ values and L⁻¹ 1.
Trend trend_of_solved(std::span<const double> values, std::span<const double> ones);

/// Which samples to keep where all would cost too much time: the lower half by value, and an even spread of
/// the rest. In ascending order of value.
std::vector<std::size_t> informative_samples(std::span<const double> values, std::size_t limit);

}  // namespace ako
