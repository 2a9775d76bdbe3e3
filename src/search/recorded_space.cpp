// SPDX-License-Identifier: Apache-2.0
#include "search/recorded_space.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/files.h"

namespace ako {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kInflatedLimit = std::size_t{1} << 30;
constexpr std::string_view kSuffixes[] = {"_T4.json.gz", "_T4.json"};

Result<std::string> inflate_gzip(const std::string& packed, const std::filesystem::path& file) {
  z_stream stream{};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) return fail(ErrorKind::internal, "zlib did not start");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string text;
  int status = Z_OK;
  while (status == Z_OK && text.size() < kInflatedLimit) {
    std::size_t old = text.size();
    text.resize(old + std::max<std::size_t>(old, 1 << 20));
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + old);
    stream.avail_out = static_cast<uInt>(text.size() - old);
    status = inflate(&stream, Z_NO_FLUSH);
    text.resize(text.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END)
    return fail(ErrorKind::corrupt, fmt::format("{} is not a whole gzip file", file.string()),
                "copy it again from where it came from");
  return text;
}

/// Values of one parameter, gathered from the configurations, then ordered.
struct Column {
  std::string name;
  std::map<std::string, std::optional<double>> values;
};

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

std::optional<double> number_of(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1.0 : 0.0;
  if (value.is_number()) return value.get<double>();
  return std::nullopt;
}

Parameter to_parameter(const Column& column) {
  Parameter parameter{column.name, {}, {}};
  bool numeric = std::ranges::all_of(column.values, [](const auto& v) { return v.second.has_value(); });
  std::vector<std::pair<double, std::string>> ordered;
  for (const auto& [text, number] : column.values) ordered.emplace_back(number.value_or(0), text);
  if (numeric) std::ranges::sort(ordered);
  for (const auto& [number, text] : ordered) {
    parameter.values.push_back(text);
    if (numeric) parameter.numbers.push_back(number);
  }
  return parameter;
}

std::vector<Parameter> gather_parameters(const Json& results) {
  std::vector<Column> columns;
  for (const Json& result : results) {
    for (const auto& [name, value] : result["configuration"].items()) {
      auto column = std::ranges::find(columns, name, &Column::name);
      if (column == columns.end()) column = columns.insert(columns.end(), {name, {}});
      column->values.emplace(text_of(value), number_of(value));
    }
  }
  std::vector<Parameter> parameters;
  for (const Column& column : columns)
    if (column.values.size() > 1) parameters.push_back(to_parameter(column));
  return parameters;
}

/// The measurement called like the record's first objective; else the mean of the raw runtimes.
std::optional<double> cost_of_result(const Json& result) {
  if (result.value("invalidity", "correct") != "correct") return std::nullopt;
  std::string objective = "time";
  if (auto it = result.find("objectives"); it != result.end() && it->is_array() && !it->empty())
    objective = text_of(it->front());
  std::optional<double> cost;
  if (auto it = result.find("measurements"); it != result.end() && it->is_array())
    for (const Json& measurement : *it)
      if (measurement.is_object() && measurement.value("name", "") == objective &&
          measurement.contains("value"))
        cost = number_of(measurement["value"]);
  if (!cost || !std::isfinite(*cost) || *cost <= 0) return std::nullopt;
  return cost;
}

std::optional<Point> point_of(const Json& configuration, const std::vector<Parameter>& parameters) {
  Point point;
  for (const Parameter& parameter : parameters) {
    auto it = configuration.find(parameter.name);
    if (it == configuration.end()) return std::nullopt;
    point.push_back(
        static_cast<int>(std::ranges::find(parameter.values, text_of(*it)) - parameter.values.begin()));
  }
  return point;
}

std::string space_name(const std::filesystem::path& file) {
  std::string name = file.filename().string();
  for (std::string_view suffix : kSuffixes)
    if (name.ends_with(suffix)) return name.substr(0, name.size() - suffix.size());
  return name;
}

}  // namespace

Result<RecordedSpace> parse_recorded_space(std::string_view text, std::string name) {
  auto malformed = [&](std::string_view why) {
    return fail(ErrorKind::invalid_input, fmt::format("{}: not a recorded tuning space: {}", name, why),
                "a T4 file has `results`, each with `configuration`, `invalidity` and `measurements`");
  };
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) return malformed("it is not a JSON object");
  auto results = json.find("results");
  if (results == json.end() || !results->is_array()) return malformed("there is no array `results`");
  for (const Json& result : *results)
    if (!result.is_object() || !result.contains("configuration") || !result["configuration"].is_object())
      return malformed("a result has no `configuration`");

  RecordedSpace recorded{std::move(name), {}, {}, std::numeric_limits<double>::infinity()};
  recorded.space.parameters = gather_parameters(*results);
  recorded.space.enumerated.emplace();
  for (const Json& result : *results) {
    auto point = point_of(result["configuration"], recorded.space.parameters);
    if (!point) return malformed("a configuration lacks a parameter that others have");
    auto cost = cost_of_result(result);
    if (recorded.costs.emplace(*point, cost).second) recorded.space.enumerated->push_back(*point);
    if (cost) recorded.optimum = std::min(recorded.optimum, *cost);
  }
  if (!std::isfinite(recorded.optimum)) return malformed("no configuration of it worked");
  return recorded;
}

Result<RecordedSpace> load_recorded_space(const std::filesystem::path& file) {
  AKO_TRY(std::string text, read_file(file));
  if (file.extension() == ".gz") {
    AKO_TRY(text, inflate_gzip(text, file));
  }
  return parse_recorded_space(text, space_name(file));
}

Result<std::vector<std::filesystem::path>> list_recorded_spaces(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    std::string name = entry.path().filename().string();
    if (std::ranges::any_of(kSuffixes, [&](auto suffix) { return name.ends_with(suffix); }))
      files.push_back(entry.path());
  }
  if (error)
    return fail(ErrorKind::not_found,
                fmt::format("cannot read the folder {}: {}", folder.string(), error.message()));
  if (files.empty())
    return fail(ErrorKind::not_found, fmt::format("no recorded tuning spaces in {}", folder.string()),
                "they are files called *_T4.json or *_T4.json.gz");
  std::ranges::sort(files);
  return files;
}

}  // namespace ako
