// SPDX-License-Identifier: Apache-2.0
#include "search/domain.h"

#include <limits>
#include <numeric>
#include <utility>

namespace ako {
namespace {

constexpr int kRejectionTries = 20000;

/// Counts `point` up as a mixed-radix number; false when it wrapped round to the first point.
bool advance(Point& point, const Space& space) {
  for (std::size_t i = point.size(); i-- > 0;) {
    if (++point[i] < static_cast<int>(space.parameters[i].values.size())) return true;
    point[i] = 0;
  }
  return false;
}

std::vector<Point> list_valid(const Space& space) {
  std::vector<Point> points;
  if (space.cartesian_size() == 0) return points;
  Point point(space.parameters.size(), 0);
  do {
    if (!space.valid || space.valid(point)) points.push_back(point);
  } while (advance(point, space));
  return points;
}

}  // namespace

std::size_t PointHash::operator()(const Point& point) const {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a over the indices
  for (int value : point) hash = (hash ^ static_cast<std::uint32_t>(value)) * 0x100000001b3u;
  return hash ^ hash >> 32;
}

Domain::Domain(Space space, std::uint64_t seed, std::size_t list_limit) : space_(std::move(space)) {
  complete_ = space_.enumerated || space_.cartesian_size() <= list_limit;
  if (space_.enumerated) {
    listed_ = *space_.enumerated;
    members_.insert(listed_.begin(), listed_.end());
  } else if (complete_) {
    listed_ = list_valid(space_);
  }
  order_.resize(listed_.size());
  std::iota(order_.begin(), order_.end(), 0u);
  Random random(seed, 0x0d0a);
  for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random.below(i)]);
}

int Domain::extent(std::size_t parameter) const {
  return static_cast<int>(space_.parameters[parameter].values.size());
}

bool Domain::contains(const Point& point) const {
  if (point.size() != dimensions()) return false;
  for (std::size_t i = 0; i < point.size(); ++i)
    if (point[i] < 0 || point[i] >= extent(i)) return false;
  if (!members_.empty() && !members_.contains(point)) return false;
  return !space_.valid || space_.valid(point);
}

std::optional<Point> Domain::draw_any(Random& random) const {
  Point point(dimensions());
  for (int tries = 0; tries < kRejectionTries; ++tries) {
    for (std::size_t i = 0; i < point.size(); ++i)
      point[i] = static_cast<int>(random.below(static_cast<std::uint64_t>(extent(i))));
    if (!space_.valid || space_.valid(point)) return point;
  }
  return std::nullopt;
}

std::optional<Point> Domain::draw(Random& random) const {
  if (!listed_.empty()) return listed_[random.below(listed_.size())];
  if (complete_) return std::nullopt;
  return draw_any(random);
}

std::optional<Point> Domain::draw_unseen(Random& random) {
  if (!order_.empty()) {
    while (cursor_ < order_.size() && seen(listed_[order_[cursor_]])) ++cursor_;
    if (cursor_ == order_.size()) return std::nullopt;
    return listed_[order_[cursor_]];
  }
  if (complete_) return std::nullopt;
  for (int tries = 0; tries < 100; ++tries)
    if (auto point = draw_any(random); point && !seen(*point)) return point;
  return scan_unseen(random);
}

std::optional<Point> Domain::scan_unseen(Random& random) const {
  Point start(dimensions());
  for (std::size_t i = 0; i < start.size(); ++i)
    start[i] = static_cast<int>(random.below(static_cast<std::uint64_t>(extent(i))));
  Point point = start;
  do {
    if ((!space_.valid || space_.valid(point)) && !seen(point)) return point;
    advance(point, space_);
  } while (point != start);
  return std::nullopt;
}

std::vector<Point> Domain::neighbours(const Point& point, bool adjacent_only) const {
  std::vector<Point> found;
  for (std::size_t i = 0; i < point.size(); ++i) {
    Point other = point;
    for (int value = 0; value < extent(i); ++value) {
      if (value == point[i] || (adjacent_only && std::abs(value - point[i]) != 1)) continue;
      other[i] = value;
      if (contains(other)) found.push_back(other);
    }
  }
  return found;
}

}  // namespace ako
