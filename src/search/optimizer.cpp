// SPDX-License-Identifier: Apache-2.0
#include "search/optimizer.h"

#include <limits>

#include "search/strategies.h"

namespace ako {

std::size_t Space::cartesian_size() const {
  std::size_t size = 1;
  for (const Parameter& parameter : parameters) {
    std::size_t extent = parameter.values.size();
    if (extent != 0 && size > std::numeric_limits<std::size_t>::max() / extent)
      return std::numeric_limits<std::size_t>::max();
    size *= extent;
  }
  return size;
}

std::span<const NamedOptimizer> optimizers() {
  static const NamedOptimizer table[] = {
      {"random", "uniform draws without replacement", make_random_search},
      {"genetic", "a population of 20, rank selection, uniform crossover", make_genetic_search},
      {"iterated-local-search", "first-improvement descent, then a jump of a few parameters",
       make_iterated_local_search},
      {"annealing", "single-parameter moves at a falling temperature, restarted when frozen",
       make_annealing_search},
      {"model", "a Gaussian process over the parameters, asked where improvement is likeliest",
       make_model_search},
  };
  return table;
}

}  // namespace ako
