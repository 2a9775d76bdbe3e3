// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "base/version.h"
#include "cli/cli.h"
#include "cli/doctor_checks.h"
#include "target/host/host.h"

namespace ako {
namespace {

struct DoctorOptions {
  bool measure = false;
};

struct Findings {
  std::vector<Check> checks;
  TargetFacts facts;
  std::vector<Setting> settings;
  std::vector<Folder> folders;
  bool healthy() const {
    for (const Check& check : checks)
      if (check.health == Health::missing) return false;
    for (const Folder& folder : folders)
      if (!folder.writable) return false;
    return true;
  }
};

nlohmann::json findings_json(const Findings& findings) {
  nlohmann::json checks = nlohmann::json::array(), settings = nlohmann::json::array(),
                 folders = nlohmann::json::array();
  for (const Check& check : findings.checks)
    checks.push_back({{"group", check.group},
                      {"name", check.name},
                      {"health", name_of(check.health)},
                      {"found", check.found},
                      {"advice", check.advice}});
  for (const Setting& setting : findings.settings)
    settings.push_back({{"name", setting.name}, {"value", setting.value}, {"origin", setting.origin}});
  for (const Folder& folder : findings.folders)
    folders.push_back({{"name", folder.name},
                       {"path", folder.path.string()},
                       {"writable", folder.writable},
                       {"available_bytes", folder.available.count},
                       {"used_bytes", folder.used.count}});
  return {{"ako", version},       {"healthy", findings.healthy()},
          {"checks", checks},     {"target", to_json(findings.facts)},
          {"settings", settings}, {"folders", folders}};
}

void print_checks(const std::vector<Check>& checks, const Style& style) {
  std::vector<std::vector<std::string>> rows;
  for (const Check& check : checks)
    rows.push_back(
        {"  " + std::string(name_of(check.health)), check.name, printable(check.found.substr(0, 400))});
  std::string table = aligned_table(rows, {});
  std::string group;
  for (const Check& check : checks) {
    std::string line = table.substr(0, table.find('\n'));
    table.erase(0, line.size() + 1);
    if (check.group != group) fmt::print("{}{}\n", group.empty() ? "" : "\n", style.bold(check.group));
    group = check.group;
    bool bad = check.health == Health::missing || check.health == Health::limited;
    fmt::print("{}\n", bad ? style.red(line) : line);
    if (!check.advice.empty()) fmt::print("           help: {}\n", printable(check.advice));
  }
}

/// "36.1 GB/s", "230 GFLOP/s", "20 ns".
std::string fact_text(std::string_view name, double value) {
  if (name.ends_with("bytes_per_s")) return fmt::format("{:.1f} GB/s", value / 1e9);
  if (name.starts_with("peak_flops")) return fmt::format("{:.0f} GFLOP/s", value / 1e9);
  if (name.ends_with("_s")) return to_text(Microseconds(Seconds(value)));
  return fmt::format("{:g}", value);
}

void print_device(const TargetFacts& facts, const Style& style) {
  fmt::print("\n{}\n  {}, {} cores usable, {} bit vectors\n", style.bold("this machine"),
             printable(facts.device), facts.compute_units, facts.vector_bits);
  if (!facts.features.empty()) fmt::print("  {}\n", fmt::join(facts.features, " "));
  std::vector<std::string> caches;
  for (const CacheLevel& cache : facts.caches)
    caches.push_back(fmt::format("L{} {}{}", cache.level, to_text(cache.size),
                                 cache.shared_by > 1 ? fmt::format(" for {} cores", cache.shared_by) : ""));
  if (!caches.empty()) fmt::print("  {}\n", fmt::join(caches, ", "));
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, fact] : facts.facts)
    rows.push_back({"  " + name, fact_text(name, fact.value), printable(fact.source)});
  if (rows.empty())
    fmt::print(
        "  not measured yet: 'ako doctor --measure' does it in some seconds, 'ako optimize' by itself\n");
  else
    fmt::print("{}", aligned_table(rows, {false, true, false}));
}

void print_surroundings(const Findings& findings, const Style& style) {
  std::vector<std::vector<std::string>> rows;
  for (const Setting& setting : findings.settings)
    rows.push_back({"  " + setting.name, setting.value.empty() ? "-" : printable(setting.value),
                    setting.origin, setting.meaning});
  fmt::print("\n{}\n{}", style.bold("settings"), aligned_table(rows, {}));
  rows.clear();
  for (const Folder& folder : findings.folders)
    rows.push_back({"  " + folder.name, printable(folder.path.string()), to_text(folder.available) + " free",
                    folder.used.count > 0 ? to_text(folder.used) + " used" : "",
                    folder.writable ? "" : "cannot be written: choose another one"});
  fmt::print("\n{}\n{}", style.bold("folders"), aligned_table(rows, {}));
}

int doctor(const DoctorOptions& options, const Context& context) {
  Findings findings;
  if (options.measure) {
    remark(context, "Measuring memory bandwidth and peak arithmetic …");
    auto measured = host::measure();
    if (!measured) return complain(context, measured.error());
  }
  findings.facts = host::look_up();
  findings.checks = run_checks();
  findings.settings = all_settings();
  findings.folders = all_folders();
  int answer = findings.healthy() ? exit_code::fine : exit_code::no;
  if (context.json) {
    print_json(findings_json(findings));
    return answer;
  }
  Style style(context.color);
  print_checks(findings.checks, style);
  print_device(findings.facts, style);
  print_surroundings(findings, style);
  fmt::print("\n{}\n", findings.healthy()
                           ? style.green("ako can optimize kernels on this machine.")
                           : style.red("ako cannot optimize kernels here until the above is mended."));
  return answer;
}

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* command =
      app.add_subcommand("doctor", "Say what works on this machine, what is missing and how to get it.");
  command->add_flag("--measure", options->measure,
                    "Measure bandwidth and peak arithmetic, and keep them for rooflines");
  command->footer("Examples:\n  ako doctor\n  ako doctor --measure\n  ako doctor --json");
  command->callback([options, &context] { context.exit_code = doctor(*options, context); });
}

}  // namespace ako
