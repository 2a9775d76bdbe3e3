// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/text.h"
#include "cli/cli.h"
#include "profile/static_profile.h"

namespace ako {
namespace {

struct InspectOptions {
  std::string file;
  bool no_instructions = false;
};

std::string amount(std::optional<std::int64_t> value) { return value ? fmt::format("{}", *value) : "?"; }

std::string registers_line(const KernelFacts& kernel) {
  if (!kernel.vgprs && !kernel.sgprs) return fmt::format("{} for each thread", amount(kernel.registers));
  return fmt::format("{} for each thread ({} VGPRs, {} AGPRs), {} SGPRs; spilled {} and {}",
                     amount(kernel.registers), amount(kernel.vgprs), amount(kernel.agprs),
                     amount(kernel.sgprs), amount(kernel.vgpr_spills), amount(kernel.sgpr_spills));
}

std::string widths_text(const std::map<int, std::int64_t>& widths) {
  std::vector<std::string> parts;
  for (const auto& [bytes, count] : widths) parts.push_back(fmt::format("{} × {} B", count, bytes));
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
}

void print_mix(const InstructionMix& mix) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : mix.classes) parts.push_back(fmt::format("{} {}", name, count));
  fmt::print("  instructions  {}: {}\n", mix.total(), fmt::join(parts, ", "));
  fmt::print("  global loads  {}\n  global stores {}\n", widths_text(mix.global_load_bytes),
             widths_text(mix.global_store_bytes));
}

void print_kernel(const KernelProfile& kernel, const Style& style) {
  const KernelFacts& facts = kernel.facts;
  fmt::print("\n{}\n", style.bold(printable(facts.name)));
  fmt::print("  registers     {}\n", registers_line(facts));
  fmt::print("  memory        {} B of LDS, {} B of scratch for each thread, {} B of arguments\n",
             amount(facts.lds_bytes), amount(facts.scratch_bytes), amount(facts.kernarg_bytes));
  if (kernel.occupancy)
    fmt::print(
        "  occupancy     {} of {} waves a SIMD, {} blocks of {} threads a compute unit; limited by {}\n",
        kernel.occupancy->waves_per_simd, kernel.occupancy->most_waves_per_simd,
        kernel.occupancy->blocks_per_unit, facts.needs().threads, kernel.occupancy->limited_by);
  fmt::print("  code          {} B\n", facts.code_bytes);
  if (kernel.mix.total() > 0) print_mix(kernel.mix);
  for (const std::string& each : facts.disagreements)
    fmt::print("  {} {}\n", style.red("disagrees:"), printable(each));
}

int inspect(const InspectOptions& options, const Context& context) {
  auto file = read_file(options.file);
  if (!file) return complain(context, file.error());
  Disassembler disassembler;
  auto profiles = static_profiles(*file, options.no_instructions ? nullptr : &disassembler);
  if (!profiles) {
    Error error = profiles.error();
    error.what = printable(options.file) + ": " + error.what;
    return complain(context, error);
  }
  if (context.json) {
    nlohmann::json all = nlohmann::json::array();
    for (const StaticProfile& profile : *profiles) all.push_back(to_json(profile));
    print_json({{"version", 1}, {"file", printable(options.file)}, {"code_objects", std::move(all)}});
    return exit_code::fine;
  }
  Style style(context.color);
  for (const StaticProfile& profile : *profiles) {
    fmt::print("{}{}, {}, {} kernel{}\n", profile.member.empty() ? "" : printable(profile.member) + ": ",
               printable(profile.target), profile.format, profile.kernels.size(),
               profile.kernels.size() == 1 ? "" : "s");
    for (const KernelProfile& kernel : profile.kernels) print_kernel(kernel, style);
    if (!profile.no_disassembly.empty() && !options.no_instructions)
      remark(context, "instructions: not available: " + profile.no_disassembly);
  }
  return exit_code::fine;
}

}  // namespace

void add_inspect(CLI::App& app, Context& context) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App* command = app.add_subcommand(
      "inspect", "Show what a GPU code object uses: registers, memory, occupancy, instructions.");
  command
      ->add_option("file", options->file,
                   "A .hsaco, .co or .cubin file, an offload bundle, or a program with one")
      ->required();
  command->add_flag("--no-instructions", options->no_instructions, "Do not disassemble");
  command->footer("Examples:\n  ako inspect softmax.hsaco\n  ako inspect gemm.cubin --json");
  command->callback([options, &context] { context.exit_code = inspect(*options, context); });
}

}  // namespace ako
