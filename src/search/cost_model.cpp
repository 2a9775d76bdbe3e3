// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "search/gaussian_process.h"
#include "search/optimizer.h"

namespace ako {
namespace {

constexpr std::size_t kFitLimit =
    192;  // samples that the kernel is fitted to: the best, and a spread of the rest
constexpr std::size_t kConditionLimit =
    1024;                        // samples that predictions rest on: time of add() grows with its square
constexpr double kGrowth = 1.3;  // between fits

/// The levels of the axes are the feature values met so far.
class GaussianCostModel final : public CostModel {
 public:
  explicit GaussianCostModel(std::size_t features) : axes_(features) {
    kernel_.lengths.assign(features, 1.0);
  }

  void add(std::span<const double> features, double log_cost) override {
    ++seen_;
    if (samples_.size() == kConditionLimit) drop_worst();
    bool new_level = false;
    Levels levels;
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      auto& at = axes_[a].at;
      auto level = static_cast<std::size_t>(std::ranges::find(at, features[a]) - at.begin());
      if (level == at.size()) at.push_back(features[a]), new_level = true;
      levels.push_back(static_cast<std::uint16_t>(level));
    }
    samples_.push_back(std::move(levels));
    values_.push_back(log_cost);
    if (samples_.size() >= next_fit_ || new_level || factor_.size() + 1 != samples_.size())
      recompute();
    else
      extend();
    condition();
  }

  Prediction predict(std::span<const double> features) const override {
    std::vector<double> solved;
    solved.reserve(samples_.size());
    std::vector<std::vector<double>> tables = tables_for(features);
    double mean = trend_.mean, variance = 1;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      double correlation = 1;
      for (std::size_t a = 0; a < axes_.size(); ++a) correlation *= tables[a][samples_[i][a]];
      solved.push_back(factor_.next_of_solution(solved, correlation));
      mean += solved[i] * residuals_[i];
      variance -= solved[i] * solved[i];
    }
    return {mean, std::sqrt(trend_.variance * std::max(variance, 1e-9))};
  }

  std::size_t size() const override { return seen_; }

 private:
  std::vector<std::vector<double>> tables_for(std::span<const double> features) const {
    std::vector<std::vector<double>> tables(axes_.size());
    for (std::size_t a = 0; a < axes_.size(); ++a)
      for (double at : axes_[a].at) tables[a].push_back(matern52(at - features[a], kernel_.lengths[a]));
    return tables;
  }

  void recompute() {
    if (samples_.size() >= next_fit_) {
      fit();
      next_fit_ = std::max(samples_.size() + 1,
                           static_cast<std::size_t>(kGrowth * static_cast<double>(samples_.size())));
    }
    factor_ = factorize(samples_, Correlations(axes_, kernel_), kernel_.noise);
  }

  void extend() {
    Correlations correlations(axes_, kernel_);
    std::vector<double> row;
    for (std::size_t i = 0; i + 1 < samples_.size(); ++i)
      row.push_back(correlations.between(samples_.back(), samples_[i]));
    factor_.append(row, 1 + kernel_.noise);
  }

  void fit() {
    if (samples_.size() < 3) return;
    std::vector<Levels> samples;
    std::vector<double> values;
    for (std::size_t i : informative_samples(values_, kFitLimit)) {
      samples.push_back(samples_[i]);
      values.push_back(values_[i]);
    }
    kernel_ = fit_kernel(axes_, samples, values, kernel_, 3);
  }

  void condition() {
    trend_ = trend_of(factor_, values_);
    residuals_.clear();
    for (double value : values_) residuals_.push_back(value - trend_.mean);
    factor_.solve_lower(residuals_);
  }

  void drop_worst() {
    auto worst = std::ranges::max_element(values_) - values_.begin();
    values_.erase(values_.begin() + worst);
    samples_.erase(samples_.begin() + worst);
    factor_ = {};
  }

  std::vector<Axis> axes_;
  Kernel kernel_;
  std::vector<Levels> samples_;
  std::vector<double> values_;
  CholeskyFactor factor_;
  Trend trend_;
  std::vector<double> residuals_;  // L⁻¹ (values − mean)
  std::size_t next_fit_ = 3, seen_ = 0;
};

}  // namespace

std::unique_ptr<CostModel> make_cost_model(std::size_t features, std::uint64_t) {
  return std::make_unique<GaussianCostModel>(features);
}

}  // namespace ako
