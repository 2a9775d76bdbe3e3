// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "campaign/campaign.h"
#include "cli/cli.h"

namespace ako {
namespace {

int list(const std::string& workspace, const Context& context) {
  std::vector<CampaignSummary> campaigns = list_campaigns(workspace);
  if (context.json) {
    nlohmann::json all = nlohmann::json::array();
    for (const CampaignSummary& one : campaigns)
      all.push_back({{"folder", one.folder.string()},
                     {"op", one.op},
                     {"target", one.target},
                     {"created", one.created},
                     {"phase", one.phase},
                     {"rounds", one.rounds},
                     {"accepted", one.accepted},
                     {"best_score", one.rounds > 0 ? nlohmann::json(one.best_score) : nlohmann::json()}});
    print_json({{"campaigns", all}});
    return exit_code::fine;
  }
  if (campaigns.empty()) {
    fmt::print("no campaigns in {}; start one by: ako optimize softmax --budget 60s\n", printable(workspace));
    return exit_code::fine;
  }
  std::vector<std::vector<std::string>> rows{
      {"created", "problem", "target", "phase", "rounds", "accepted", "best", "folder"}};
  for (const CampaignSummary& one : campaigns)
    rows.push_back({one.created, printable(one.op), printable(one.target), printable(one.phase),
                    std::to_string(one.rounds), std::to_string(one.accepted),
                    one.rounds > 0 ? fmt::format("{:.2f}×", one.best_score) : "-",
                    printable(one.folder.string())});
  fmt::print("{}", aligned_table(rows, {false, false, false, false, true, true, true, false}));
  return exit_code::fine;
}

}  // namespace

void add_list(CLI::App& app, Context& context) {
  auto workspace = std::make_shared<std::string>("agent/workspace");
  CLI::App* command = app.add_subcommand("list", "List campaigns, newest first.");
  command->add_option("--workspace", *workspace, "The folder that holds them (agent/workspace)");
  command->footer("Examples:\n  ako list\n  ako list --workspace demo --json");
  command->callback([workspace, &context] { context.exit_code = list(*workspace, context); });
}

}  // namespace ako
