// SPDX-License-Identifier: Apache-2.0
#include "problem/categorical.h"

#include <numeric>
#include <utility>

#include "problem/normal_table.h"

namespace ako {

std::vector<std::uint64_t> shuffled(std::uint64_t n, const WordSequence& sequence, std::uint64_t row) {
  std::vector<std::uint64_t> order(n);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  const std::uint64_t groups = n / kWordGroup + 1;
  std::vector<std::uint32_t> words(groups * kWordGroup);
  fill_words(sequence.with(Purpose::shuffle), row * words.size(), words);
  // Fisher and Yates; the bias of taking the high part of a 32-bit product is below n / 2^32.
  for (std::uint64_t left = n; left > 1; --left) std::swap(order[left - 1], order[left * words[left] >> 32]);
  return order;
}

Categories::Categories(std::uint64_t n, double skew, const WordSequence& sequence)
    : cumulative_(n), guide_(n), category_of_rank_(shuffled(n, sequence, 0)) {
  double total = 0;
  for (std::uint64_t rank = 0; rank < n; ++rank) {
    total =
        total + (skew == 0 ? 1.0 : reproducible_exp(-skew * reproducible_log(static_cast<double>(rank) + 1)));
    cumulative_[rank] = total;
  }
  for (double& value : cumulative_) value = value / total;
  for (std::uint64_t j = 0, rank = 0; j < n; ++j) {
    while (rank + 1 < n && cumulative_[rank] <= static_cast<double>(j) / static_cast<double>(n)) ++rank;
    guide_[j] = rank;
  }
}

std::uint64_t Categories::pick(std::uint32_t word) const {
  const double u = unit_from(word);
  const std::uint64_t n = cumulative_.size();
  std::uint64_t rank = guide_[n * word >> 32];
  while (rank + 1 < n && cumulative_[rank] <= u) ++rank;
  return category_of_rank_[rank];
}

}  // namespace ako
