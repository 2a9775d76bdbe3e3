// SPDX-License-Identifier: Apache-2.0
#include "search/pool_posterior.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ako {
namespace {

constexpr std::size_t kStrip = 1024;  // places updated at a time: a strip of all rows stays in cache
constexpr double kTableEnd = 6;
constexpr std::size_t kTableSteps = 64;  // per unit

/// τ(u) = u Φ(u) + φ(u): expected improvement is deviation · τ((best − mean) / deviation). By table, since it
/// is taken for the whole pool at every question.
double improvement_in_deviations(double u) {
  static const auto table = [] {
    std::array<double, static_cast<std::size_t>(2 * kTableEnd) * kTableSteps + 2> values{};
    for (std::size_t i = 0; i < values.size(); ++i) {
      double x = static_cast<double>(i) / kTableSteps - kTableEnd;
      values[i] = x * 0.5 * std::erfc(-x / std::sqrt(2.0)) + 0.3989422804014327 * std::exp(-0.5 * x * x);
    }
    return values;
  }();
  if (u >= kTableEnd) return u;
  double at = (u + kTableEnd) * kTableSteps;
  auto i = static_cast<std::size_t>(at);
  return table[i] + (at - static_cast<double>(i)) * (table[i + 1] - table[i]);
}

}  // namespace

PoolPosterior::PoolPosterior(std::vector<Axis> axes, std::vector<Point> pool)
    : axes_(std::move(axes)), pool_(std::move(pool)), levels_(axes_.size()), taken_(pool_.size(), 0) {
  for (std::size_t axis = 0; axis < axes_.size(); ++axis)
    for (const Point& point : pool_) levels_[axis].push_back(static_cast<std::uint16_t>(point[axis]));
  for (std::size_t place = 0; place < pool_.size(); ++place) places_.emplace(pool_[place], place);
}

std::optional<std::size_t> PoolPosterior::place_of(const Point& point) const {
  auto found = places_.find(point);
  return found == places_.end() ? std::nullopt : std::optional(found->second);
}

void PoolPosterior::take(const Point& point) {
  if (auto place = place_of(point)) taken_[*place] = 1;
}

void PoolPosterior::restart(const Kernel& kernel) {
  kernel_ = kernel;
  correlations_.emplace(axes_, kernel_);
  factor_ = {};
  samples_.clear();
  solved_values_.clear();
  solved_ones_.clear();
  rows_.clear();
  explained_.assign(pool_.size(), 0);
  from_values_.assign(pool_.size(), 0);
  from_ones_.assign(pool_.size(), 0);
}

void PoolPosterior::correlate(const Levels& sample, std::span<float> row) const {
  std::ranges::fill(row, 1.0f);
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    auto column = correlations_->column(axis, sample[axis]);
    std::vector<float> narrow(column.begin(), column.end());
    const auto& levels = levels_[axis];
    for (std::size_t place = 0; place < row.size(); ++place) row[place] *= narrow[levels[place]];
  }
}

void PoolPosterior::add(const Levels& sample, double value) {
  std::vector<double> covariances;
  for (const Levels& other : samples_) covariances.push_back(correlations_->between(sample, other));
  factor_.append(covariances, 1 + kernel_.noise);
  auto factors = factor_.row(samples_.size());
  solved_values_.push_back(factor_.next_of_solution(solved_values_, value));
  solved_ones_.push_back(factor_.next_of_solution(solved_ones_, 1));
  auto by_value = static_cast<float>(solved_values_.back()), by_one = static_cast<float>(solved_ones_.back());

  std::vector<float>& row = rows_.emplace_back(pool_.size());
  correlate(sample, row);
  auto inverse = static_cast<float>(1 / factors.back());
  for (std::size_t begin = 0; begin < row.size(); begin += kStrip) {
    std::size_t end = std::min(row.size(), begin + kStrip);
    for (std::size_t j = 0; j < samples_.size(); ++j) {
      auto weight = static_cast<float>(factors[j]);
      const float* other = rows_[j].data();
      for (std::size_t place = begin; place < end; ++place) row[place] -= weight * other[place];
    }
    for (std::size_t place = begin; place < end; ++place) {
      row[place] *= inverse;
      explained_[place] += row[place] * row[place];
      from_values_[place] += row[place] * by_value;
      from_ones_[place] += row[place] * by_one;
    }
  }
  samples_.push_back(sample);
}

PoolPosterior::Scale PoolPosterior::scale() const {
  Trend trend = trend_of_solved(solved_values_, solved_ones_);
  return {trend.mean, std::sqrt(trend.variance)};
}

/// Expected improvement; where it underflows, something negative that still tells nearer from farther.
double PoolPosterior::promise(std::size_t place, double best, const Scale& scale) const {
  double mean = scale.mean + from_values_[place] - scale.mean * from_ones_[place];
  double deviation = scale.deviation * std::sqrt(std::max(1e-8f, 1 - explained_[place]));
  double u = (best - mean) / deviation;
  return u <= -kTableEnd ? u : deviation * improvement_in_deviations(u);
}

std::optional<std::size_t> PoolPosterior::most_promising(double best) const {
  Scale own = scale();
  std::optional<std::size_t> found;
  double most = 0;
  for (std::size_t place = 0; place < pool_.size(); ++place) {
    if (taken_[place]) continue;
    double value = promise(place, best, own);
    if (!found || value > most) most = value, found = place;
  }
  return found;
}

std::optional<std::size_t> PoolPosterior::most_promising(double best,
                                                         std::span<const std::size_t> places) const {
  Scale own = scale();
  std::optional<std::size_t> found;
  double most = 0;
  for (std::size_t place : places) {
    if (taken_[place]) continue;
    double value = promise(place, best, own);
    if (!found || value > most) most = value, found = place;
  }
  return found;
}

}  // namespace ako
