// SPDX-License-Identifier: Apache-2.0
#include "agent/search/search_agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "agent/search/features.h"
#include "agent/search/moves.h"
#include "agent/search/wording.h"

namespace ako {
namespace {

constexpr double kFirstGuessSeconds = 2;  // of a round, before any was timed

/// The knobs in which schedules differ from their base, with the values they take.
std::vector<KnobChange> changes_of(const Move& move, const ScheduleSpace& space) {
  std::vector<KnobChange> changes;
  for (const Knob& knob : space.knobs) {
    KnobChange change{&knob, value_of(move.base, knob.name), {}};
    for (const std::string& value : knob.values)
      if (value != change.from && std::ranges::any_of(move.schedules, [&](const Schedule& schedule) {
            return value_of(schedule, knob.name) == value;
          }))
        change.to.push_back(value);
    if (!change.to.empty()) changes.push_back(std::move(change));
  }
  return changes;
}

std::string label_of(const Schedule& schedule, const Schedule& base) {
  std::string label;
  for (const auto& [knob, value] : schedule.knobs)
    if (value != value_of(base, knob)) label += fmt::format("{}{}={}", label.empty() ? "" : " ", knob, value);
  return label;
}

std::string joined(const std::vector<KnobChange>& changes) {
  std::string text;
  for (const KnobChange& change : changes) text += (text.empty() ? "" : "; ") + change_text(change);
  return text;
}

std::string names_of(const std::vector<KnobChange>& changes) {
  std::string text;
  for (std::size_t i = 0; i < changes.size(); ++i)
    text += (i == 0 ? "" : i + 1 == changes.size() ? " and " : ", ") + changes[i].knob->name;
  return text;
}

std::string hypothesis_of(const Move& move, const std::vector<KnobChange>& changes,
                          const Situation& situation, const Schedule& incumbent) {
  std::string limits = bottleneck_text(situation.bottleneck);
  if (!limits.empty()) limits = " " + limits;
  switch (move.kind) {
    case Move::Kind::derived:
      return fmt::format(
          "The plain nest knows nothing of this machine; a schedule derived from its facts ({}) uses all "
          "of it.{}",
          machine_text(situation.target), limits);
    case Move::Kind::structural:
    case Move::Kind::sweep:
      return hypothesis_text(changes.front(), situation.bottleneck, situation.target);
    case Move::Kind::combination:
      return fmt::format("Changed alone, {} did not pay; they act on each other, and together they may.{}",
                         names_of(changes), limits);
    case Move::Kind::restart:
      return fmt::format(
          "Changes of the incumbent have stopped paying; another structure came close ({}) and may have "
          "more room. {}",
          label_of(move.base, incumbent), hypothesis_text(changes.front(), Bottleneck{}, situation.target));
    case Move::Kind::model:
      return fmt::format(
          "Changes of the incumbent have stopped paying; a regression over everything measured so far "
          "expects most from these schedules.{}",
          limits);
  }
  return {};
}

class SearchAgent final : public Agent {
 public:
  SearchAgent(const AgentOptions& options, ScheduleSource source)
      : seed_(options.seed), source_(std::move(source)) {}
  std::string name() const override { return "search"; }

  Result<Proposal> baseline(const Problem& problem, const TargetFacts& target, Language language) override {
    AKO_TRY(const ScheduleSpace* space, space_for(problem, target, language));
    AKO_TRY(Candidate candidate, source_.synthesize(problem, space->naive, target, language));
    Proposal proposal;
    proposal.hypothesis = "The plain nest, as one would write it first, is what everything is compared with.";
    proposal.change = "none";
    proposal.signal = "it is correct on every shape";
    proposal.candidate = std::move(candidate);
    proposal.tag = tag_of({&space->naive, 1});
    return proposal;
  }

  Result<Proposal> propose(const Situation& situation) override {
    AKO_TRY(const ScheduleSpace* space, space_for(situation.problem, situation.target, situation.language));
    for (const RoundRecord& round : situation.history) learn(round);
    // A refusal by synth changes what is best, so the plan is made again. Refusals are not kept from call to
    // call: a resumed agent must plan as one that never stopped.
    std::set<Schedule> refused;
    while (true) {
      std::vector<Move> moves = Planner(ground(situation, *space, refused), seed_).plan();
      if (moves.empty()) break;
      AKO_TRY(std::optional<Proposal> proposal, realize(moves.front(), situation, *space, refused));
      if (proposal) return std::move(*proposal);
    }
    return fail(ErrorKind::not_found, "every schedule of the space has been tried",
                "widen the space (a structural knob in synth), or try another agent");
  }

  void learn(const RoundRecord& round) override { memory_.learn(round); }

  /// Other problems' gains are a hint, not a measurement: they shift what is expected of a knob before it was
  /// tried here, and so the order of hypotheses. Rounds that changed several knobs at once say nothing of any
  /// one.
  void advise(std::span<const Tip> tips) override {
    advised_.clear();
    for (const Tip& tip : tips) {
      std::size_t colon = tip.change.find(": ");
      if (colon == std::string::npos || tip.change.find("; ") != std::string::npos) continue;
      Advice& advice = advised_[tip.change.substr(0, colon)];
      advice.saved += tip.accepted ? std::max(0.0, -tip.log_ratio.value_or(0)) : 0;
      ++advice.times;
    }
  }

 private:
  Result<const ScheduleSpace*> space_for(const Problem& problem, const TargetFacts& target,
                                         Language language) {
    if (!space_) {
      AKO_TRY(space_, source_.space(problem, target, language));
    }
    return &*space_;
  }

  Schedule incumbent_schedule(const Situation& situation, const ScheduleSpace& space) const {
    return memory_.schedule_of(situation.incumbent.number).value_or(space.naive);
  }

  Ground ground(const Situation& situation, const ScheduleSpace& space,
                const std::set<Schedule>& refused) const {
    int number = situation.incumbent.number;
    return {space,
            memory_,
            situation.bottleneck,
            incumbent_schedule(situation, space),
            memory_.log_cost_of(number),
            situation.left.seconds_left,
            memory_.seconds_per_round(kFirstGuessSeconds),
            refused,
            advised_};
  }

  /// Source for a move's schedules; nullopt when synth refused one, or one was nothing new: `refused` has
  /// grown.
  Result<std::optional<Proposal>> realize(const Move& move, const Situation& situation,
                                          const ScheduleSpace& space, std::set<Schedule>& refused) const {
    Proposal proposal;
    std::size_t before = refused.size();
    for (const Schedule& schedule : move.schedules) {
      auto candidate = source_.synthesize(situation.problem, schedule, situation.target, situation.language);
      if (!candidate && candidate.error().kind != ErrorKind::invalid_input &&
          candidate.error().kind != ErrorKind::unsupported)
        return std::unexpected(candidate.error());
      if (!candidate || is_known(*candidate, proposal))
        refused.insert(schedule);
      else
        proposal.sweep.push_back({label_of(schedule, move.base), std::move(*candidate)});
    }
    if (refused.size() > before) return std::nullopt;
    describe(move, situation, space, proposal);
    return proposal;
  }

  bool is_known(const Candidate& candidate, const Proposal& proposal) const {
    return memory_.tried(candidate.id()) ||
           std::ranges::any_of(proposal.sweep, [&](const Variant& v) { return v.candidate == candidate; });
  }

  void describe(const Move& move, const Situation& situation, const ScheduleSpace& space,
                Proposal& proposal) const {
    Schedule incumbent = incumbent_schedule(situation, space);
    std::vector<KnobChange> changes = changes_of(move, space);
    proposal.expected_gain = std::clamp(1 - std::exp(-move.gain), 0.0, 0.95);
    proposal.candidate = proposal.sweep.front().candidate;
    proposal.tag = tag_of(move.schedules);
    proposal.hypothesis = hypothesis_of(move, changes, situation, incumbent);
    proposal.change = joined(changes);
    if (move.kind == Move::Kind::model)
      proposal.change =
          fmt::format("{} → {} of the cost model's choice", incumbent.text(), move.schedules.size());
    if (move.kind == Move::Kind::restart)
      proposal.change = fmt::format("from {}: {}", label_of(move.base, incumbent), proposal.change);
    if (!changes.empty()) {
      proposal.bucket = bucket_of(*changes.front().knob);
      proposal.signal = signal_text(*changes.front().knob, proposal.expected_gain);
    }
    if (proposal.sweep.size() == 1) proposal.sweep.clear();
  }

  std::uint64_t seed_;
  ScheduleSource source_;
  std::optional<ScheduleSpace> space_;
  Memory memory_;
  std::map<std::string, Advice> advised_;  // by knob
};

}  // namespace

ScheduleSource synth_source() {
  return {[](const Problem& problem, const TargetFacts& target, Language language) {
            return schedule_space(problem, target, language);
          },
          [](const Problem& problem, const Schedule& schedule, const TargetFacts& target, Language language) {
            return synthesize(problem, schedule, target, language);
          }};
}

std::unique_ptr<Agent> make_search_agent(const AgentOptions& options, ScheduleSource source) {
  return std::make_unique<SearchAgent>(options, std::move(source));
}

}  // namespace ako
