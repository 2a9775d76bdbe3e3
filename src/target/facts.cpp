// SPDX-License-Identifier: Apache-2.0
#include "target/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace ako {
using nlohmann::json;
namespace {

constexpr int format_version = 1;

Result<TargetFacts> read_facts(const json& value) {
  if (int version = value.at("version").get<int>(); version != format_version)
    return fail(ErrorKind::corrupt,
                fmt::format("target facts of version {}, this ako reads version {}", version, format_version),
                "measure again: ako doctor --measure");
  TargetFacts facts;
  facts.id = value.at("id").get<std::string>();
  facts.device = value.at("device").get<std::string>();
  facts.compute_units = value.at("compute_units").get<int>();
  facts.vector_bits = value.at("vector_bits").get<int>();
  facts.features = value.at("features").get<std::vector<std::string>>();
  for (const json& cache : value.at("caches"))
    facts.caches.push_back({cache.at("level").get<int>(), Bytes{cache.at("bytes").get<std::int64_t>()},
                            cache.at("shared_by").get<int>()});
  for (const auto& [name, fact] : value.at("facts").items())
    facts.facts[name] = {fact.at("value").get<double>(), fact.at("source").get<std::string>()};
  return facts;
}

}  // namespace

bool TargetFacts::has(std::string_view feature) const {
  return std::find(features.begin(), features.end(), feature) != features.end();
}

std::optional<double> TargetFacts::fact(std::string_view name) const {
  auto found = facts.find(std::string(name));
  return found == facts.end() ? std::nullopt : std::optional(found->second.value);
}

Bytes TargetFacts::last_level_cache() const {
  if (caches.empty()) return {0};
  const CacheLevel& last =
      *std::max_element(caches.begin(), caches.end(),
                        [](const CacheLevel& a, const CacheLevel& b) { return a.level < b.level; });
  int sharing = std::max(1, last.shared_by);
  int instances = std::max(1, (compute_units + sharing - 1) / sharing);
  return {last.size.count * instances};
}

json to_json(const TargetFacts& facts) {
  json caches = json::array();
  for (const CacheLevel& cache : facts.caches)
    caches.push_back({{"level", cache.level}, {"bytes", cache.size.count}, {"shared_by", cache.shared_by}});
  json values = json::object();
  for (const auto& [name, fact] : facts.facts)
    values[name] = {{"value", fact.value}, {"source", printable(fact.source)}};
  return {{"version", format_version},         {"id", facts.id},
          {"device", printable(facts.device)}, {"compute_units", facts.compute_units},
          {"vector_bits", facts.vector_bits},  {"features", facts.features},
          {"caches", std::move(caches)},       {"facts", std::move(values)}};
}

Result<TargetFacts> target_facts_from_json(const json& value) {
  try {
    return read_facts(value);
  } catch (const json::exception& exception) {
    return fail(ErrorKind::corrupt,
                fmt::format("target facts are malformed: {}", printable(exception.what())),
                "measure again: ako doctor --measure");
  }
}

}  // namespace ako
