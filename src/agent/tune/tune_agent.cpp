// SPDX-License-Identifier: Apache-2.0
// Theory. Coordinate descent: each round is a sweep over one tunable's values, all others as in the
// incumbent. A tunable is swept again when the incumbent has changed since; when no sweep has anything new,
// the optimum along every axis is reached.
#include "agent/tune/tune_agent.h"

#include <fmt/format.h>

#include <set>

namespace ako {
namespace {

class TuneAgent final : public Agent {
 public:
  std::string name() const override { return "tune"; }

  Result<Proposal> baseline(const Problem& problem, const TargetFacts&, Language) override {
    return fail(ErrorKind::unsupported, fmt::format("the agent 'tune' writes no kernel for {}", problem.name),
                "give the kernel to tune: --baseline FILE");
  }

  Result<Proposal> propose(const Situation& situation) override {
    for (const RoundRecord& round : situation.history) learn(round);
    const Candidate& incumbent = situation.incumbent.proposal.candidate;
    std::vector<std::string> names;
    for (const auto& [name, values] : incumbent.plan.tunables) names.push_back(name);
    for (std::size_t i = 0; i < names.size(); ++i) {
      Proposal proposal = sweep_of(names[(next_ + i) % names.size()], incumbent, situation.problem);
      if (proposal.sweep.empty()) continue;
      next_ = (next_ + i + 1) % names.size();
      proposal.candidate = proposal.sweep.front().candidate;
      if (proposal.sweep.size() == 1) proposal.sweep.clear();
      return proposal;
    }
    return fail(ErrorKind::not_found,
                names.empty() ? "the kernel's plan lists no tunables" : "every value was tried",
                "list values in the plan: `tunables: {BLOCK: [128, 256, 512]}`, or try another agent");
  }

  void learn(const RoundRecord& round) override {
    tried_.insert(round.verdict.candidate);
    for (const SweepResult& result : round.sweep) tried_.insert(result.candidate);
  }

 private:
  /// The incumbent with every other value of one tunable that was not tried and that its plan allows.
  Proposal sweep_of(const std::string& tunable, const Candidate& incumbent, const Problem& problem) const {
    Proposal proposal;
    std::int64_t now = tunables_in_force(incumbent.plan, incumbent.tunables).at(tunable);
    std::string values;
    for (std::int64_t value : incumbent.plan.tunables.at(tunable)) {
      Candidate next = incumbent;
      next.tunables[tunable] = value;
      if (value == now || tried_.contains(next.id()) || !check_plan(next.plan, problem, next.tunables))
        continue;
      proposal.sweep.push_back({fmt::format("{}={}", tunable, value), std::move(next)});
      values += fmt::format("{}{}", values.empty() ? "" : ", ", value);
    }
    proposal.hypothesis = fmt::format(
        "{} = {} was a guess; another of the values its author lists may suit this machine better.", tunable,
        now);
    proposal.change = fmt::format("{}: {} → {}", tunable, now, values);
    proposal.signal = fmt::format("a variant is faster than {} = {}", tunable, now);
    proposal.expected_gain = 0.1;
    return proposal;
  }

  std::set<Hash> tried_;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Agent> make_tune_agent() { return std::make_unique<TuneAgent>(); }

}  // namespace ako
