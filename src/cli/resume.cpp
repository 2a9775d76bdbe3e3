// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "campaign/campaign.h"
#include "cli/campaign_run.h"
#include "cli/cli.h"
#include "cli/duration.h"

namespace ako {
namespace {

struct ResumeOptions {
  std::string folder, budget;
  int rounds = 0;
};

int resume(const ResumeOptions& options, const Context& context) {
  double seconds = 0;
  if (!options.budget.empty()) {
    auto budget = parse_duration(options.budget);
    if (!budget) return complain(context, budget.error());
    seconds = budget->count();
  }
  if (seconds > 0 || options.rounds > 0)
    if (auto extended = extend_campaign(options.folder, seconds, options.rounds); !extended)
      return complain(context, extended.error());
  auto before = read_campaign(options.folder);
  bool ended = before && before->phase == Phase::done;
  int status = run_and_report(options.folder, context);
  if (ended)
    remark(context,
           fmt::format("\nthis campaign has ended; to go on add --budget or --rounds: {} --budget 60s",
                       resume_command(options.folder)));
  return status;
}

}  // namespace

void add_resume(CLI::App& app, Context& context) {
  auto options = std::make_shared<ResumeOptions>();
  CLI::App* command =
      app.add_subcommand("resume", "Go on with a campaign that was interrupted, or give one more budget.");
  command->add_option("folder", options->folder, "The campaign's folder ('ako list' shows them)")->required();
  command->add_option("--budget", options->budget, "More time, beyond what was spent: 60s, 10m");
  command->add_option("--rounds", options->rounds, "More rounds, beyond those made")
      ->check(CLI::PositiveNumber);
  command->footer(
      "Examples:\n  ako resume agent/workspace/softmax_cpp_host_20261121\n"
      "  ako resume agent/workspace/softmax_cpp_host_20261121 --budget 5m");
  command->callback([options, &context] { context.exit_code = resume(*options, context); });
}

}  // namespace ako
