// SPDX-License-Identifier: Apache-2.0
// The built-in agent: works by hypotheses on the schedule space of the problem, learns from every round,
// needs no network. docs/agents.md tells how it thinks.
#pragma once

#include <functional>
#include <memory>

#include "agent/agent.h"

namespace ako {

/// Where schedules come from and how they become source: synth, or a fake in tests.
struct ScheduleSource {
  std::function<Result<ScheduleSpace>(const Problem&, const TargetFacts&, Language)> space;
  std::function<Result<Candidate>(const Problem&, const Schedule&, const TargetFacts&, Language)> synthesize;
};
ScheduleSource synth_source();

/// What it proposes is a function of the options, the situation and the rounds closed so far: a fresh agent
/// that is told of the same rounds goes on in the same way. One agent serves one problem, target and
/// language.
std::unique_ptr<Agent> make_search_agent(const AgentOptions&, ScheduleSource source = synth_source());

}  // namespace ako
