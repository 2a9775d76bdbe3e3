// SPDX-License-Identifier: Apache-2.0
// JudgeRequest's JSON form: the params of method "judge" (docs/protocol.md).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "judge/client.h"

namespace ako {

nlohmann::json to_json(const JudgeRequest&);
/// Missing fields take their defaults; wrong types, unknown levels and efforts are errors that name the
/// field.
Result<JudgeRequest> judge_request_from_json(const nlohmann::json&);

std::string_view name_of(Level);
std::string_view name_of(Effort);

}  // namespace ako
