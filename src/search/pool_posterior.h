// SPDX-License-Identifier: Apache-2.0
// A Gaussian process's predictions for every point of a pool, kept up to date sample by sample: a new sample
// appends one row to the pool's solved correlations, in time pool × samples, where predicting afresh would
// take pool × samples².
#pragma once

#include <unordered_map>

#include "search/domain.h"
#include "search/gaussian_process.h"

namespace ako {

class PoolPosterior {
 public:
  PoolPosterior(std::vector<Axis> axes, std::vector<Point> pool);

  /// Forgets the samples; the pool stays.
  void restart(const Kernel&);
  void add(const Levels& sample, double value);

  const std::vector<Point>& pool() const { return pool_; }
  std::optional<std::size_t> place_of(const Point&) const;
  /// Marks a point as measured or asked for: it is not promising any more.
  void take(const Point&);

  /// The place of the largest expected improvement over `best`, among all untaken points or those given;
  /// nullopt: there is none.
  std::optional<std::size_t> most_promising(double best) const;
  std::optional<std::size_t> most_promising(double best, std::span<const std::size_t> places) const;

 private:
  struct Scale {
    double mean, deviation;  // of the process before any sample
  };
  Scale scale() const;
  double promise(std::size_t place, double best, const Scale&) const;
  void correlate(const Levels& sample, std::span<float> row) const;

  std::vector<Axis> axes_;
  std::vector<Point> pool_;
  std::vector<std::vector<std::uint16_t>> levels_;  // by axis, then place
  std::unordered_map<Point, std::size_t, PointHash> places_;
  std::vector<char> taken_;

  Kernel kernel_;
  std::optional<Correlations> correlations_;
  CholeskyFactor factor_;
  std::vector<Levels> samples_;
  std::vector<double> solved_values_, solved_ones_;  // L⁻¹ y and L⁻¹ 1
  std::vector<std::vector<float>> rows_;             // L⁻¹ K(samples, pool), a row per sample
  std::vector<float> explained_;                     // by place: Σ row²
  std::vector<float> from_values_, from_ones_;       // by place: Σ row · L⁻¹ y, Σ row · L⁻¹ 1
};

}  // namespace ako
