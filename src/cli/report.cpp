// SPDX-License-Identifier: Apache-2.0
#include "report/report.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/cli.h"

namespace ako {
namespace {

int report(const std::string& folder, const Context& context) {
  auto record = read_campaign(folder);
  if (!record) return complain(context, record.error());
  if (auto written = write_report(*record); !written) return complain(context, written.error());
  std::string markdown = (record->folder / "report.md").string(),
              html = (record->folder / "report.html").string();
  if (context.json)
    print_json({{"markdown", markdown}, {"html", html}});
  else
    fmt::print("{}\n{}\n", printable(markdown), printable(html));
  return exit_code::fine;
}

}  // namespace

void add_report(CLI::App& app, Context& context) {
  auto folder = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("report", "Write report.md and report.html again from a campaign's record.");
  command->add_option("folder", *folder, "The campaign's folder")->required();
  command->footer("Examples:\n  ako report agent/workspace/softmax_cpp_host_20261121");
  command->callback([folder, &context] { context.exit_code = report(*folder, context); });
}

}  // namespace ako
