// SPDX-License-Identifier: Apache-2.0
// `ako synth`: the kernel that a schedule stands for, without judging it.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/text.h"
#include "cli/cli.h"
#include "judge/device_kernels.h"
#include "judge/device_server.h"
#include "synth/schedule.h"
#include "target/gpu/facts.h"
#include "target/host/host.h"

namespace ako {
namespace {

struct SynthOptions {
  std::string problem, shapes, schedule = "start", output, target = "host";
  bool space = false;
};

/// "start", "naive", or settings that change the first guess.
Result<Schedule> wanted_schedule(const std::string& text, const ScheduleSpace& space) {
  if (text == "naive") return space.naive;
  Schedule schedule = space.start;
  if (text == "start") return schedule;
  AKO_TRY(const Schedule changes, parse_schedule(text));
  for (const auto& [name, value] : changes.knobs) schedule.knobs[name] = value;
  return schedule;
}

nlohmann::json space_json(const ScheduleSpace& space) {
  nlohmann::json knobs = nlohmann::json::array();
  for (const Knob& knob : space.knobs) {
    knobs.push_back({{"name", knob.name},
                     {"meaning", knob.meaning},
                     {"values", knob.values},
                     {"structural", knob.structural},
                     {"relieves", knob.relieves}});
  }
  return {{"pattern", name_of(space.pattern)},
          {"knobs", knobs},
          {"naive", space.naive.text()},
          {"start", space.start.text()}};
}

int print_space(const Problem& problem, const ScheduleSpace& space, const Context& context) {
  if (context.json) {
    print_json(space_json(space));
    return exit_code::fine;
  }
  fmt::print("{}: {}\n\n", Style(context.color).bold(printable(problem.name)), name_of(space.pattern));
  std::vector<std::vector<std::string>> rows{{"  knob", "values", "relieves", "meaning"}};
  for (const Knob& knob : space.knobs) {
    rows.push_back(
        {"  " + knob.name, fmt::format("{}", fmt::join(knob.values, " ")), knob.relieves, knob.meaning});
  }
  fmt::print("{}\n  naive: {}\n  start: {}\n", aligned_table(rows, {}), space.naive.text(),
             space.start.text());
  return exit_code::fine;
}

/// FILE.cpp (.cu, .hip) with its plan beside it, or a folder.
Result<void> write_candidate(const Candidate& candidate, const std::filesystem::path& path) {
  if (language_of_file(path) != candidate.language) return save_candidate(candidate, path);
  AKO_CHECK(write_file(path, candidate.sources.at(0).text));
  std::filesystem::path plan = path;
  return write_file(plan.replace_extension(".plan.yaml"), to_yaml(candidate.plan));
}

/// Of this machine's device where it has one, else of a data sheet: writing a kernel needs no device.
Result<TargetFacts> facts_of_target(const TargetId& target) {
  if (target == "host") return host::look_up();
  if (is_device_target(target)) return gpu::facts_of(target);
  return fail(ErrorKind::unsupported, "no schedules for the target '" + printable(target) + "'",
              "host, sm_90, gfx942, gfx950");
}

int synth(const SynthOptions& options, const Context& context) {
  const auto problem = problem_argument(options.problem, options.shapes);
  if (!problem) return complain(context, problem.error());
  const auto facts = facts_of_target(options.target);
  if (!facts) return complain(context, facts.error());
  const Language language =
      is_device_target(options.target) ? device_language(options.target) : Language::cpp;
  const auto space = schedule_space(*problem, *facts, language);
  if (!space) return complain(context, space.error());
  if (options.space) return print_space(*problem, *space, context);
  const auto schedule = wanted_schedule(options.schedule, *space);
  if (!schedule) return complain(context, schedule.error());
  const auto candidate = synthesize(*problem, *schedule, *facts, language);
  if (!candidate) return complain(context, candidate.error());
  if (!options.output.empty()) {
    if (auto written = write_candidate(*candidate, options.output); !written)
      return complain(context, written.error());
  }
  if (context.json) {
    nlohmann::json document = {{"schedule", schedule->text()}, {"candidate", to_json(*candidate)}};
    print_json(document);
  } else if (options.output.empty()) {
    fmt::print("{}", candidate->sources.at(0).text);
  } else {
    remark(context, fmt::format("wrote {}", printable(options.output)));
  }
  return exit_code::fine;
}

}  // namespace

void add_synth(CLI::App& app, Context& context) {
  auto options = std::make_shared<SynthOptions>();
  CLI::App* command =
      app.add_subcommand("synth", "Write the kernel that a schedule stands for, or list a problem's knobs.");
  command->add_option("problem", options->problem, "A problem file, or the name of a shipped one")
      ->required();
  command->add_option("--schedule", options->schedule,
                      "start, naive, or settings on top of start: \"threads=1 vector=8\"");
  command->add_flag("--space", options->space, "List the knobs and their values instead");
  command->add_option("--shape", options->shapes, "Other shapes than the file's: \"T=128,D=64;T=1,D=1\"");
  command
      ->add_option("--target", options->target,
                   "host, or a GPU (sm_90, gfx942, gfx950), which need not be here")
      ->capture_default_str();
  command->add_option("-o,--output", options->output,
                      "FILE.cpp, .cu or .hip (its plan goes to FILE.plan.yaml), or a folder");
  command->footer(
      "Examples:\n"
      "  ako synth softmax --space\n"
      "  ako synth softmax --schedule naive\n"
      "  ako synth matmul --schedule \"tile_m=6 tile_n=4\" -o matmul.cpp\n"
      "  ako synth softmax --target gfx942 -o softmax.hip");
  command->callback([options, &context] { context.exit_code = synth(*options, context); });
}

}  // namespace ako
