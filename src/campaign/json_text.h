// SPDX-License-Identifier: Apache-2.0
// JSON as text. What candidates and compilers wrote may not be UTF-8: such bytes become U+FFFD instead of an
// exception.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ako {

std::string compact_text(const nlohmann::json&);
/// For files that people read; ends with a newline.
std::string indented_text(const nlohmann::json&);

}  // namespace ako
