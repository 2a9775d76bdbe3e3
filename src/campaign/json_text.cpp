// SPDX-License-Identifier: Apache-2.0
#include "campaign/json_text.h"

#include <nlohmann/json.hpp>

namespace ako {
namespace {

std::string text_of(const nlohmann::json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string compact_text(const nlohmann::json& json) { return text_of(json, -1); }
std::string indented_text(const nlohmann::json& json) { return text_of(json, 1) + "\n"; }

}  // namespace ako
