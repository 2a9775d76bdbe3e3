// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ako {
/// The same as the project's version in CMakeLists.txt (tests/cli holds them equal).
inline constexpr std::string_view version = "0.1.0";
}  // namespace ako
