// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "kernel/candidate.h"

namespace ako {
namespace {
using nlohmann::json;

/// JSON text is Unicode. A source need not be: then its bytes travel as hexadecimal digits.
bool is_utf8(const std::string& text) {
  try {
    json(text).dump();
    return true;
  } catch (const json::exception&) {
    return false;
  }
}

std::string to_hex(std::string_view bytes) {
  std::string out;
  out.reserve(2 * bytes.size());
  for (char c : bytes) {
    out += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
    out += "0123456789abcdef"[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

std::optional<std::string> from_hex(std::string_view digits) {
  auto value = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string out;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    int high = value(digits[i]);
    int low = value(digits[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
  }
  return out;
}

std::unexpected<Error> malformed(std::string_view what) {
  return fail(
      ErrorKind::invalid_input, fmt::format("a candidate's JSON is malformed: {}", what),
      R"(it is {"language":"CPP","sources":[{"path":"k.cpp","text":"…"}],"plan":"YAML","tunables":{},"flags":[]})");
}

Result<SourceFile> source_from(const json& value) {
  if (!value.is_object() || !value.contains("path") || !value["path"].is_string())
    return malformed("every source needs a \"path\"");
  SourceFile source{value["path"].get<std::string>(), {}};
  if (value.contains("text") && value["text"].is_string()) {
    source.text = value["text"].get<std::string>();
    return source;
  }
  if (!value.contains("hex") || !value["hex"].is_string())
    return malformed("every source needs its \"text\"");
  auto bytes = from_hex(value["hex"].get_ref<const std::string&>());
  if (!bytes) return malformed("\"hex\" is not pairs of hexadecimal digits");
  source.text = std::move(*bytes);
  return source;
}

Result<void> read_tunables(const json& value, Candidate& candidate) {
  if (!value.is_object()) return malformed("\"tunables\" must be an object");
  for (const auto& [name, number] : value.items()) {
    if (!number.is_number_integer() ||
        (number.is_number_unsigned() && number.get<std::uint64_t>() > INT64_MAX))
      return malformed(fmt::format("tunable \"{}\" must be a 64-bit integer", printable(name)));
    candidate.tunables[name] = number.get<std::int64_t>();
  }
  return {};
}

Result<void> read_flags(const json& value, Candidate& candidate) {
  if (!value.is_array()) return malformed("\"flags\" must be a list");
  for (const json& flag : value) {
    if (!flag.is_string()) return malformed("every flag must be a string");
    candidate.flags.push_back(flag.get<std::string>());
  }
  return {};
}

Result<void> read_plan_text(const json& value, Candidate& candidate) {
  if (!value.is_string()) return malformed("\"plan\" must be a string that holds YAML");
  auto plan = parse_launch_plan(value.get_ref<const std::string&>(), "plan");
  if (!plan) return std::unexpected(plan.error().front());
  candidate.plan = std::move(*plan);
  return {};
}

Result<Candidate> read_candidate(const json& value) {
  if (!value.is_object()) return malformed("it is no object");
  Candidate candidate;
  if (!value.contains("language") || !value["language"].is_string())
    return malformed("it needs a \"language\"");
  auto language = language_from(value["language"].get_ref<const std::string&>());
  if (!language)
    return malformed(fmt::format("there is no language {}", printable(value["language"].get<std::string>())));
  candidate.language = *language;
  if (!value.contains("sources") || !value["sources"].is_array()) return malformed("it needs \"sources\"");
  for (const json& source : value["sources"]) {
    AKO_TRY(SourceFile file, source_from(source));
    candidate.sources.push_back(std::move(file));
  }
  if (!value.contains("plan")) return malformed("it needs a \"plan\"");
  AKO_CHECK(read_plan_text(value["plan"], candidate));
  if (value.contains("tunables")) AKO_CHECK(read_tunables(value["tunables"], candidate));
  if (value.contains("flags")) AKO_CHECK(read_flags(value["flags"], candidate));
  AKO_CHECK(check_sources(candidate));
  return candidate;
}

}  // namespace

json to_json(const Candidate& candidate) {
  json sources = json::array();
  for (const SourceFile& source : candidate.sources) {
    json file{{"path", printable(source.path)}};
    if (is_utf8(source.text))
      file["text"] = source.text;
    else
      file["hex"] = to_hex(source.text);
    sources.push_back(std::move(file));
  }
  json tunables = json::object();
  for (const auto& [name, value] : candidate.tunables) tunables[printable(name)] = value;
  json flags = json::array();
  for (const std::string& flag : candidate.flags) flags.push_back(printable(flag));
  return {{"language", name_of(candidate.language)},
          {"sources", std::move(sources)},
          {"plan", to_yaml(candidate.plan)},
          {"tunables", std::move(tunables)},
          {"flags", std::move(flags)}};
}

Result<Candidate> candidate_from_json(const json& value) {
  try {
    return read_candidate(value);
  } catch (const json::exception& exception) {
    return malformed(exception.what());
  }
}

}  // namespace ako
