// SPDX-License-Identifier: Apache-2.0
#include "search/gaussian_process.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ako {
namespace {

constexpr double kSmallestPivot = 1e-9;
constexpr double kSmallestVariance = 1e-12;
// Log-normal priors: axes matter moderately, measurements are good to a few per cent of the signal.
constexpr double kPriorLength = 1.0, kPriorLengthSpread = 1.0;
constexpr double kPriorNoise = 1e-2, kPriorNoiseSpread = 2.0;
constexpr double kShortest = 0.05, kLongest = 20, kQuietest = 1e-5, kNoisiest = 0.5;

double squared(double x) { return x * x; }

double log_prior(const Kernel& kernel) {
  double sum = -0.5 * squared(std::log(kernel.noise / kPriorNoise) / kPriorNoiseSpread);
  for (double length : kernel.lengths)
    sum -= 0.5 * squared(std::log(length / kPriorLength) / kPriorLengthSpread);
  return sum;
}

double log_posterior(std::span<const Axis> axes, std::span<const Levels> samples,
                     std::span<const double> values, const Kernel& kernel) {
  CholeskyFactor factor = factorize(samples, Correlations(axes, kernel), kernel.noise);
  double n = static_cast<double>(values.size());
  return -0.5 * (n - 1) * std::log(trend_of(factor, values).variance) - factor.half_log_determinant() +
         log_prior(kernel);
}

}  // namespace

double matern52(double distance, double length) {
  double s = std::sqrt(5.0) * std::abs(distance) / length;
  return (1 + s + s * s / 3) * std::exp(-s);
}

Correlations::Correlations(std::span<const Axis> axes, const Kernel& kernel) {
  tables_.reserve(axes.size());
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const auto& at = axes[a].at;
    Table table{at.size(), std::vector<double>(at.size() * at.size())};
    for (std::size_t i = 0; i < at.size(); ++i)
      for (std::size_t j = 0; j < at.size(); ++j)
        table.values[i * at.size() + j] = matern52(at[i] - at[j], kernel.lengths[a]);
    tables_.push_back(std::move(table));
  }
}

double Correlations::between(const Levels& a, const Levels& b) const {
  double product = 1;
  for (std::size_t i = 0; i < tables_.size(); ++i)
    product *= tables_[i].values[a[i] * tables_[i].levels + b[i]];
  return product;
}

std::span<const double> Correlations::column(std::size_t axis, std::size_t level) const {
  const Table& table = tables_[axis];
  return {table.values.data() + level * table.levels, table.levels};
}

double CholeskyFactor::next_of_solution(std::span<const double> solved, double b) const {
  auto row_values = row(solved.size());
  for (std::size_t j = 0; j < solved.size(); ++j) b -= row_values[j] * solved[j];
  return b / row_values.back();
}

void CholeskyFactor::solve_lower(std::span<double> b) const {
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = next_of_solution(b.first(i), b[i]);
}

void CholeskyFactor::append(std::span<const double> covariances, double variance) {
  std::size_t start = values_.size();
  values_.insert(values_.end(), covariances.begin(), covariances.end());
  values_.push_back(0);
  std::span<double> fresh(values_.data() + start, size_);
  solve_lower(fresh);
  for (double value : fresh) variance -= value * value;
  values_.back() = std::sqrt(std::max(variance, kSmallestPivot));
  ++size_;
}

double CholeskyFactor::half_log_determinant() const {
  double sum = 0;
  for (std::size_t i = 0; i < size_; ++i) sum += std::log(row(i).back());
  return sum;
}

CholeskyFactor factorize(std::span<const Levels> samples, const Correlations& correlations, double noise) {
  CholeskyFactor factor;
  std::vector<double> covariances;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    covariances.resize(i);
    for (std::size_t j = 0; j < i; ++j) covariances[j] = correlations.between(samples[i], samples[j]);
    factor.append(covariances, 1 + noise);
  }
  return factor;
}

Trend trend_of_solved(std::span<const double> values, std::span<const double> ones) {
  if (values.empty()) return {};
  double squares = 0, cross = 0, weight = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    squares += values[i] * values[i];
    cross += values[i] * ones[i];
    weight += ones[i] * ones[i];
  }
  double freedom = std::max(1.0, static_cast<double>(values.size()) - 1);
  return {cross / weight, std::max((squares - cross * cross / weight) / freedom, kSmallestVariance)};
}

Trend trend_of(const CholeskyFactor& factor, std::span<const double> values) {
  std::vector<double> solved(values.begin(), values.end()), ones(values.size(), 1.0);
  factor.solve_lower(solved);
  factor.solve_lower(ones);
  return trend_of_solved(solved, ones);
}

std::vector<std::size_t> informative_samples(std::span<const double> values, std::size_t limit) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
  if (order.size() <= limit) return order;
  std::vector<std::size_t> kept(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(limit / 2));
  std::size_t rest = order.size() - kept.size(), wanted = limit - kept.size();
  for (std::size_t i = 0; i < wanted; ++i) kept.push_back(order[limit / 2 + i * rest / wanted]);
  return kept;
}

Kernel fit_kernel(std::span<const Axis> axes, std::span<const Levels> samples, std::span<const double> values,
                  Kernel start, int sweeps) {
  Kernel best = std::move(start);
  double best_score = log_posterior(axes, samples, values, best);
  auto improve = [&](double& parameter, double factor, double low, double high) {
    for (double step : {factor, 1 / factor}) {
      double old = parameter;
      parameter = std::clamp(old * step, low, high);
      if (parameter == old) continue;
      double score = log_posterior(axes, samples, values, best);
      if (score > best_score) {
        best_score = score;
        return;
      }
      parameter = old;
    }
  };
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    double factor = sweep % 2 == 0 ? 2.0 : 1.4;
    for (double& length : best.lengths) improve(length, factor, kShortest, kLongest);
    improve(best.noise, factor * factor, kQuietest, kNoisiest);
  }
  return best;
}

}  // namespace ako
