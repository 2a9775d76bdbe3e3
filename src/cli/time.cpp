// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/judging.h"

namespace ako {
namespace {

struct TimeOptions : JudgingOptions {
  std::string first, second, library;
  bool screen = false;
};

/// "2.31× as fast", "8.1 % slower".
std::string ratio_text(double log_ratio) {
  double ratio = std::exp(-log_ratio);
  if (ratio >= 1.5) return fmt::format("{:.2f}× as fast", ratio);
  if (ratio <= 1 / 1.5) return fmt::format("{:.2f}× slower", 1 / ratio);
  return fmt::format("{:.1f} % {}", 100 * std::abs(std::expm1(log_ratio)),
                     log_ratio < 0 ? "faster" : "slower");
}

std::string bound_text(const Interval& interval) {
  if (!std::isfinite(interval.low) || !std::isfinite(interval.high)) return "too few blocks for bounds";
  return fmt::format("98 % interval of the time ratio {:.3f} … {:.3f}", std::exp(interval.low),
                     std::exp(interval.high));
}

std::string sentence(const Comparison& comparison, std::string_view b) {
  std::string size = ratio_text(comparison.log_ratio);
  switch (comparison.clarity) {
    case Clarity::faster:
      return fmt::format("{} is faster than A: {}.", b, size);
    case Clarity::slower:
      return fmt::format("{} is slower than A: {}.", b, size);
    case Clarity::same:
      return fmt::format("A and {} are equally fast, within {:.1f} %.", b, 100 * comparison.noise);
    case Clarity::ambiguous:
      break;
  }
  return fmt::format("No clear answer: {} looks {}, which may be noise.", b, size);
}

/// What the second kernel is called: "B", or the library's name.
std::string second_name(const Verdict& verdict) {
  return verdict.library.empty() ? "B" : verdict.library.substr(0, verdict.library.find(' '));
}

void print_timings(const Verdict& verdict) {
  std::string b = second_name(verdict);
  std::vector<std::vector<std::string>> rows{{"shape", "A", b, b + " / A", "launches"}};
  for (const auto& timing : verdict.timings)
    rows.push_back({timing.shape, to_text(Microseconds(timing.incumbent_median_us)),
                    to_text(Microseconds(timing.candidate_median_us)),
                    fmt::format("{:.3f}", std::exp(timing.log_ratio)),
                    fmt::format("{}×{}", timing.candidate_us.size(), timing.launches_per_batch)});
  fmt::print("{}", aligned_table(rows, {false, true, true, true, true}));
}

/// A kernel that is not right, and which file it came from. The comparison has not been made.
int refuse(const std::string& file, const Verdict& verdict, const Context& context) {
  bool infrastructure = std::holds_alternative<InfrastructureError>(verdict.outcome);
  if (context.json) {
    nlohmann::json json = to_json(verdict);
    if (!infrastructure) json["file"] = file;
    print_json(json);
  } else {
    fmt::print("{}\n",
               Style(context.color)
                   .red(printable(infrastructure ? to_text(verdict.outcome)
                                                 : fmt::format("{}: {}", file, to_text(verdict.outcome)))));
    if (const auto* failed = std::get_if<CompileError>(&verdict.outcome))
      fmt::print("{}\n", printable(failed->log, true));
  }
  return exit_code_of(verdict);
}

int time(const TimeOptions& options, const Context& context) {
  Problem problem;
  auto request = start_request(options, problem);
  if (!request) return complain(context, request.error());
  auto first = load_candidate(options.first, problem);
  if (!first) return complain(context, first.error());
  request->incumbent = std::move(*first);
  request->library = options.library;
  if (options.library.empty()) {
    auto second = load_candidate(options.second, problem);
    if (!second) return complain(context, second.error());
    request->candidate = std::move(*second);
  }
  request->effort = options.screen ? Effort::screen : Effort::decide;
  auto judge = start_judge(options);
  if (!judge) return complain(context, judge.error());
  // A is looked at as a candidate of its own first: as B's incumbent its faults would not be told from the
  // machine's.
  JudgeRequest alone = *request;
  alone.candidate = std::move(*alone.incumbent);
  alone.incumbent.reset();
  alone.library.clear();
  alone.effort = Effort::check;
  auto first_checked = judge->judge(alone, live_progress(context));
  if (!first_checked || !first_checked->correct()) wipe_progress(context);
  if (!first_checked) return complain(context, first_checked.error());
  if (!first_checked->correct()) return refuse(options.first, *first_checked, context);
  auto verdict = judge->judge(*request, live_progress(context));
  wipe_progress(context);
  if (!verdict) return complain(context, verdict.error());
  if (!verdict->correct())
    return refuse(options.library.empty() ? options.second : options.library, *verdict, context);
  if (context.json) {
    print_json(to_json(*verdict));
    return exit_code::fine;
  }
  fmt::print("{}", describe_outcome(*verdict, Style(context.color)));
  if (!verdict->library.empty()) fmt::print("library: {}\n", printable(verdict->library));
  if (!verdict->against_incumbent) return exit_code::fine;
  print_timings(*verdict);
  const auto& comparison = *verdict->against_incumbent;
  fmt::print("{}\n{}, from {} blocks; {:.0f} % of rounds agree.\n",
             Style(context.color).bold(sentence(comparison, second_name(*verdict))),
             bound_text(comparison.bound), comparison.blocks, 100 * comparison.agreement);
  return exit_code::fine;
}

}  // namespace

void add_time(CLI::App& app, Context& context) {
  auto options = std::make_shared<TimeOptions>();
  CLI::App* command =
      app.add_subcommand("time", "Is kernel B faster than kernel A? Both checked, timed interleaved.");
  command->add_option("A", options->first, "Source file or candidate folder: what B is compared with")
      ->required();
  CLI::Option* second = command->add_option("B", options->second, "Source file or candidate folder");
  command
      ->add_option("--library", options->library,
                   "In place of B: a baseline library's own call for the problem (openblas)")
      ->excludes(second);
  add_judging_options(*command, *options);
  command->add_option("--budget", options->budget_s, "Seconds of timing at most")->capture_default_str();
  command->add_flag("--screen", options->screen, "Three blocks per shape: an estimate, no decision");
  command->footer(
      "Examples:\n  ako time naive.cpp fast.cpp --problem softmax\n"
      "  ako time a/ b/ -p matmul --shape M=512,N=512,K=512 --json\n"
      "  ako time fast.cpp --library openblas -p matmul\n"
      "Exit status: 0 answered (whoever is faster), 1 one of them is wrong, 3 bad input, 4 infrastructure.");
  command->callback([options, &context] {
    if (options->second.empty() && options->library.empty()) throw CLI::RequiredError("B or --library");
    context.exit_code = time(*options, context);
  });
}

}  // namespace ako
