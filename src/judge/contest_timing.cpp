// SPDX-License-Identifier: Apache-2.0
#include "judge/contest_timing.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "judge/suspicion.h"

namespace ako {
namespace {

constexpr int kScreenRounds = 3;
constexpr int kAloneRounds = 6;
/// Of a kernel alone, which nothing is decided on; its first four pairs hold the launch that is checked
/// against fp64.
constexpr int kFewestAlone = 2;

/// A quarter of the memory that is free, divided among the shapes, 2 GiB at most each.
Bytes memory_per_shape(std::size_t shapes) {
  std::int64_t available = sysconf(_SC_AVPHYS_PAGES) * sysconf(_SC_PAGESIZE);
  return {
      std::clamp<std::int64_t>(available / 4 / static_cast<std::int64_t>(std::max<std::size_t>(shapes, 1)),
                               64 << 20, std::int64_t{2} << 30)};
}

class Rounds {
 public:
  Rounds(const Contest& contest, const TimingRequest& request, Spent& spent, std::vector<std::string>& notes)
      : contest_(contest), request_(request), spent_(spent), notes_(notes) {}

  Judged<Timed> run() {
    if (auto ready = prepare(); !ready) return std::unexpected(ready.error());
    Sequential sequential(rule_, sittings_.size());
    for (int goal : goals()) {
      if (auto reached = play_until(goal, sequential); !reached) return std::unexpected(reached.error());
      if (out_of_time_ || (compares() && request_.effort == Effort::decide && sequential.decide())) break;
    }
    if (disturbed_ > 0) notes_.push_back(fmt::format("{} disturbed blocks repeated", disturbed_));
    if (out_of_time_) notes_.push_back(fmt::format("timing stopped after {:.3g} s", request_.budget.count()));
    return conclude(sequential);
  }

 private:
  bool compares() const { return contest_.incumbent != nullptr; }

  /// Numbers of rounds after which the answer may be clear.
  std::vector<int> goals() const {
    if (request_.effort == Effort::screen) return {kScreenRounds};
    if (!compares()) return {kAloneRounds};
    std::vector<int> all = planned_looks(rule_);
    all.insert(all.begin(), {4, 6});  // enough to see a much slower one
    return all;
  }

  Judged<void> prepare() {
    for (const auto& timed : request_.shapes) {
      request_.progress("time " + timed.shape->label);
      auto sitting = Sitting::prepare(contest_, *timed.shape, timed.checked.launch,
                                      memory_per_shape(request_.shapes.size()),
                                      request_.seed + sittings_.size(), spent_);
      if (!sitting) return std::unexpected(sitting.error());
      rule_.noise = std::max(rule_.noise, request_.noise.of((*sitting)->typical()));
      sittings_.push_back(std::move(*sitting));
    }
    return {};
  }

  /// Past the budget every block counts: a disturbed one widens the interval, a missing one leaves none.
  /// Repeats get less than half of the time.
  bool may_repeat() const {
    const Seconds limit = request_.limit > Seconds(0) ? request_.limit : request_.budget;
    return disturbed_ <= kept_ && watch_.elapsed() < 0.4 * std::min(limit, request_.budget);
  }

  Judged<void> play_until(int goal, Sequential& sequential) {
    for (std::size_t i = 0; i < sittings_.size() && !out_of_time_; ++i) {
      if (sittings_.size() > 1)
        if (auto attached = sittings_[i]->attach(); !attached) return std::unexpected(attached.error());
      while (played(i) < goal && !late()) {
        auto block = undisturbed(*sittings_[i]);
        if (!block) return std::unexpected(block.error());
        sequential.add(i, *block);
        ++played_[i];
        request_.progress(fmt::format("time {} block {}", sittings_[i]->shape().label, played_[i]));
      }
    }
    return {};
  }

  int& played(std::size_t shape) {
    played_.resize(sittings_.size());
    return played_[shape];
  }

  /// The budget is spent; but the first few blocks of every shape are always played, and a comparison short
  /// of the rounds without which nothing can be said goes on to them, up to the limit.
  bool late() {
    Seconds limit = request_.limit > Seconds(0) ? request_.limit : 3 * request_.budget;
    bool decides = compares() && request_.effort == Effort::decide && watch_.elapsed() < limit;
    int needed = decides ? rule_.minimum_blocks : compares() ? kScreenRounds : kFewestAlone;
    bool enough = std::all_of(played_.begin(), played_.end(), [needed](int n) { return n >= needed; });
    out_of_time_ = enough && watch_.elapsed() > std::min(limit, request_.budget);
    return out_of_time_;
  }

  /// Disturbed blocks are repeated within the budget, at most as often as there are good ones: on a machine
  /// that is never quiet they count.
  Judged<Block> undisturbed(Sitting& sitting) {
    bool discard = may_repeat();
    auto block = sitting.block(discard);
    while (block && block->disturbed && discard) {
      ++disturbed_;
      discard = may_repeat();
      block = sitting.block(discard);
    }
    ++kept_;
    return block;
  }

  Judged<Timed> conclude(const Sequential& sequential) {
    Timed result;
    for (std::size_t i = 0; i < sittings_.size(); ++i) {
      auto timing = sittings_[i]->timing();
      timing.error_db = std::min(timing.error_db, request_.shapes[i].checked.error_db);
      auto low =
          below_roofline(contest_.problem, sittings_[i]->shape(), request_.facts, timing.candidate_median_us);
      if (low) return std::unexpected(Outcome(*low));
      if (auto overlap = sittings_[i]->overlap()) return std::unexpected(Outcome(*overlap));
      if (compares()) {
        auto location = sequential.location(i);
        timing.log_ratio = location.center;
        timing.log_ratio_interval = location.interval;
      }
      result.timings.push_back(std::move(timing));
    }
    if (compares()) result.comparison = compare(sequential, result.timings);
    return result;
  }

  Comparison compare(const Sequential& sequential, const std::vector<ShapeTiming>& timings) const {
    Comparison comparison = sequential.comparison();
    auto worst = std::max_element(timings.begin(), timings.end(),
                                  [](const auto& a, const auto& b) { return a.log_ratio < b.log_ratio; });
    if (worst != timings.end() && worst->log_ratio > 0) {
      comparison.worst_shape = worst->shape;
      comparison.worst_log_ratio = worst->log_ratio;
    }
    comparison.core_regressed = std::any_of(timings.begin(), timings.end(), [&](const ShapeTiming& one) {
      return one.core && one.log_ratio >= std::log1p(rule_.regression) && one.log_ratio_interval.low > 0;
    });
    return comparison;
  }

  const Contest& contest_;
  const TimingRequest& request_;
  Spent& spent_;
  std::vector<std::string>& notes_;
  DecisionRule rule_;
  std::vector<std::unique_ptr<Sitting>> sittings_;
  std::vector<int> played_;
  Stopwatch watch_;
  int disturbed_ = 0, kept_ = 0;
  bool out_of_time_ = false;
};

}  // namespace

Judged<Timed> time_contest(const Contest& contest, const TimingRequest& request, Spent& spent,
                           std::vector<std::string>& notes) {
  return Rounds(contest, request, spent, notes).run();
}

}  // namespace ako
