// SPDX-License-Identifier: Apache-2.0
// `ako export`: a kernel with a C header and a small test, ready to drop into a project.
#include "report/export.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/text.h"
#include "campaign/engine.h"
#include "cli/cli.h"

namespace ako {
namespace {

namespace fs = std::filesystem;

struct ExportCommand {
  std::string what, problem, shapes, output;
  std::uint64_t seed = 1;
  bool force = false;
};

struct Chosen {
  Problem problem;
  Candidate candidate;
  std::string origin;
};

/// The best kernel of a campaign.
Parsed<Chosen> from_campaign(const ExportCommand& command) {
  auto record = read_campaign(command.what);
  if (!record) return std::unexpected(std::vector{record.error()});
  const RoundRecord* best = best_round(*record);
  if (!best)
    return std::unexpected(std::vector{Error{ErrorKind::not_found, "this campaign has no kernel yet",
                                             "let it judge its baseline first: ako resume"}});
  auto problem = parse_problem(record->problem_text, record->folder / "problem.yaml");
  if (!problem) return std::unexpected(problem.error());
  return Chosen{std::move(*problem), best->proposal.candidate,
                fmt::format("round {} of {}", best->number, fs::path(command.what).filename().string())};
}

Parsed<Chosen> from_files(const ExportCommand& command) {
  std::error_code none;
  if (!fs::exists(command.what, none))
    return std::unexpected(
        std::vector{Error{ErrorKind::not_found, "'" + printable(command.what) + "' is not there",
                          "give a campaign's folder, a source file or a candidate"}});
  if (command.problem.empty())
    return std::unexpected(std::vector{
        Error{ErrorKind::invalid_input, "which problem does this kernel solve?", "say --problem PROBLEM"}});
  auto problem = problem_argument(command.problem, "");
  if (!problem) return std::unexpected(problem.error());
  auto candidate = load_candidate(command.what, *problem);
  if (!candidate) return std::unexpected(candidate.error());
  return Chosen{std::move(*problem), std::move(*candidate), fs::path(command.what).filename().string()};
}

Result<void> refuse_full_folder(const ExportCommand& command) {
  std::error_code none;
  if (command.force || !fs::exists(command.output, none) || fs::is_empty(command.output, none)) return {};
  return fail(ErrorKind::conflict, "'" + printable(command.output) + "' is there and not empty",
              "name another folder, or say --force to write into it");
}

int export_kernel(const ExportCommand& command, const Context& context) {
  if (auto fine = refuse_full_folder(command); !fine) return complain(context, fine.error());
  std::error_code none;
  const bool campaign = fs::exists(fs::path(command.what) / "campaign.db", none);
  auto chosen = campaign ? from_campaign(command) : from_files(command);
  if (!chosen) return complain(context, chosen.error());
  if (!command.shapes.empty()) {
    auto other = with_shapes(chosen->problem, command.shapes);
    if (!other) return complain(context, other.error());
    chosen->problem = std::move(*other);
  }
  const Shape& shape = shape_to_test(chosen->problem);
  const auto files =
      export_candidate(chosen->candidate, chosen->problem, shape, {chosen->origin, command.seed});
  if (!files) return complain(context, files.error());
  std::vector<std::string> written;
  for (const ExportFile& file : *files) {
    if (auto done = write_file(fs::path(command.output) / file.path, file.content); !done)
      return complain(context, done.error());
    written.push_back(file.path);
  }
  if (context.json)
    print_json({{"folder", command.output},
                {"files", written},
                {"function", chosen->problem.name + "_run"},
                {"test_shape", shape.label}});
  else
    fmt::print("{}_run of {} is in {}; 'make -C {} test' runs its test on {}\n", chosen->problem.name,
               printable(chosen->origin), printable(command.output), printable(command.output),
               printable(shape.label));
  return exit_code::fine;
}

}  // namespace

void add_export(CLI::App& app, Context& context) {
  auto options = std::make_shared<ExportCommand>();
  CLI::App* command =
      app.add_subcommand("export", "Take a kernel out: sources, a C header, and a test of its own.");
  command
      ->add_option("kernel", options->what,
                   "A campaign's folder (its best kernel), a source file, or a candidate")
      ->required();
  command->add_option("-p,--problem", options->problem, "The problem it solves; a campaign knows its own");
  command->add_option("-o,--output", options->output, "Folder to write")->required();
  command->add_option(
      "--shape", options->shapes,
      "Shape of the test; default: the smallest of the problem's that has some hundreds of elements");
  command->add_option("--seed", options->seed, "Of the test's inputs");
  command->add_flag("--force", options->force, "Write into a folder that holds something");
  command->footer(
      "Examples:\n  ako export agent/workspace/softmax_cpp_host_20261121 -o softmax_kernel\n"
      "  ako export softmax.cpp -p softmax --shape T=64,D=1000 -o softmax_kernel");
  command->callback([options, &context] { context.exit_code = export_kernel(*options, context); });
}

}  // namespace ako
