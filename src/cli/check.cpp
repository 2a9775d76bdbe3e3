// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/judging.h"

namespace ako {
namespace {

struct CheckOptions : JudgingOptions {
  std::string file;
};

std::string error_text(double decibels) {
  return decibels >= std::numeric_limits<double>::max() ? "exact" : fmt::format("{:.1f} dB", decibels);
}

/// Every shape that the judge looks at is a stage of its own: the level's, and small ones beside them.
class ShapeCounter {
 public:
  JudgeClient::Progress counting(JudgeClient::Progress shown) {
    return [this, shown = std::move(shown)](std::string_view stage) {
      if (stage.starts_with("check ")) seen_.insert(std::string(stage));
      if (shown) shown(stage);
    };
  }
  std::size_t count() const { return seen_.size(); }

 private:
  std::set<std::string> seen_;
};

int check(const CheckOptions& options, const Context& context) {
  Problem problem;
  auto request = start_request(options, problem);
  if (!request) return complain(context, request.error());
  auto candidate = load_candidate(options.file, problem);
  if (!candidate) return complain(context, candidate.error());
  request->candidate = std::move(*candidate);
  request->effort = Effort::check;
  auto judge = start_judge(options);
  if (!judge) return complain(context, judge.error());
  ShapeCounter shapes;
  auto verdict = judge->judge(*request, shapes.counting(live_progress(context)));
  wipe_progress(context);
  if (!verdict) return complain(context, verdict.error());
  if (context.json) {
    print_json(to_json(*verdict));
    return exit_code_of(*verdict);
  }
  fmt::print("{}", describe_outcome(*verdict, Style(context.color)));
  std::vector<std::vector<std::string>> rows{{"shape", "against fp64"}};
  for (const auto& timing : verdict->timings) rows.push_back({timing.shape, error_text(timing.error_db)});
  if (rows.size() > 1) fmt::print("{}", aligned_table(rows, {false, true}));
  if (verdict->correct() && shapes.count() < problem.shapes.size())
    fmt::print("checked {} of {} shapes; --full checks all\n", shapes.count(), problem.shapes.size());
  return exit_code_of(*verdict);
}

}  // namespace

void add_check(CLI::App& app, Context& context) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command =
      app.add_subcommand("check", "Is a kernel correct? Compiles it, runs it confined, compares with fp64.");
  command->add_option("file", options->file, "Source file, or candidate folder")->required();
  add_judging_options(*command, *options);
  command->footer(
      "Examples:\n  ako check softmax.cpp --problem softmax\n"
      "  ako check softmax.cpp -p softmax --shape T=7,D=1000\n"
      "Exit status: 0 correct, 1 not, 3 bad input, 4 infrastructure.");
  command->callback([options, &context] { context.exit_code = check(*options, context); });
}

}  // namespace ako
