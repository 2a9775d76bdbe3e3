// SPDX-License-Identifier: Apache-2.0
#include "judge/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "judge/parallel.h"

namespace ako {
namespace {

/// Linear indices of the wrong elements, ascending.
using Places = std::span<const std::int64_t>;

bool every(Places wrong, const auto& test) {
  return std::all_of(wrong.begin(), wrong.end(),
                     [&](std::int64_t i) { return test(static_cast<std::size_t>(i)); });
}

std::string constant_factor(std::span<const double> expected, std::span<const double> got, Places wrong) {
  const auto first = static_cast<std::size_t>(wrong.front());
  const double factor = expected[first] != 0 ? got[first] / expected[first] : 0;
  if (wrong.size() < 3 || !std::isfinite(factor) || factor == 0 || std::abs(factor - 1) < 1e-3) return {};
  bool constant = every(wrong, [&](std::size_t i) {
    return std::abs(got[i] - factor * expected[i]) <= 1e-2 * std::abs(factor * expected[i]) + 1e-30;
  });
  return constant ? fmt::format("off by a factor of {:.4g}", factor) : "";
}

std::string constant_difference(std::span<const double> expected, std::span<const double> got, Places wrong) {
  const auto first = static_cast<std::size_t>(wrong.front());
  const double difference = got[first] - expected[first];
  if (wrong.size() < 3 || !std::isfinite(difference)) return {};
  bool constant = every(wrong, [&](std::size_t i) {
    return std::abs(got[i] - expected[i] - difference) <= 1e-2 * std::abs(difference);
  });
  return constant ? fmt::format("off by a constant {:.4g}", difference) : "";
}

bool transposed(std::span<const std::int64_t> extents, std::span<const double> expected,
                std::span<const double> got) {
  if (extents.size() != 2 || extents[0] < 2 || extents[1] < 2) return false;
  std::int64_t rows = extents[0], columns = extents[1];
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    std::int64_t row = i / rows, column = i % rows;  // of a columns × rows array stored in this one's place
    double other = expected[static_cast<std::size_t>(column * columns + row)];
    if (std::abs(got[static_cast<std::size_t>(i)] - other) > 1e-2 * std::abs(other) + 1e-30) return false;
  }
  return true;
}

std::string ordinal(std::int64_t n) {
  std::int64_t tens = n % 100;
  const char* ending = tens >= 11 && tens <= 13 ? "th"
                       : n % 10 == 1            ? "st"
                       : n % 10 == 2            ? "nd"
                       : n % 10 == 3            ? "rd"
                                                : "th";
  return fmt::format("{}{}", n, ending);
}

std::string axis_name(std::size_t axis, std::size_t rank) {
  if (rank == 1) return "element";
  if (rank == 2) return axis == 0 ? "row" : "column";
  return fmt::format("index of axis {}", axis);
}

/// Describes which coordinates along one axis are hit; empty when all are, or without a simple form.
std::string describe_axis(const std::vector<bool>& hit, const std::string& name) {
  std::vector<std::int64_t> at;
  for (std::size_t i = 0; i < hit.size(); ++i)
    if (hit[i]) at.push_back(static_cast<std::int64_t>(i));
  auto extent = static_cast<std::int64_t>(hit.size());
  std::int64_t count = static_cast<std::int64_t>(at.size()), first = at.front(), last = at.back();
  std::string plural = name.starts_with("index") ? "indices" + name.substr(5) : name + "s";
  if (count == extent) return {};
  if (count == 1) return last == extent - 1 ? "the last " + name : fmt::format("{} {}", name, first);
  if (last - first + 1 == count)
    return fmt::format("{} {}…{}{}", plural, first, last, last == extent - 1 ? " (the last)" : "");
  std::int64_t step = at[1] - at[0];
  for (std::size_t i = 1; i < at.size(); ++i)
    if (at[i] - at[i - 1] != step) return {};
  if (count < 3) return fmt::format("{} {} and {}", plural, first, last);
  return fmt::format("every {} {} from {}", ordinal(step), name, first);
}

/// Of each axis, the coordinates that occur among the wrong elements.
std::vector<std::vector<bool>> hits_of(std::span<const std::int64_t> extents, Places wrong) {
  std::vector<std::vector<bool>> hits;
  for (auto extent : extents) hits.emplace_back(static_cast<std::size_t>(extent), false);
  const auto none = hits;
  std::mutex merging;
  parallel_ranges(static_cast<std::int64_t>(wrong.size()), 1 << 18,
                  [&](int, std::int64_t begin, std::int64_t end) {
                    auto mine = none;
                    for (std::int64_t at = begin; at < end; ++at) {
                      std::int64_t rest = wrong[static_cast<std::size_t>(at)];
                      for (std::size_t axis = extents.size(); axis-- > 0; rest /= extents[axis])
                        mine[axis][static_cast<std::size_t>(rest % extents[axis])] = true;
                    }
                    std::lock_guard lock(merging);
                    for (std::size_t axis = 0; axis < mine.size(); ++axis)
                      for (std::size_t i = 0; i < mine[axis].size(); ++i)
                        if (mine[axis][i]) hits[axis][i] = true;
                  });
  return hits;
}

std::string where(std::span<const std::int64_t> extents, Places wrong, std::size_t elements) {
  if (wrong.size() == elements) return "all elements";
  auto hits = hits_of(extents, wrong);
  std::string text;
  for (std::size_t axis = 0; axis < extents.size(); ++axis)
    if (auto part = describe_axis(hits[axis], axis_name(axis, extents.size())); !part.empty())
      text += (text.empty() ? "" : ", ") + part;
  return text.empty() ? "scattered elements" : text;
}

std::string what(std::span<const std::int64_t> extents, std::span<const double> expected,
                 std::span<const double> got, Places wrong,
                 const std::function<bool(std::size_t)>& unwritten) {
  if (every(wrong, unwritten)) return "never written";
  if (every(wrong, [&](std::size_t i) { return std::isnan(got[i]); })) return "NaN";
  if (every(wrong, [&](std::size_t i) { return got[i] == 0; })) return "zero";
  if (auto text = constant_factor(expected, got, wrong); !text.empty()) return text;
  if (auto text = constant_difference(expected, got, wrong); !text.empty()) return text;
  if (transposed(extents, expected, got)) return "looks transposed";
  return {};
}

}  // namespace

std::vector<std::int64_t> index_of(std::int64_t linear, std::span<const std::int64_t> extents) {
  std::vector<std::int64_t> index(extents.size());
  for (std::size_t axis = extents.size(); axis-- > 0;) {
    index[axis] = linear % extents[axis];
    linear /= extents[axis];
  }
  return index;
}

bool still_poison_at(ScalarType type, std::span<const std::byte> storage, std::int64_t element) {
  const std::int64_t bits = storage_bits(type), from = element * bits / 8,
                     to = (element * bits + bits + 7) / 8;
  return std::all_of(storage.begin() + from, storage.begin() + to,
                     [](std::byte b) { return b == std::byte{0xFF}; });
}

std::vector<bool> still_poison(ScalarType type, std::span<const std::byte> storage, std::int64_t count) {
  std::vector<bool> result(static_cast<std::size_t>(count), false);
  for (std::int64_t i = 0; i < count; ++i)
    result[static_cast<std::size_t>(i)] = still_poison_at(type, storage, i);
  return result;
}

std::string explain_pattern(std::span<const std::int64_t> extents, std::span<const double> expected,
                            std::span<const double> got, std::span<const std::int64_t> wrong,
                            const std::function<bool(std::size_t)>& unwritten) {
  if (wrong.empty()) return {};
  std::string how = what(extents, expected, got, wrong, unwritten),
              place = where(extents, wrong, expected.size());
  return how.empty() ? place : how + ": " + place;
}

std::string explain_pattern(std::span<const std::int64_t> extents, std::span<const double> expected,
                            std::span<const double> got, const std::vector<bool>& wrong,
                            const std::vector<bool>& unwritten) {
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < wrong.size(); ++i)
    if (wrong[i]) places.push_back(static_cast<std::int64_t>(i));
  return explain_pattern(extents, expected, got, places, [&](std::size_t i) { return bool(unwritten[i]); });
}

}  // namespace ako
