// SPDX-License-Identifier: Apache-2.0
// Skewed choices among n categories, and shuffles.
#pragma once

#include <cstdint>
#include <vector>

#include "problem/random_values.h"

namespace ako {

/// 0 … n-1 in random order, uniform over all orders; `row` tells several shuffles of a sequence apart.
std::vector<std::uint64_t> shuffled(std::uint64_t n, const WordSequence&, std::uint64_t row);

/// Category k of n with probability proportional to 1 / (rank(k) + 1)^skew, where rank is a secret
/// permutation.
class Categories {
 public:
  Categories(std::uint64_t n, double skew, const WordSequence&);
  std::uint64_t pick(std::uint32_t word) const;

 private:
  std::vector<double> cumulative_;    // by rank, the last is 1
  std::vector<std::uint64_t> guide_;  // guide_[j]: the first rank whose cumulative probability exceeds j / n
  std::vector<std::uint64_t> category_of_rank_;
};

}  // namespace ako
