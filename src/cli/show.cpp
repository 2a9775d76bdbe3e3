// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "campaign/engine.h"
#include "campaign/projections.h"
#include "cli/campaign_run.h"
#include "cli/cli.h"
#include "cli/progress.h"

namespace ako {
namespace {

struct ShowOptions {
  std::string folder;
  int round = 0;
};

int show_round(const CampaignRecord& record, int number, const Context& context) {
  for (const RoundRecord& round : record.rounds) {
    if (round.number != number) continue;
    if (context.json) {
      print_json(to_json(round));
      return exit_code::fine;
    }
    auto problem = parse_problem(record.problem_text, record.folder / "problem.yaml");
    if (!problem) return complain(context, problem.error());
    fmt::print("{}", printable(round_summary(record, *problem, round), true));
    for (const SourceFile& source : round.proposal.candidate.sources)
      fmt::print("\n## {}\n\n{}\n", printable(source.path), printable(source.text, true));
    return exit_code::fine;
  }
  return complain(context, {ErrorKind::not_found, fmt::format("there is no round {}", number),
                            fmt::format("the campaign has rounds 1 to {}", record.rounds.size())});
}

std::string library_table(const LibraryComparison& library) {
  std::vector<std::vector<std::string>> rows{
      {"  shape", "best", "library", "best / library", "98 % interval"}};
  for (const ShapeTiming& timing : library.verdict->timings)
    rows.push_back({"  " + timing.shape, to_text(Microseconds(timing.incumbent_median_us)),
                    to_text(Microseconds(timing.candidate_median_us)),
                    fmt::format("{:.2f}×", std::exp(timing.log_ratio)),
                    fmt::format("{:.2f}× … {:.2f}×", std::exp(timing.log_ratio_interval.low),
                                std::exp(timing.log_ratio_interval.high))});
  return aligned_table(rows, {false, true, true, true, false});
}

void show_library(const LibraryComparison& library) {
  fmt::print("\n{}\n", printable(library_text(library)));
  if (library.verdict) fmt::print("{}", printable(library_table(library), true));
}

int show(const ShowOptions& options, const Context& context) {
  auto record = read_campaign(options.folder);
  if (!record) return complain(context, record.error());
  if (options.round > 0) return show_round(*record, options.round, context);
  if (context.json) {
    print_json(campaign_json(*record));
    return exit_code::fine;
  }
  Style style(context.color);
  fmt::print("{} on {}: {}\n", printable(record->manifest.target_op), printable(record->manifest.target_gpu),
             style.bold(headline(*record)));
  fmt::print("{}{}\n\n", name_of(record->phase),
             record->termination.empty() ? "" : ", " + printable(record->termination));
  for (const RoundRecord& round : record->rounds) fmt::print("{}\n", round_line(round, style));
  for (const Validation& one : record->validations)
    fmt::print("final verification of round {}: {} — {}\n", one.round, name_of(one.result),
               printable(one.outcome));
  if (record->library) show_library(*record->library);
  if (!record->tips.empty())
    fmt::print("\nread {} tip{} of earlier campaigns; 'ako tips' lists them\n", record->tips.size(),
               record->tips.size() == 1 ? "" : "s");
  return exit_code::fine;
}

}  // namespace

void add_show(CLI::App& app, Context& context) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* command = app.add_subcommand("show", "Show a campaign's rounds, or one round with its source.");
  command->add_option("folder", options->folder, "The campaign's folder")->required();
  command->add_option("--round", options->round, "Only this round, in full")->check(CLI::PositiveNumber);
  command->footer(
      "Examples:\n  ako show agent/workspace/softmax_cpp_host_20261121\n"
      "  ako show agent/workspace/softmax_cpp_host_20261121 --round 3");
  command->callback([options, &context] { context.exit_code = show(*options, context); });
}

}  // namespace ako
