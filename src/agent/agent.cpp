// SPDX-License-Identifier: Apache-2.0
#include "agent/agent.h"

#include <fmt/format.h>

#include "agent/search/search_agent.h"
#include "agent/tune/tune_agent.h"

namespace ako {
namespace {

struct NamedAgent {
  std::string_view name;
  std::unique_ptr<Agent> (*make)(const AgentOptions&);
};
constexpr NamedAgent kAgents[] = {
    {"search", [](const AgentOptions& options) { return make_search_agent(options); }},
    {"tune", [](const AgentOptions&) { return make_tune_agent(); }},
};

constexpr std::string_view kBuckets[] = {"K1", "K2", "K3", "K4", "W1", "W2", "W3"};
constexpr std::string_view kDecisions[] = {"BASELINE", "ACCEPTED", "ACCEPTED (trade-off)", "ROLLED BACK"};

}  // namespace

std::string_view name_of(Bucket bucket) { return kBuckets[static_cast<std::size_t>(bucket)]; }
std::string_view name_of(RoundDecision decision) { return kDecisions[static_cast<std::size_t>(decision)]; }

Result<std::unique_ptr<Agent>> make_agent(std::string_view name, const AgentOptions& options) {
  std::string known;
  for (const NamedAgent& agent : kAgents) {
    if (agent.name == name) return agent.make(options);
    known += fmt::format("{}{}", known.empty() ? "" : ", ", agent.name);
  }
  return fail(ErrorKind::invalid_input, fmt::format("there is no agent called '{}'", name),
              fmt::format("agents are: {}", known));
}

}  // namespace ako
