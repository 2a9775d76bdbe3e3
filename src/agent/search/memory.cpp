// SPDX-License-Identifier: Apache-2.0
#include "agent/search/memory.h"

#include <algorithm>
#include <cmath>

namespace ako {
namespace {

bool is_infrastructure(const Outcome& outcome) {
  return std::holds_alternative<InfrastructureError>(outcome);
}

/// The round's own cost, from the comparison with its parent where there is one.
std::optional<double> log_cost_from(const Verdict& verdict, double score, double parent_cost) {
  if (!verdict.correct()) return std::nullopt;
  if (verdict.against_incumbent) return parent_cost + verdict.against_incumbent->log_ratio;
  return score > 0 ? -std::log(score) : parent_cost;
}

const Schedule* winner_among(const RoundRecord& round, std::span<const Schedule> schedules) {
  const auto& sweep = round.proposal.sweep;
  for (std::size_t i = 0; i < sweep.size() && i < schedules.size(); ++i)
    if (sweep[i].candidate.id() == round.verdict.candidate) return &schedules[i];
  return schedules.empty() ? nullptr : &schedules.front();
}

}  // namespace

std::string tag_of(std::span<const Schedule> schedules) {
  std::string tag;
  for (const Schedule& schedule : schedules) tag += (tag.empty() ? "" : "\n") + schedule.text();
  return tag;
}

std::vector<Schedule> schedules_of_tag(std::string_view tag) {
  std::vector<Schedule> schedules;
  while (!tag.empty()) {
    auto end = std::min(tag.find('\n'), tag.size());
    auto schedule = parse_schedule(tag.substr(0, end));
    if (!schedule) return {};
    schedules.push_back(std::move(*schedule));
    tag.remove_prefix(std::min(end + 1, tag.size()));
  }
  return schedules;
}

void Memory::learn(const RoundRecord& round) {
  if (rounds_.contains(round.number)) return;
  double parent_cost = log_cost_of(round.parent);
  std::vector<Schedule> schedules = schedules_of_tag(round.proposal.tag);
  Closed closed{std::nullopt, parent_cost};
  if (auto cost = log_cost_from(round.verdict, round.score, parent_cost)) closed.log_cost = *cost;
  if (const Schedule* winner = winner_among(round, schedules)) closed.schedule = *winner;
  learn_sweep(round, schedules, parent_cost);
  if (closed.schedule && !is_infrastructure(round.verdict.outcome))
    add(*closed.schedule, round.verdict.candidate, log_cost_from(round.verdict, round.score, parent_cost),
        round.number);
  rounds_.emplace(round.number, std::move(closed));
  rollbacks_ = round.decision == RoundDecision::rolled_back ? rollbacks_ + 1 : 0;
  if (round.decision != RoundDecision::baseline)
    seconds_.push_back(round.seconds / rounds_worth(std::max<std::size_t>(1, round.sweep.size())));
}

/// A variant that was never screened (the budget ended, or the judge was down) counts as untried.
void Memory::learn_sweep(const RoundRecord& round, std::span<const Schedule> schedules, double parent_cost) {
  for (const SweepResult& result : round.sweep) {
    const auto& variants = round.proposal.sweep;
    auto variant = std::ranges::find(variants, result.label, &Variant::label);
    auto index = static_cast<std::size_t>(variant - variants.begin());
    if (index >= schedules.size() || variant == variants.end() || result.outcome == "infrastructure_error")
      continue;
    std::optional<double> cost;
    if (result.outcome == "correct") cost = parent_cost + result.log_ratio;
    add(schedules[index], result.candidate, cost, round.number);
  }
}

void Memory::add(const Schedule& schedule, const Hash& candidate, std::optional<double> log_cost, int round) {
  candidates_.insert(candidate);
  if (tried_.insert(schedule).second) {
    trials_.push_back({schedule, log_cost, round});
    return;
  }
  auto trial = std::ranges::find(trials_, schedule, &Trial::schedule);
  *trial = {schedule, log_cost, round};  // the later measurement is the longer one
}

std::optional<Schedule> Memory::schedule_of(int round) const {
  auto found = rounds_.find(round);
  return found == rounds_.end() ? std::nullopt : found->second.schedule;
}

double Memory::log_cost_of(int round) const {
  auto found = rounds_.find(round);
  return found == rounds_.end() ? 0 : found->second.log_cost;
}

double Memory::seconds_per_round(double otherwise) const {
  if (seconds_.empty()) return otherwise;
  std::vector<double> sorted = seconds_;
  std::ranges::nth_element(sorted, sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2));
  return sorted[sorted.size() / 2];
}

}  // namespace ako
