// SPDX-License-Identifier: Apache-2.0
// Theory.
//
// A block is ABBA or BAAB with the orientation drawn at random, and its value is the logarithm of the ratio
// of the two sides' times. When both sides are the same kernel, exchanging their names changes the value's
// sign and nothing else: blocks are symmetric about zero whatever the machine does (stolen cores and
// interrupts make the tails far heavier than normal ones). The one assumption that is needed for a rank test
// is therefore made true by the experiment's design.
//
// Location and interval: Hodges–Lehmann, the median of all Walsh averages (x_i + x_j) / 2, i <= j, and the
// interval that inverts Wilcoxon's signed-rank test (Hollander, Wolfe & Chicken, "Nonparametric Statistical
// Methods", 3rd ed., 3.2–3.3). The null distribution is counted exactly up to kExactBlocks blocks; beyond, the
// normal approximation is used.
//
// Several shapes: round r yields one block per shape; its aggregate is the mean of their log-ratios, the
// logarithm of the geometric mean of the ratios. A mean of symmetric values is symmetric. One wild block
// would spoil its round, so values are first pulled in to within four robust deviations of their shape's own
// median, which is symmetric, too.
//
// Looking repeatedly: "faster" is asked only at planned looks. The first spends 0.4 of alpha, just enough for
// minimum_blocks = 8 unanimous blocks (2^-8 = 0.0039): most comparisons are that clear. Later looks, each 4/3
// as far as the last, test at 0.15 of alpha each. Their statistics are correlated, so that the chance to
// cross anywhere is less than the sum; it was counted by simulation over sign flips (the null distribution is
// free of the data's), and bench/decision prints it: below alpha for the default rule.
//
// "slower" is no promise to anyone (at worst a good candidate is proposed again), so four blocks that all lie
// beyond 28 %, or six beyond 10 %, suffice: at worst 1 in 16 and 1 in 64 for a kernel against itself on a
// machine that is nothing but noise. After one and a half times the minimum of blocks, a candidate whose
// estimate is no improvement worth having is let go: stopping for futility can only lower the chance to
// accept.
#include "judge/decision.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ako {
namespace {

constexpr std::size_t kExactBlocks = 64;
constexpr double kFirstShare = 0.4, kLaterShare = 0.15, kGrowth = 4.0 / 3.0;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The largest k with P(W <= k) <= alpha for the signed-rank statistic W of n values; -1 when even P(W = 0)
/// is more.
std::int64_t exact_critical_rank(std::size_t n, double alpha) {
  std::vector<double> probability(n * (n + 1) / 2 + 1, 0.0);  // of each sum of a random subset of 1 … n
  probability[0] = 1;
  for (std::size_t rank = 1, top = 0; rank <= n; ++rank) {
    top += rank;
    for (std::size_t sum = top + 1; sum-- > 0;)
      probability[sum] = (probability[sum] + (sum >= rank ? probability[sum - rank] : 0.0)) / 2;
  }
  std::int64_t k = -1;
  for (double total = probability[0]; total <= alpha; total += probability[static_cast<std::size_t>(k) + 1])
    ++k;
  return k;
}

/// Quantile of the standard normal distribution (upper tail), by bisection: called a few times per decision.
double normal_upper(double tail) {
  double low = -10, high = 10;
  for (int i = 0; i < 60; ++i) {
    double middle = (low + high) / 2;
    (0.5 * std::erfc(middle / std::sqrt(2.0)) > tail ? low : high) = middle;
  }
  return low;
}

std::int64_t critical_rank(std::size_t n, double alpha) {
  if (n <= kExactBlocks) return exact_critical_rank(n, alpha);
  double count = static_cast<double>(n);
  double mean = count * (count + 1) / 4, deviation = std::sqrt(count * (count + 1) * (2 * count + 1) / 24);
  return static_cast<std::int64_t>(std::floor(mean - 0.5 - normal_upper(alpha) * deviation));
}

std::vector<double> walsh_averages(std::span<const double> values) {
  std::vector<double> averages;
  averages.reserve(values.size() * (values.size() + 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = i; j < values.size(); ++j) averages.push_back((values[i] + values[j]) / 2);
  std::sort(averages.begin(), averages.end());
  return averages;
}

double median_of_sorted(const std::vector<double>& sorted) {
  if (sorted.empty()) return 0;
  std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/// Pulls far values in to four robust standard deviations (1.4826 × median absolute deviation) of the median.
std::vector<double> winsorized(std::vector<double> values) {
  if (values.size() < 3) return values;
  double center = median(values);
  std::vector<double> distances;
  for (double value : values) distances.push_back(std::abs(value - center));
  double reach = 4 * 1.4826 * median(distances);
  for (double& value : values) value = std::clamp(value, center - reach, center + reach);
  return values;
}

double agreement_of(std::span<const double> series, double center) {
  if (series.empty()) return 0;
  auto same_sign =
      std::count_if(series.begin(), series.end(), [&](double v) { return (v < 0) == (center < 0); });
  return static_cast<double>(same_sign) / static_cast<double>(series.size());
}

bool plainly_slower(const std::vector<double>& values, const DecisionRule& rule) {
  if (values.size() < 4) return false;
  double least = *std::min_element(values.begin(), values.end());
  return least > 0.25 || (values.size() >= 6 && least > std::max(4 * rule.noise, 0.10));
}

}  // namespace

double median(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return median_of_sorted(sorted);
}

Interval median_interval(std::span<const double> values, double confidence) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  if (sorted.empty()) return {-kInfinity, kInfinity};
  // Order statistics r and n+1-r hold the median with probability 1 - 2 P(Binomial(n, 1/2) < r).
  std::size_t n = sorted.size();
  double tail = (1 - confidence) / 2;
  double log_term = -static_cast<double>(n) * std::log(2.0), below = 0;
  std::size_t r = 0;
  while (r < n && below + std::exp(log_term) <= tail) {
    below += std::exp(log_term);
    log_term += std::log(static_cast<double>(n - r)) - std::log(static_cast<double>(r + 1));
    ++r;
  }
  if (r == 0) return {sorted.front(), sorted.back()};
  return {sorted[r - 1], sorted[n - r]};
}

Location hodges_lehmann(std::span<const double> values, double alpha_one_sided) {
  if (values.empty()) return {0, {-kInfinity, kInfinity}};
  auto averages = walsh_averages(values);
  Location location{median_of_sorted(averages), {-kInfinity, kInfinity}};
  if (auto k = critical_rank(values.size(), alpha_one_sided); k >= 0) {
    auto rank = std::min(static_cast<std::size_t>(k), (averages.size() - 1) / 2);
    location.interval = {averages[rank], averages[averages.size() - 1 - rank]};
  }
  return location;
}

std::vector<int> planned_looks(const DecisionRule& rule) {
  std::vector<int> looks;
  for (double n = rule.minimum_blocks; static_cast<int>(n) < rule.maximum_blocks; n = std::ceil(n * kGrowth))
    looks.push_back(static_cast<int>(n));
  looks.push_back(rule.maximum_blocks);
  return looks;
}

double level_of_look(const DecisionRule& rule, std::size_t look) {
  return rule.alpha * (look == 0 ? kFirstShare : kLaterShare);
}

Sequential::Sequential(DecisionRule rule, std::size_t shapes) : rule_(rule), ratios_(shapes) {}

void Sequential::add(std::size_t shape, Block block) { ratios_[shape].push_back(block.log_ratio); }

int Sequential::rounds() const {
  std::size_t least = ratios_.empty() ? 0 : ratios_[0].size();
  for (const auto& shape : ratios_) least = std::min(least, shape.size());
  return static_cast<int>(least);
}

std::vector<double> Sequential::series() const {
  std::vector<double> sums(static_cast<std::size_t>(rounds()), 0.0);
  for (const auto& shape : ratios_) {
    auto values = ratios_.size() > 1 ? winsorized(shape) : shape;
    for (std::size_t r = 0; r < sums.size(); ++r) sums[r] += values[r] / static_cast<double>(ratios_.size());
  }
  return sums;
}

/// The latest look that the rounds so far have reached, with its level; the first one's before that.
double Sequential::current_level() const {
  auto looks = planned_looks(rule_);
  std::size_t look = 0;
  while (look + 1 < looks.size() && looks[look + 1] <= rounds()) ++look;
  return level_of_look(rule_, look);
}

std::optional<Clarity> Sequential::decide() const {
  auto values = series();
  int n = static_cast<int>(values.size());
  if (plainly_slower(values, rule_)) return Clarity::slower;
  auto looks = planned_looks(rule_);
  if (std::find(looks.begin(), looks.end(), n) == looks.end()) return std::nullopt;
  auto [center, interval] = hodges_lehmann(values, current_level());
  if (interval.high < -rule_.noise && agreement_of(values, center) >= rule_.agreement) return Clarity::faster;
  if (interval.low > rule_.noise) return Clarity::slower;
  if (interval.low > -rule_.noise && interval.high < rule_.noise) return Clarity::same;
  if (n >= rule_.maximum_blocks) return Clarity::ambiguous;
  bool hopeless = 2 * n > 3 * rule_.minimum_blocks && center > -rule_.noise;
  if (hopeless) return Clarity::ambiguous;
  return std::nullopt;
}

Comparison Sequential::comparison() const {
  auto values = series();
  auto [center, interval] = hodges_lehmann(values, current_level());
  Comparison result;
  result.log_ratio = center;
  result.bound = interval;
  result.noise = rule_.noise;
  for (const auto& shape : ratios_) result.blocks += static_cast<int>(shape.size());
  result.agreement = agreement_of(values, center);
  result.clarity = decide().value_or(Clarity::ambiguous);
  return result;
}

Location Sequential::location(std::size_t shape) const { return hodges_lehmann(ratios_[shape], rule_.alpha); }

}  // namespace ako
