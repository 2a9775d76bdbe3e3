// SPDX-License-Identifier: Apache-2.0
#include "cli/judging.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/text.h"

namespace ako {

void add_judging_options(CLI::App& command, JudgingOptions& options) {
  command.add_option("-p,--problem", options.problem, "Problem file, or the name of a shipped one")
      ->required();
  command.add_option("--shape", options.shapes,
                     "Other shapes than the problem's: \"T=128,D=64\", several by ';'");
  command.add_flag("--full", options.full, "Every shape of the problem, not only the representative ones");
  command.add_option("--threads", options.threads, "Threads of a host kernel (default: all cores)")
      ->check(CLI::Range(0, 4096));
  command.add_option("--seed", options.seed, "Replay a verdict's inputs (default: a secret seed)");
  command.add_option("--target", options.target, "Device to judge on")->capture_default_str();
}

Parsed<JudgeRequest> start_request(const JudgingOptions& options, Problem& problem) {
  auto parsed = problem_argument(options.problem, options.shapes);
  if (!parsed) return std::unexpected(parsed.error());
  problem = std::move(*parsed);
  JudgeRequest request;
  request.problem_text = problem.source;
  request.problem_path = problem.path.string();
  request.shapes = options.shapes;
  request.level = options.full ? Level::full : Level::quick;
  request.seed = options.seed;
  request.time_budget = Seconds(options.budget_s);
  return request;
}

Result<JudgeClient> start_judge(const JudgingOptions& options) {
  JudgeOptions judge;
  judge.target = options.target;
  judge.threads = options.threads;
  return JudgeClient::start(judge);
}

JudgeClient::Progress live_progress(const Context& context) {
  if (!context.terminal || context.quiet || context.json) return {};
  return [](std::string_view stage) {
    fmt::print(stderr, "\r\033[K{}", printable(stage));
    std::fflush(stderr);
  };
}

void wipe_progress(const Context& context) {
  if (context.terminal && !context.quiet && !context.json) fmt::print(stderr, "\r\033[K");
}

std::string describe_outcome(const Verdict& verdict, const Style& style) {
  std::string text = printable(to_text(verdict.outcome));
  std::string out = (verdict.correct() ? style.green(text) : style.red(text)) + "\n";
  if (const auto* failed = std::get_if<CompileError>(&verdict.outcome))
    out += printable(failed->log, true) + "\n";
  for (const auto& note : verdict.notes) out += "note: " + printable(note) + "\n";
  const Spent& spent = verdict.spent;
  out += style.dim(fmt::format(
             "{:.2f} s: compile {:.2f}, reference {:.2f}, check {:.2f}, time {:.2f}; trust {}; seed {}",
             spent.total_s, spent.compile_s, spent.reference_s, spent.check_s, spent.time_s,
             name_of(verdict.trust), verdict.seed)) +
         "\n";
  return out;
}

int exit_code_of(const Verdict& verdict) {
  if (verdict.correct()) return exit_code::fine;
  return std::holds_alternative<InfrastructureError>(verdict.outcome) ? exit_code::infrastructure
                                                                      : exit_code::no;
}

}  // namespace ako
