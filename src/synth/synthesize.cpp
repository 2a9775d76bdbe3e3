// SPDX-License-Identifier: Apache-2.0
#include "synth/gpu/synthesize.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "synth/gpu/gpu.h"
#include "synth/kernel_writer.h"
#include "synth/program.h"
#include "synth/schedule.h"
#include "synth/space.h"

namespace ako {

namespace {

bool for_gpu(Language language) { return language == Language::cuda || language == Language::hip; }

Result<void> check_language(Language language, const TargetFacts& target) {
  if (language == Language::cpp) return {};
  if (!for_gpu(language))
    return fail(ErrorKind::unsupported, fmt::format("no schedules are written in {} yet", name_of(language)),
                "use CPP, CUDA or HIP");
  if (is_gpu(target)) return {};
  return fail(ErrorKind::unsupported,
              fmt::format("{} is not for the target {}", name_of(language), target.id),
              "name a GPU target, such as sm_90 or gfx942");
}

ScheduleSpace space_of(const Problem& problem, const TargetFacts& target, Language language) {
  return for_gpu(language) ? synth::gpu::make_space(problem, target) : synth::make_space(problem, target);
}

/// Every knob of the space with a value: the schedule's where it says so, else the naive one's.
Result<Schedule> complete(const ScheduleSpace& space, const Schedule& schedule) {
  Schedule result = space.naive;
  for (const auto& [name, value] : schedule.knobs) {
    const Knob* knob = space.find(name);
    if (knob == nullptr) {
      std::vector<std::string> names;
      for (const Knob& known : space.knobs) names.push_back(known.name);
      const std::string_view near = closest(name, names);
      return fail(ErrorKind::invalid_input, fmt::format("this problem has no knob '{}'", name),
                  near.empty() ? fmt::format("it has {}", fmt::join(names, ", "))
                               : fmt::format("did you mean '{}'?", near));
    }
    if (std::ranges::find(knob->values, value) == knob->values.end()) {
      return fail(ErrorKind::invalid_input, fmt::format("the knob '{}' cannot be '{}'", name, value),
                  fmt::format("it takes {}", fmt::join(knob->values, ", ")));
    }
    result.knobs[name] = value;
  }
  if (const std::string reason = space.invalid(result); !reason.empty()) {
    return fail(ErrorKind::invalid_input, "the knobs do not go together: " + reason);
  }
  return result;
}

synth::Choices choices_of(const Schedule& schedule) {
  const auto text = [&](const char* name) {
    const auto found = schedule.knobs.find(name);
    return found == schedule.knobs.end() ? std::string() : found->second;
  };
  const auto number = [&](const char* name, int otherwise) {
    const std::string value = text(name);
    return value.empty() ? otherwise : std::stoi(value);
  };
  synth::Choices choices;
  choices.threads = number("threads", 1);
  choices.lanes = number("vector", 1);
  choices.unroll = number("unroll", 1);
  choices.short_polynomial = text("math") == "short";
  choices.polynomial = choices.short_polynomial || text("math") == "polynomial";
  choices.streaming = text("stores") == "streaming";
  choices.reciprocal = text("divide") == "reciprocal";
  choices.merge_passes = text("passes") == "merged";
  choices.hardware_rounding = text("rounding") == "hardware";
  choices.prefetch_row = text("prefetch") == "row";
  choices.prefetch_ahead = choices.prefetch_row || text("prefetch") == "ahead";
  choices.tiled = text("algorithm") == "tiled";
  choices.tile_m = number("tile_m", choices.tile_m);
  choices.tile_n = number("tile_n", choices.tile_n);
  choices.block_m = number("block_m", 96);
  choices.block_n = number("block_n", 1024);
  choices.block_k = number("block_k", 256);
  choices.block_q = number("block_q", 64);
  choices.block_keys = number("block_keys", 128);
  choices.split_batch = text("share") == "heads";
  choices.split_n = text("split") == "columns";
  choices.pairs = text("operands") == "pairs";
  return choices;
}

std::string indented(std::string_view text) {
  std::string result = "  ";
  for (const char c : text) {
    result += c;
    if (c == '\n') result += "  ";
  }
  while (result.ends_with(' ') || result.ends_with('\n')) result.pop_back();
  return result;
}

std::string head_comment(const Problem& problem, const ScheduleSpace& space, const Schedule& schedule) {
  std::string text = problem.name;
  if (!problem.summary.empty()) text += ": " + printable(problem.summary);
  text += "\n\n" + indented(printable(problem.math, true)) + "\n\nSchedule: " + schedule.text();
  for (const auto& [name, value] : schedule.knobs) {
    if (value == space.naive.knobs.at(name)) continue;
    text += fmt::format("\n  {} = {}: {}", name, value, space.find(name)->meaning);
  }
  if (schedule == space.naive) text += "\n  The plain nest, as the problem is written.";
  return text;
}

}  // namespace

Result<ScheduleSpace> schedule_space(const Problem& problem, const TargetFacts& target, Language language) {
  AKO_CHECK(check_language(language, target));
  return space_of(problem, target, language);
}

Result<Candidate> synthesize(const Problem& problem, const Schedule& schedule, const TargetFacts& target,
                             Language language) {
  AKO_CHECK(check_language(language, target));
  const ScheduleSpace space = space_of(problem, target, language);
  AKO_TRY(const Schedule full, complete(space, schedule));
  if (for_gpu(language))
    return synth::gpu::write_candidate(problem, full, target, language, head_comment(problem, space, full));
  const synth::Choices choices = choices_of(full);
  synth::Program program = synth::normalize(problem);
  const auto temporaries = full.knobs.find("temporaries");
  if (temporaries != full.knobs.end() && temporaries->second == "recomputed")
    synth::inline_elementwise(program, 8);
  if (temporaries != full.knobs.end() && temporaries->second == "kept") synth::keep_common(program);
  if (choices.streaming) synth::keep_written_rows(program);
  if (choices.lanes > 1) synth::flatten_elementwise(program);
  synth::Layout layout = synth::fuse(program);
  if (choices.lanes > 1) synth::leave_last_axis_to_lanes(program, layout);
  return synth::write_kernel(problem, program, layout, choices, head_comment(problem, space, full));
}

}  // namespace ako
