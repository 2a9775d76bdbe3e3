// SPDX-License-Identifier: Apache-2.0
#include "target/gpu/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/files.h"

namespace ako::gpu {
namespace {

/// Operations (a fused multiply-add is two) of one compute unit in one cycle, without sparsity.
struct Rates {
  std::string_view architecture;
  double f64, f64_matrix, f32, tf32, f16, f8, i8;
  std::string_view source;
};
constexpr Rates kRates[] = {
    {"sm_80", 64, 128, 128, 1024, 2048, 0, 4096, "NVIDIA A100 architecture white paper"},
    {"sm_90", 128, 256, 256, 2048, 4096, 8192, 8192, "NVIDIA H100 architecture white paper"},
    {"gfx942", 256, 256, 256, 1024, 2048, 4096, 4096, "AMD CDNA 3 white paper"},
    {"gfx950", 128, 128, 256, 256, 4096, 8192, 8192, "AMD CDNA 4 white paper"},
};

/// Products that stand for a target where none is at hand.
struct Sheet {
  std::string_view target, product;
  Api api;
  int units, wave;
  double clock_mhz, memory_gb, bandwidth_gb_per_s;
  std::int64_t cache_mib, shared_block_kib, shared_unit_kib, registers;
};
constexpr Sheet kSheets[] = {
    {"sm_80", "NVIDIA A100 SXM 80 GB", Api::cuda, 108, 32, 1410, 80, 2039, 40, 163, 164, 65536},
    {"sm_90", "NVIDIA H100 SXM", Api::cuda, 132, 32, 1980, 80, 3350, 50, 227, 228, 65536},
    {"gfx942", "AMD Instinct MI300X", Api::hip, 304, 64, 2100, 192, 5300, 256, 64, 64, 131072},
    {"gfx950", "AMD Instinct MI355X", Api::hip, 256, 64, 2400, 288, 8000, 256, 160, 160, 131072},
};

std::string known_targets() {
  std::string text;
  for (const auto& sheet : kSheets) text += (text.empty() ? "" : ", ") + std::string(sheet.target);
  return text;
}

std::filesystem::path facts_file(const DeviceInfo& info) {
  std::string name = "gpu-" + info.name + "-" + info.bus + ".json";
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return !std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.'; }, '_');
  return data_folder() / "facts" / name;
}

void add_peaks(const DeviceInfo& info, TargetFacts& facts) {
  for (const auto& rates : kRates) {
    if (info.target != rates.architecture || info.clock_hz <= 0) continue;
    double per_cycle = info.clock_hz * info.compute_units;
    auto add = [&](const char* name, double operations) {
      if (operations > 0)
        facts.facts[name] = {operations * per_cycle,
                             fmt::format("{} units x {:.0f} operations a cycle ({}) x {:.0f} MHz",
                                         info.compute_units, operations, rates.source, info.clock_hz / 1e6)};
    };
    add("peak_flops_f64", std::max(rates.f64, rates.f64_matrix));
    add("peak_flops_f32", rates.f32);
    add("peak_flops_tf32", rates.tf32);
    for (const char* name : {"peak_flops_f16", "peak_flops_bf16"}) add(name, rates.f16);
    for (const char* name :
         {"peak_flops_f8e4m3", "peak_flops_f8e5m2", "peak_flops_f8e4m3fnuz", "peak_flops_f8e5m2fnuz"})
      add(name, rates.f8);
    add("peak_flops_i8", rates.i8);
  }
}

}  // namespace

TargetFacts look_up(const DeviceInfo& info) {
  TargetFacts facts;
  facts.id = info.target;
  facts.device = info.name;
  facts.compute_units = info.compute_units;
  facts.vector_bits = 128;  // the widest access of one thread
  facts.features = {info.api == Api::cuda ? "cuda" : "hip"};
  if (info.last_level_cache.count > 0) facts.caches.push_back({2, info.last_level_cache, info.compute_units});
  auto from_driver = [&](const char* name, double value) {
    if (value > 0) facts.facts[name] = {value, fmt::format("{} driver", name_of(info.api))};
  };
  from_driver("clock_hz", info.clock_hz);
  from_driver("memory_bytes", static_cast<double>(info.memory.count));
  from_driver("wave", info.wave);
  from_driver("threads_per_block", info.threads_per_block);
  from_driver("threads_per_unit", info.threads_per_unit);
  from_driver("registers_per_unit", info.registers_per_unit);
  from_driver("shared_bytes_per_block", static_cast<double>(info.shared_per_block.count));
  from_driver("shared_bytes_per_unit", static_cast<double>(info.shared_per_unit.count));
  from_driver("memory_clock_hz", info.memory_clock_hz);
  from_driver("memory_bus_bits", info.memory_bus_bits);
  add_peaks(info, facts);
  if (auto text = read_file(facts_file(info)))
    if (auto stored = target_facts_from_json(nlohmann::json::parse(*text, nullptr, false)); stored)
      for (const auto& [name, fact] : stored->facts)
        if (name.ends_with("bandwidth_bytes_per_s")) facts.facts[name] = fact;
  return facts;
}

Driven<TargetFacts> measure(Device& device) {
  TargetFacts facts = look_up(device.info());
  Bytes size{std::max<std::int64_t>(8 * device.info().last_level_cache.count, 512 << 20)};
  AKO_DRIVEN(auto from, device.allocate(size));
  AKO_DRIVEN(auto to, device.allocate(size));
  AKO_DRIVEN(auto start, device.event());
  AKO_DRIVEN(auto end, device.event());
  AKO_CHECK(device.fill(from.address(), size, 1));
  double best = 0;
  for (int i = 0; i < 12; ++i) {
    AKO_CHECK(device.record(start));
    AKO_CHECK(device.copy(to.address(), from.address(), size));
    AKO_CHECK(device.record(end));
    AKO_CHECK(device.wait(Seconds(20)));
    AKO_DRIVEN(auto took, end.since(start));
    if (took.count() > 0) best = std::max(best, 2e6 * static_cast<double>(size.count) / took.count());
  }
  const char* name = "copy_bandwidth_bytes_per_s";
  if (best > facts.fact(name).value_or(0)) facts.facts[name] = {best, "measured " + utc_date() + " by ako"};
  // A folder that cannot be written costs a measurement next time, no more.
  (void)write_file(facts_file(device.info()), to_json(facts).dump(2) + "\n");
  return facts;
}

Result<TargetFacts> sheet_facts(const TargetId& target) {
  const auto* sheet = std::ranges::find(kSheets, std::string_view(target), &Sheet::target);
  if (sheet == std::end(kSheets))
    return fail(ErrorKind::unsupported,
                fmt::format("no data of a target '{}' without a device of it", target),
                "known without a device: " + known_targets());
  DeviceInfo info;
  info.api = sheet->api;
  info.name = std::string(sheet->product);
  info.target = target;
  info.compute_units = sheet->units;
  info.wave = sheet->wave;
  info.clock_hz = sheet->clock_mhz * 1e6;
  TargetFacts facts;
  facts.id = target;
  facts.device = info.name + " (data sheet)";
  facts.compute_units = sheet->units;
  facts.vector_bits = 128;
  facts.features = {sheet->api == Api::cuda ? "cuda" : "hip"};
  facts.caches.push_back({2, mebibytes(sheet->cache_mib), sheet->units});
  const std::string source = info.name + " data sheet";
  auto add = [&](const char* name, double value) { facts.facts[name] = {value, source}; };
  add("clock_hz", info.clock_hz);
  add("memory_bytes", sheet->memory_gb * 1e9);
  add("wave", sheet->wave);
  add("threads_per_block", 1024);
  add("threads_per_unit", 2048);
  add("registers_per_unit", sheet->registers);
  add("shared_bytes_per_block", static_cast<double>(sheet->shared_block_kib << 10));
  add("shared_bytes_per_unit", static_cast<double>(sheet->shared_unit_kib << 10));
  add("copy_bandwidth_bytes_per_s", sheet->bandwidth_gb_per_s * 1e9);
  add_peaks(info, facts);
  return facts;
}

Found find_devices() {
  Found found;
  for (Api api : {Api::cuda, Api::hip}) {
    auto driver = Driver::open(api);
    if (!driver) {
      found.missing.push_back(driver.error());
      continue;
    }
    auto devices = (*driver)->devices();
    if (!devices) {
      found.missing.push_back(to_error(devices.error()));
      continue;
    }
    for (auto& info : *devices) found.devices.push_back({driver->get(), std::move(info)});
    found.drivers.push_back(std::move(*driver));
  }
  return found;
}

std::vector<Found::One> devices_of(const Found& found, const TargetId& target) {
  std::vector<Found::One> chosen;
  for (const auto& one : found.devices)
    if (one.info.target == target || one.info.target + "a" == target) chosen.push_back(one);
  return chosen;
}

Error no_device(const Found& found, const TargetId& target) {
  std::string why;
  for (const auto& one : found.devices)
    why += fmt::format("; here is {} ({})", one.info.name, one.info.target);
  for (const auto& one : found.missing) why += "; " + one.what;
  return {ErrorKind::unavailable, fmt::format("no device of target {} is here{}", target, why),
          "'ako doctor' says what GPU pieces exist and what to do about those that do not"};
}

Result<TargetFacts> facts_of(const TargetId& target) {
  auto found = find_devices();
  auto devices = devices_of(found, target);
  return devices.empty() ? sheet_facts(target) : look_up(devices.front().info);
}

}  // namespace ako::gpu
