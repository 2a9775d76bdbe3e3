// SPDX-License-Identifier: Apache-2.0
// The valid points of a Space: drawing, neighbours, and which were asked for already.
#pragma once

#include <unordered_set>

#include "base/random.h"
#include "search/optimizer.h"

namespace ako {

struct PointHash {
  std::size_t operator()(const Point& point) const;
};

/// Holds a copy of the space. Spaces of up to a million combinations are listed once; larger ones are sampled
/// by rejection, and scanned when that finds nothing new.
class Domain {
 public:
  Domain(Space space, std::uint64_t seed, std::size_t list_limit = std::size_t{1} << 20);

  const Space& space() const { return space_; }
  std::size_t dimensions() const { return space_.parameters.size(); }
  int extent(std::size_t parameter) const;
  /// In range and within the restrictions.
  bool contains(const Point&) const;
  /// All valid points, or empty when they are too many to list.
  const std::vector<Point>& listed() const { return listed_; }

  bool seen(const Point& point) const { return seen_.contains(point); }
  void mark_seen(const Point& point) { seen_.insert(point); }

  /// A valid point, seen or not; nullopt when none was found.
  std::optional<Point> draw(Random&) const;
  /// A valid point never marked as seen; nullopt: there is none left.
  std::optional<Point> draw_unseen(Random&);
  /// The valid points that differ in one parameter: by any value, or by one place in its list.
  std::vector<Point> neighbours(const Point&, bool adjacent_only) const;

 private:
  std::optional<Point> draw_any(Random&) const;
  std::optional<Point> scan_unseen(Random&) const;

  Space space_;
  bool complete_ = false;  // listed_ holds every valid point
  std::vector<Point> listed_;
  std::vector<std::uint32_t> order_;  // a shuffle of listed_, walked from the front
  std::size_t cursor_ = 0;
  std::unordered_set<Point, PointHash> members_;  // when the space came as a list
  std::unordered_set<Point, PointHash> seen_;
};

}  // namespace ako
