// SPDX-License-Identifier: Apache-2.0
// ako's own optimizer. A Gaussian process over the logarithm of the cost is asked where the expected
// improvement is largest (Mockus 1975; Jones, Schonlau and Welch 1998): every other time anywhere, every
// other time among the single-parameter changes of the best point. The global questions find the good region,
// the local ones its bottom: tuning spaces are full of cliffs that a smooth regression sees only from near
// by.
#include <algorithm>
#include <cmath>
#include <set>

#include "search/pool_posterior.h"
#include "search/strategies.h"

namespace ako {
namespace {

constexpr std::size_t kDesign = 12;           // random points before the first fit
constexpr double kKernelGrowth = 1.5;               // of the sample count, between fits of the kernel
constexpr int kSweeps = 4;                    // of a fit
constexpr std::size_t kKernelSamples = 192;        // samples that a fit looks at
constexpr std::size_t kConditionedSamples = 512;  // samples that predictions rest on
constexpr std::size_t kPoolLimit = 16384;     // larger spaces are sampled
constexpr std::size_t kPoolDraws = 4096;
// How slow the slow ones are matters little, and stretches the scale: costs above this quantile are cut to
// it. Failed points count as that slow, so that the process avoids their neighbourhood, but not by a cliff.
constexpr double kCut = 0.75;

Axis axis_of(const Parameter& parameter) {
  std::size_t count = parameter.values.size();
  bool logarithmic =
      parameter.numbers.size() == count && count > 1 && std::ranges::min(parameter.numbers) > 0;
  Axis axis;
  for (std::size_t i = 0; i < count; ++i)
    axis.at.push_back(logarithmic ? std::log(parameter.numbers[i]) : static_cast<double>(i));
  auto [low, high] = std::ranges::minmax(axis.at);
  for (double& at : axis.at) at = high > low ? (at - low) / (high - low) : 0;
  return axis;
}

class ModelSearch final : public Optimizer {
 public:
  ModelSearch(const Space& space, std::uint64_t seed)
      : domain_(space, seed, kPoolLimit),
        random_(seed),
        listed_(!domain_.listed().empty() && domain_.listed().size() <= kPoolLimit) {
    for (const Parameter& parameter : space.parameters) axes_.push_back(axis_of(parameter));
    kernel_.lengths.assign(axes_.size(), 0.5);
  }

  std::string name() const override { return "model"; }

  std::optional<Point> ask() override {
    std::optional<Point> point;
    if (posterior_) {
      if (++questions_ % 2 == 0) point = ask_near_best();
      if (!point) point = ask_anywhere();
    }
    if (!point) point = domain_.draw_unseen(random_);
    if (point) take(*point);
    return point;
  }

  void tell(const Point& point, std::optional<double> cost) override {
    take(point);
    points_.push_back(point);
    costs_.push_back(cost && *cost > 0 ? std::optional(std::log(*cost)) : std::nullopt);
    bool better = costs_.back() && (!best_ || *costs_.back() < *costs_[*best_]);
    if (better) best_ = points_.size() - 1;
    if (points_.size() < kDesign) return;
    // The pool of a sampled space holds the best point's neighbours, so it follows the best point.
    if (points_.size() >= next_fit_ || (better && !listed_))
      refit();
    else
      posterior_->add(levels_of(point), target_of(costs_.back()));
  }

 private:
  static Levels levels_of(const Point& point) { return {point.begin(), point.end()}; }
  double target_of(std::optional<double> log_cost) const {
    return log_cost ? std::min(*log_cost, cut_) : cut_;
  }

  void take(const Point& point) {
    domain_.mark_seen(point);
    if (posterior_) posterior_->take(point);
  }

  std::optional<Point> ask_anywhere() const {
    auto place = posterior_->most_promising(best_target());
    return place ? std::optional(posterior_->pool()[*place]) : std::nullopt;
  }

  std::optional<Point> ask_near_best() const {
    if (!best_) return std::nullopt;
    std::vector<std::size_t> places;
    for (const Point& neighbour : domain_.neighbours(points_[*best_], false))
      if (auto place = posterior_->place_of(neighbour)) places.push_back(*place);
    auto place = posterior_->most_promising(best_target(), places);
    return place ? std::optional(posterior_->pool()[*place]) : std::nullopt;
  }

  double best_target() const { return best_ ? target_of(costs_[*best_]) : cut_; }

  void set_targets() {
    std::vector<double> sorted;
    for (const auto& cost : costs_)
      if (cost) sorted.push_back(*cost);
    if (sorted.empty()) return;
    std::ranges::sort(sorted);
    cut_ = sorted[static_cast<std::size_t>(kCut * static_cast<double>(sorted.size() - 1))];
  }

  /// A new kernel, and predictions afresh.
  void refit() {
    next_fit_ =
        std::max(points_.size() + 4, static_cast<std::size_t>(kKernelGrowth * static_cast<double>(points_.size())));
    set_targets();
    std::vector<double> targets;
    for (const auto& cost : costs_) targets.push_back(target_of(cost));
    std::vector<Levels> samples;
    std::vector<double> values;
    for (std::size_t i : informative_samples(targets, kKernelSamples)) {
      samples.push_back(levels_of(points_[i]));
      values.push_back(targets[i]);
    }
    kernel_ = fit_kernel(axes_, samples, values, kernel_, kSweeps);
    if (!posterior_ || !listed_) make_pool();
    posterior_->restart(kernel_);
    std::vector<std::size_t> kept = informative_samples(targets, kConditionedSamples);
    std::ranges::sort(kept);
    for (std::size_t i : kept) posterior_->add(levels_of(points_[i]), targets[i]);
  }

  void make_pool() {
    std::vector<Point> pool = domain_.listed();
    if (!listed_ || pool.empty()) pool = draw_pool();
    posterior_.emplace(axes_, std::move(pool));
    for (const Point& point : posterior_->pool())
      if (domain_.seen(point)) posterior_->take(point);
  }

  std::vector<Point> draw_pool() {
    std::set<Point> pool;
    if (best_)
      for (Point& neighbour : domain_.neighbours(points_[*best_], false)) pool.insert(std::move(neighbour));
    for (std::size_t i = 0; i < kPoolDraws; ++i)
      if (auto point = domain_.draw(random_)) pool.insert(std::move(*point));
    return {pool.begin(), pool.end()};
  }

  Domain domain_;
  Random random_;
  bool listed_;  // the pool is the whole space
  std::vector<Axis> axes_;
  Kernel kernel_;
  std::optional<PoolPosterior> posterior_;
  std::vector<Point> points_;
  std::vector<std::optional<double>> costs_;  // logarithms; nullopt: failed
  std::optional<std::size_t> best_;
  double cut_ = 0;
  std::size_t next_fit_ = kDesign, questions_ = 0;
};

}  // namespace

std::unique_ptr<Optimizer> make_model_search(const Space& space, std::uint64_t seed) {
  return std::make_unique<ModelSearch>(space, seed);
}

}  // namespace ako
