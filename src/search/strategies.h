// SPDX-License-Identifier: Apache-2.0
// The optimizers' factories, one per file; users go through optimizers().
#pragma once

#include "search/optimizer.h"

namespace ako {

std::unique_ptr<Optimizer> make_random_search(const Space&, std::uint64_t seed);
std::unique_ptr<Optimizer> make_genetic_search(const Space&, std::uint64_t seed);
std::unique_ptr<Optimizer> make_iterated_local_search(const Space&, std::uint64_t seed);
std::unique_ptr<Optimizer> make_annealing_search(const Space&, std::uint64_t seed);
std::unique_ptr<Optimizer> make_model_search(const Space&, std::uint64_t seed);

}  // namespace ako
