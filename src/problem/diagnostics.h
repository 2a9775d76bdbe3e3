// SPDX-License-Identifier: Apache-2.0
// Collects the mistakes found in one text, each with its place, the offending line and a caret below it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace ako {

/// A stretch of a line; line and column count from 1, column in bytes.
struct Spot {
  int line = 0;
  int column = 0;
  int length = 1;
};

class Diagnostics {
 public:
  /// `source` must outlive this object.
  Diagnostics(std::string_view source, std::string file) : source_(source), file_(std::move(file)) {}

  void add(const Spot&, std::string what, std::string advice = {});
  bool empty() const { return errors_.empty(); }
  std::size_t size() const { return errors_.size(); }
  /// In the order of the text, without repetitions, at most 20.
  std::vector<Error> take();

 private:
  std::string excerpt(const Spot&) const;

  std::string_view source_;
  std::string file_;
  std::vector<Error> errors_;
};

/// The candidate nearest to `name` by edit distance, if near enough to be what was meant; else empty.
std::string closest(std::string_view name, const std::vector<std::string>& candidates);
/// "did you mean `x`?", or `otherwise` when nothing is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates,
                         std::string otherwise = {});
/// The first line (1-based) of a text and those after it, without line ends.
std::string_view line_of(std::string_view text, int line);

}  // namespace ako
