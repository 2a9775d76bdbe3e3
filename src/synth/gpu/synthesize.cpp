// SPDX-License-Identifier: Apache-2.0
#include "synth/gpu/synthesize.h"

#include "synth/gpu/gpu.h"
#include "synth/gpu/nest.h"

namespace ako {

bool is_gpu(const TargetFacts& target) {
  return target.id.starts_with("sm_") || target.id.starts_with("gfx");
}

}  // namespace ako

namespace ako::synth::gpu {

Candidate write_candidate(const Problem& problem, const Schedule&, const TargetFacts&, Language language,
                          const std::string& head) {
  const Program program = normalize(problem);
  Unit unit(problem, program, {.wide = false});
  std::set<TensorId> assigned;
  for (const Statement& statement : program.statements) {
    const bool first = !assigned.contains(statement.target);
    write_nest(unit, statement, {}, first);
    if (statement.kind != StatementKind::initial) assigned.insert(statement.target);
  }
  Candidate candidate;
  candidate.language = language;
  candidate.plan = unit.plan();
  candidate.sources.push_back(
      {problem.name + (language == Language::hip ? ".hip" : ".cu"), unit.source(head)});
  return candidate;
}

ScheduleSpace make_space(const Problem& problem, const TargetFacts&) {
  ScheduleSpace space;
  space.pattern = pattern_of(problem);
  space.invalid = [](const Schedule&) { return std::string(); };
  return space;
}

}  // namespace ako::synth::gpu
