// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "campaign/experience.h"
#include "cli/cli.h"

namespace ako {
namespace {

struct TipsOptions {
  std::string workspace = "agent/workspace", op, target;
};

nlohmann::json json_of(const Tip& tip) {
  nlohmann::json json{{"target", tip.target},
                      {"op", tip.op},
                      {"pattern", tip.pattern},
                      {"backend", tip.backend},
                      {"language", tip.language},
                      {"device", tip.device},
                      {"campaign", tip.campaign},
                      {"round", tip.round},
                      {"time", tip.time},
                      {"accepted", tip.accepted},
                      {"change", tip.change},
                      {"context", tip.context},
                      {"signal", tip.signal},
                      {"takeaway", tip.takeaway},
                      {"applicability", tip.applicability}};
  json["speedup"] = tip.log_ratio ? nlohmann::json(std::exp(-*tip.log_ratio)) : nlohmann::json();
  return json;
}

int tips(const TipsOptions& options, const Context& context) {
  auto all = all_tips(experience_folder(options.workspace));
  if (!all) return complain(context, all.error());
  std::erase_if(*all, [&](const Tip& tip) {
    return (!options.op.empty() && tip.op != options.op) ||
           (!options.target.empty() && tip.target != options.target);
  });
  if (context.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const Tip& tip : *all) list.push_back(json_of(tip));
    print_json({{"tips", list}});
    return exit_code::fine;
  }
  if (all->empty()) fmt::print("no tips yet: campaigns leave them when they end\n");
  for (const Tip& tip : *all) fmt::print("{}\n", to_text(tip));
  return exit_code::fine;
}

}  // namespace

void add_tips(CLI::App& app, Context& context) {
  auto options = std::make_shared<TipsOptions>();
  CLI::App* command = app.add_subcommand("tips", "List what ended campaigns taught, newest first.");
  command->add_option("--workspace", options->workspace,
                      "The folder that holds the campaigns (agent/workspace)");
  command->add_option("--op", options->op, "Of this operator only");
  command->add_option("--target", options->target, "Of this device only");
  command->footer("Examples:\n  ako tips\n  ako tips --op softmax --json");
  command->callback([options, &context] { context.exit_code = tips(*options, context); });
}

}  // namespace ako
