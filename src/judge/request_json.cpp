// SPDX-License-Identifier: Apache-2.0
#include "judge/request_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "judge/json_fields.h"

namespace ako {
namespace {

using json_fields::field;
using nlohmann::json;

std::unexpected<Error> wrong_field(const char* name, const std::string& wanted) {
  return fail(ErrorKind::invalid_input,
              std::string("field \"") + name + "\" of the request must be " + wanted,
              "docs/protocol.md lists the fields of a judge request");
}

Result<void> read_text(const json& from, const char* name, std::string& to) {
  const auto& value = field(from, name);
  if (value.is_null()) return {};
  if (!value.is_string()) return wrong_field(name, "a string");
  to = value.get<std::string>();
  return {};
}

Result<void> read_truth(const json& from, const char* name, bool& to) {
  const auto& value = field(from, name);
  if (value.is_null()) return {};
  if (!value.is_boolean()) return wrong_field(name, "true or false");
  to = value.get<bool>();
  return {};
}

template <class Choice>
Result<void> read_choice(const json& from, const char* name, std::initializer_list<Choice> choices,
                         Choice& to) {
  std::string text, wanted;
  AKO_CHECK(read_text(from, name, text));
  if (field(from, name).is_null()) return {};
  for (Choice choice : choices) {
    if (text == name_of(choice)) {
      to = choice;
      return {};
    }
    wanted += (wanted.empty() ? "\"" : ", \"") + std::string(name_of(choice)) + "\"";
  }
  return wrong_field(name, "one of " + wanted);
}

}  // namespace

std::string_view name_of(Level level) { return level == Level::quick ? "quick" : "full"; }

std::string_view name_of(Effort effort) {
  switch (effort) {
    case Effort::check:
      return "check";
    case Effort::screen:
      return "screen";
    case Effort::decide:
      return "decide";
  }
  return "decide";
}

json to_json(const JudgeRequest& request) {
  json value = {{"problem", request.problem_text},
                {"problem_path", request.problem_path},
                {"shapes", request.shapes},
                {"candidate", to_json(request.candidate)},
                {"level", name_of(request.level)},
                {"effort", name_of(request.effort)},
                {"confirm", request.confirm},
                {"time_budget_s", request.time_budget.count()},
                {"seed", request.seed},
                {"time_limit_s", request.time_limit.count()},
                {"check_incumbent", request.trusted_incumbent_check}};
  if (!request.library.empty()) {
    value["library"] = request.library;
    value.erase("candidate");
  }
  if (request.incumbent) value["incumbent"] = to_json(*request.incumbent);
  return value;
}

Result<JudgeRequest> judge_request_from_json(const json& value) {
  if (!value.is_object())
    return fail(ErrorKind::invalid_input, "the params of \"judge\" must be an object",
                "see docs/protocol.md");
  JudgeRequest request;
  AKO_CHECK(read_text(value, "problem", request.problem_text));
  if (request.problem_text.empty()) return wrong_field("problem", "the text of a problem file");
  AKO_CHECK(read_text(value, "problem_path", request.problem_path));
  AKO_CHECK(read_text(value, "shapes", request.shapes));
  AKO_CHECK(read_text(value, "library", request.library));
  if (request.library.empty()) {
    if (!field(value, "candidate").is_object()) return wrong_field("candidate", "a candidate object");
    AKO_TRY(request.candidate, candidate_from_json(field(value, "candidate")));
  }
  if (const auto& incumbent = field(value, "incumbent"); !incumbent.is_null()) {
    AKO_TRY(request.incumbent, candidate_from_json(incumbent));
  }
  AKO_CHECK(read_choice(value, "level", {Level::quick, Level::full}, request.level));
  AKO_CHECK(read_choice(value, "effort", {Effort::check, Effort::screen, Effort::decide}, request.effort));
  AKO_CHECK(read_truth(value, "confirm", request.confirm));
  AKO_CHECK(read_truth(value, "check_incumbent", request.trusted_incumbent_check));
  request.seed = json_fields::natural(value, "seed");
  double budget = json_fields::real(value, "time_budget_s", request.time_budget.count());
  if (!std::isfinite(budget) || budget < 0)
    return wrong_field("time_budget_s", "a number of seconds, not negative");
  request.time_budget = Seconds(budget);
  double limit = json_fields::real(value, "time_limit_s", 0);
  if (!std::isfinite(limit) || limit < 0)
    return wrong_field("time_limit_s", "a number of seconds, not negative");
  request.time_limit = Seconds(limit);
  return request;
}

}  // namespace ako
