// SPDX-License-Identifier: Apache-2.0
#include "search/routine.h"

namespace ako {
namespace {

/// A search that circles among known points learns nothing: after so many in a row the next ask is a random
/// new point, and then the search goes on.
constexpr int kRepeatLimit = 100;

}  // namespace

bool RoutineOptimizer::Evaluation::await_ready() {
  if (!owner.costs_.contains(point)) return false;
  return ++owner.repeats_ < kRepeatLimit;
}

std::optional<Point> RoutineOptimizer::hand_out(Point point) {
  domain_.mark_seen(point);
  return point;
}

std::optional<Point> RoutineOptimizer::ask() {
  auto spare = domain_.draw_unseen(random_);
  if (!spare) return std::nullopt;
  if (!routine_) routine_.emplace(search());
  if (!pending_) {
    if (!wanted_ || costs_.contains(*wanted_)) {
      if (!routine_->done()) routine_->resume();
    }
    if (wanted_ && !domain_.seen(*wanted_)) {
      pending_ = wanted_;
      return hand_out(*wanted_);
    }
  }
  repeats_ = 0;
  return hand_out(std::move(*spare));
}

void RoutineOptimizer::tell(const Point& point, std::optional<double> cost) {
  domain_.mark_seen(point);
  costs_[point] = cost.value_or(kFailed);
  if (pending_ == point) {
    pending_.reset();
    repeats_ = 0;
  }
}

Point RoutineOptimizer::fresh_point() {
  if (auto point = domain_.draw_unseen(random_)) return *point;
  return *domain_.draw(random_);
}

Point RoutineOptimizer::mutate(const Point& point, bool adjacent_only) {
  auto others = domain_.neighbours(point, adjacent_only);
  if (others.empty()) return fresh_point();
  return others[random_.below(others.size())];
}

}  // namespace ako
