// SPDX-License-Identifier: Apache-2.0
// Says in words how a wrong output is wrong, as an engineer would after staring at it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "problem/scalar_type.h"

namespace ako {

/// `got` and `expected` row-major over `extents`; `wrong[i]` says which elements count as wrong.
/// "never written", "all zero", "off by a factor of 2", "transposed", "rows 64…127", "every 16th column from
/// 15", "the last row", "scattered elements" …; empty when nothing is wrong.
std::string explain_pattern(std::span<const std::int64_t> extents, std::span<const double> expected,
                            std::span<const double> got, const std::vector<bool>& wrong,
                            const std::vector<bool>& unwritten);

/// The same by the wrong elements' linear indices, ascending: cheap where few of very many are wrong.
/// `unwritten`: whether an element still holds the poison; asked for until one does not.
std::string explain_pattern(std::span<const std::int64_t> extents, std::span<const double> expected,
                            std::span<const double> got, std::span<const std::int64_t> wrong,
                            const std::function<bool(std::size_t)>& unwritten);

/// Which elements of a storage still hold the poison (all bits set). Types narrower than a byte: by whole
/// bytes.
std::vector<bool> still_poison(ScalarType, std::span<const std::byte> storage, std::int64_t count);
bool still_poison_at(ScalarType, std::span<const std::byte> storage, std::int64_t element);

std::vector<std::int64_t> index_of(std::int64_t linear, std::span<const std::int64_t> extents);

}  // namespace ako
