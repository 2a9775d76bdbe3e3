// SPDX-License-Identifier: Apache-2.0
// Splits long loops of the judge's own (comparing, copying) over the cores. Guests are frozen meanwhile.
#pragma once

#include <cstdint>
#include <functional>

namespace ako {

/// Calls body(part, begin, end) for disjoint ranges that cover [0, count), on several threads when count >
/// grain. `part` numbers the ranges from 0; there are at most parallel_parts(count, grain) of them.
void parallel_ranges(std::int64_t count, std::int64_t grain,
                     const std::function<void(int part, std::int64_t begin, std::int64_t end)>& body);
int parallel_parts(std::int64_t count, std::int64_t grain);

}  // namespace ako
