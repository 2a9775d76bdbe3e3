// SPDX-License-Identifier: Apache-2.0
#include "target/host/host.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/files.h"
#include "target/host/measure.h"
#include "target/host/system.h"

namespace ako::host {
namespace fs = std::filesystem;
using nlohmann::json;
namespace {

constexpr int format_version = 1;

int vector_bits(const TargetFacts& facts) {
  return facts.has("avx512f") ? 512 : facts.has("avx2") ? 256 : 128;
}

/// Measurements hold for the machine they were made on, with the cores it had then.
std::string machine_key(const TargetFacts& facts) {
  return fmt::format("{}; {} cores; {}; {} bit vectors; {} last-level cache", facts.device,
                     facts.compute_units, is_virtual() ? "virtual" : "physical", facts.vector_bits,
                     to_text(facts.last_level_cache()));
}

fs::path store_path() { return data_folder() / "facts" / "host.json"; }

/// Nothing when there is no store, it is damaged, or it is of another machine: it is only ever a saving of
/// time.
std::map<std::string, Fact> stored_facts(const std::string& key) {
  auto text = read_file(store_path());
  if (!text) return {};
  try {
    json value = json::parse(*text);
    if (value.at("version") != format_version || value.at("machine") != key) return {};
    std::map<std::string, Fact> facts;
    for (const auto& [name, fact] : value.at("facts").items())
      facts[name] = {fact.at("value").get<double>(), fact.at("source").get<std::string>()};
    return facts;
  } catch (const json::exception&) {
    return {};
  }
}

Result<void> store_facts(const std::string& key, const std::map<std::string, Fact>& facts) {
  json values = json::object();
  for (const auto& [name, fact] : facts) values[name] = {{"value", fact.value}, {"source", fact.source}};
  json document{
      {"version", format_version}, {"machine", key}, {"measured", utc_now()}, {"facts", std::move(values)}};
  return write_file(store_path(), document.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

/// A roof is a limit: of two measurements of the same machine the higher one stands, for the lower one was
/// disturbed.
void keep_higher(std::map<std::string, Fact>& facts, const std::map<std::string, Fact>& earlier) {
  for (auto& [name, fact] : facts) {
    auto before = earlier.find(name);
    bool is_roof = name.starts_with("peak_") || name.ends_with("_bytes_per_s");
    if (is_roof && before != earlier.end() && before->second.value > fact.value) fact = before->second;
  }
}

TargetFacts without_measurements() {
  TargetFacts facts;
  facts.id = "host";
  facts.device = processor_name();
  facts.compute_units = usable_cores();
  facts.features = processor_features();
  facts.vector_bits = vector_bits(facts);
  facts.caches = data_caches();
  return facts;
}

/// Eight times what the caches hold, as far as a sixth of the memory goes.
Bytes array_size(const TargetFacts& facts) {
  Bytes wanted = std::max(mebibytes(64), Bytes{8 * facts.last_level_cache().count});
  Bytes available = available_memory();
  if (available.count > 0) wanted = std::min(wanted, Bytes{available.count / 6});
  return {std::max(mebibytes(1).count, wanted.count / mebibytes(1).count * mebibytes(1).count)};
}

}  // namespace

TargetFacts look_up() {
  TargetFacts facts = without_measurements();
  facts.facts = stored_facts(machine_key(facts));
  return facts;
}

Result<TargetFacts> measure(const MeasureOptions& options) {
  TargetFacts facts = without_measurements();
  std::string source = fmt::format("measured {} by ako", utc_minute());
  Seconds budget = std::max(Seconds{0.2}, options.budget);
  AKO_TRY(Bandwidth bandwidth, measure_bandwidth(facts.compute_units, array_size(facts), 0.55 * budget));
  std::string copy = fmt::format("{}, {} stores, arrays of {}", source,
                                 bandwidth.streaming ? "streaming" : "plain", to_text(bandwidth.array));
  facts.facts["copy_bandwidth_bytes_per_s"] = {bandwidth.copy_bytes_per_s, copy};
  facts.facts["read_bandwidth_bytes_per_s"] = {bandwidth.read_bytes_per_s, source};
  for (const auto& [type, peak] : measure_peaks(facts.compute_units, 0.3 * budget))
    facts.facts["peak_flops_" + type] = {peak, source};
  facts.facts["timer_resolution_s"] = {measure_timer_resolution().count(), source};
  keep_higher(facts.facts, stored_facts(machine_key(facts)));
  AKO_CHECK(store_facts(machine_key(facts), facts.facts));
  return facts;
}

Seconds measure_timer_resolution() {
  using Clock = std::chrono::steady_clock;
  Clock::duration least = Clock::duration::max();
  for (int i = 0; i < 2000; ++i) {
    Clock::time_point first = Clock::now(), second = first;
    while (second == first) second = Clock::now();
    least = std::min(least, second - first);
  }
  return least;
}

}  // namespace ako::host
