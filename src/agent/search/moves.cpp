// SPDX-License-Identifier: Apache-2.0
#include "agent/search/moves.h"

#include <algorithm>
#include <cmath>

#include "agent/search/features.h"
#include "agent/search/wording.h"
#include "search/domain.h"

namespace ako {
namespace {

constexpr std::size_t kWidestSweep = 6;
constexpr double kFailureCost = 0.7;  // a failed trial counts as twice the incumbent's time
constexpr double kOffTheRoof = 0.4;   // of the prior, for knobs that work on another roof than the limiting
constexpr double kUnknownRoof = 0.7;
constexpr double kDiscount = 0.35;  // of the prior, for every fruitless try of the same knob
// On the prior, by what the derived schedule says: it chose the new value, it chose the old one, or it left
// the knob where the plain nest has it.
constexpr double kTowardsDerived = 1.5, kAwayFromDerived = 0.1, kLeftAlone = 0.5;
constexpr double kTransfer = 0.7;        // of an effect seen elsewhere that is expected here
constexpr double kModelTrust = 10;       // trials after which prior and model weigh the same
constexpr double kRestartWindow = 0.35;  // in log time behind the incumbent
constexpr int kPoolDraws = 300;
constexpr std::size_t kListLimit = 4096;  // schedules that are listed rather than drawn

/// E[max(0, best − f)] of a normal f.
double expected_improvement(double best, CostModel::Prediction f) {
  if (f.deviation <= 0) return std::max(0.0, best - f.mean);
  double u = (best - f.mean) / f.deviation;
  double density = std::exp(-0.5 * u * u) * 0.3989422804014327;
  double below = 0.5 * std::erfc(-u / std::sqrt(2.0));
  return f.deviation * (u * below + density);
}

double relevance(const Knob& knob, const Bottleneck& bottleneck) {
  if (bottleneck.kind == "unknown" || bottleneck.kind.empty() || knob.relieves.empty()) return kUnknownRoof;
  bool overhead = bottleneck.kind == "launch" && knob.relieves == "overhead";
  return knob.relieves == bottleneck.kind || overhead ? 1.0 : kOffTheRoof;
}

std::vector<const Knob*> changed_knobs(const ScheduleSpace& space, const Schedule& from, const Schedule& to) {
  std::vector<const Knob*> changed;
  for (const Knob& knob : space.knobs)
    if (value_of(from, knob.name) != value_of(to, knob.name)) changed.push_back(&knob);
  return changed;
}

double leaning(const ScheduleSpace& space, const Knob& knob, const Schedule& from, const Schedule& to) {
  const std::string derived = value_of(space.start, knob.name);
  if (value_of(to, knob.name) == derived) return kTowardsDerived;
  if (value_of(from, knob.name) != derived) return 1;
  return derived == value_of(space.naive, knob.name) ? kLeftAlone : kAwayFromDerived;
}

Schedule with(Schedule schedule, const Knob& knob, const std::string& value) {
  schedule.knobs[knob.name] = value;
  return schedule;
}

}  // namespace

Planner::Planner(const Ground& ground, std::uint64_t seed)
    : ground_(ground), random_(seed, static_cast<std::uint64_t>(ground.memory.rounds())) {
  model_ = make_cost_model(feature_count(ground_.space), seed);
  for (const Trial& trial : ground_.memory.trials()) {
    if (trial.log_cost) ++working_trials_;
    model_->add(features_of(ground_.space, trial.schedule),
                trial.log_cost.value_or(ground_.incumbent_cost + kFailureCost));
  }
  observe_effects();
}

Planner::~Planner() = default;

bool Planner::usable(const Schedule& schedule) const {
  return !ground_.memory.tried(schedule) && !ground_.refused.contains(schedule) &&
         (!ground_.space.invalid || ground_.space.invalid(schedule).empty());
}

/// Untried values of one knob, nearest first.
std::vector<Schedule> Planner::variants(const Schedule& base, const Knob& knob) const {
  int place = place_of(knob, base);
  std::vector<std::pair<int, Schedule>> found;
  for (int other = 0; other < static_cast<int>(knob.values.size()); ++other) {
    Schedule next = with(base, knob, knob.values[static_cast<std::size_t>(other)]);
    if (other != place && usable(next)) found.emplace_back(std::abs(other - place), std::move(next));
  }
  std::ranges::stable_sort(found, {}, [](const auto& pair) { return pair.first; });
  std::vector<Schedule> schedules;
  for (auto& [distance, schedule] : found) schedules.push_back(std::move(schedule));
  return schedules;
}

double Planner::improvement(const Schedule& schedule) const {
  return expected_improvement(ground_.incumbent_cost, model_->predict(features_of(ground_.space, schedule)));
}

/// Every pair of trials that differ in one knob says what that knob does.
void Planner::observe_effects() {
  std::vector<std::pair<Point, double>> measured;
  for (const Trial& trial : ground_.memory.trials())
    if (auto point = point_of(ground_.space, trial.schedule); point && trial.log_cost)
      measured.emplace_back(std::move(*point), *trial.log_cost);
  for (const auto& [from, from_cost] : measured)
    for (const auto& [to, to_cost] : measured) {
      auto [a, b] = std::ranges::mismatch(from, to);
      if (a == from.end() || !std::equal(a + 1, from.end(), b + 1)) continue;
      Effect& effect = effects_[{static_cast<std::size_t>(a - from.begin()), *a, *b}];
      effect.sum += to_cost - from_cost;
      ++effect.pairs;
    }
}

/// Rounds that changed nothing of the incumbent but this knob.
int Planner::attempts(const Knob& knob) const {
  std::set<int> rounds;
  for (const Trial& trial : ground_.memory.trials()) {
    auto changed = changed_knobs(ground_.space, ground_.incumbent, trial.schedule);
    if (changed.size() == 1 && changed.front() == &knob) rounds.insert(trial.round);
  }
  return static_cast<int>(rounds.size());
}

/// What the same change did elsewhere, where that was seen; else what is known of the knob.
double Planner::knob_gain(const Knob& knob, const Schedule& from, const Schedule& to) const {
  auto index = static_cast<std::size_t>(&knob - ground_.space.knobs.data());
  auto seen = effects_.find({index, place_of(knob, from), place_of(knob, to)});
  if (seen != effects_.end()) return std::max(0.0, -kTransfer * seen->second.sum / seen->second.pairs);
  double prior = prior_gain(knob);
  if (auto told = ground_.advised.find(knob.name); told != ground_.advised.end())
    prior = (prior + told->second.saved) / (1 + told->second.times);
  return prior * relevance(knob, ground_.bottleneck) * leaning(ground_.space, knob, from, to) *
         std::pow(kDiscount, attempts(knob));
}

/// Knowledge of the knobs while little was measured, the cost model's expectation as trials add up.
double Planner::expected_gain(const Move& move, const Schedule& next) const {
  double prior = 0;
  for (const Knob* knob : changed_knobs(ground_.space, move.base, next))
    prior = std::max(prior, knob_gain(*knob, move.base, next));
  double weight = static_cast<double>(working_trials_) / (static_cast<double>(working_trials_) + kModelTrust);
  return weight * improvement(next) + (1 - weight) * std::max(0.0, prior - move.lag);
}

/// Completes a move: the variants that are expected to gain most, no more than time allows.
void Planner::add(std::vector<Move>& moves, Move move) const {
  if (move.schedules.empty()) return;
  std::vector<std::pair<double, Schedule>> ranked;
  for (Schedule& schedule : move.schedules)
    ranked.emplace_back(expected_gain(move, schedule), std::move(schedule));
  std::ranges::stable_sort(ranked, std::greater{}, [](const auto& pair) { return pair.first; });
  std::size_t widest = kWidestSweep;
  while (widest > 1 && ground_.seconds_per_round * rounds_worth(widest) > ground_.seconds_left) --widest;
  ranked.resize(std::min(ranked.size(), widest));
  move.schedules.clear();
  move.gain = ranked.front().first;
  for (auto& [gain, schedule] : ranked) move.schedules.push_back(std::move(schedule));
  move.worth = move.gain / (ground_.seconds_per_round * rounds_worth(move.schedules.size()));
  moves.push_back(std::move(move));
}

void Planner::add_derived(std::vector<Move>& moves) const {
  const Schedule& start = ground_.space.start;
  if (ground_.incumbent != ground_.space.naive || !usable(start)) return;
  Move move{Move::Kind::derived,
            ground_.incumbent,
            {start},
            changed_knobs(ground_.space, ground_.incumbent, start)};
  add(moves, std::move(move));
  moves.back().gain = std::max(moves.back().gain, 0.5);
  moves.back().worth = 1e6;  // nothing else is worth its time before this
}

/// Single changes of `base`: a structural value is a round of its own, a size knob's values are swept.
void Planner::add_single_changes(std::vector<Move>& moves, const Schedule& base, double lag) const {
  bool restart = base != ground_.incumbent;
  for (const Knob& knob : ground_.space.knobs) {
    auto schedules = variants(base, knob);
    if (!knob.structural) {
      add(moves,
          {restart ? Move::Kind::restart : Move::Kind::sweep, base, std::move(schedules), {&knob}, lag});
      continue;
    }
    for (Schedule& schedule : schedules)
      add(moves, {restart ? Move::Kind::restart : Move::Kind::structural,
                  base,
                  {std::move(schedule)},
                  {&knob},
                  lag});
  }
}

/// Pairs of knobs that were tried alone, each to a neighbouring value (any value of a structural one).
void Planner::add_combinations(std::vector<Move>& moves) const {
  const auto& knobs = ground_.space.knobs;
  auto neighbours = [&](const Knob& knob) {
    std::vector<std::string> values;
    int place = place_of(knob, ground_.incumbent);
    for (int i = 0; i < static_cast<int>(knob.values.size()); ++i)
      if (i != place && (knob.structural || std::abs(i - place) == 1))
        values.push_back(knob.values[static_cast<std::size_t>(i)]);
    return values;
  };
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    for (std::size_t j = i + 1; j < knobs.size(); ++j) {
      if (attempts(knobs[i]) == 0 || attempts(knobs[j]) == 0) continue;  // alone first
      Move move{Move::Kind::combination, ground_.incumbent, {}, {&knobs[i], &knobs[j]}};
      for (const std::string& a : neighbours(knobs[i]))
        for (const std::string& b : neighbours(knobs[j]))
          if (Schedule next = with(with(ground_.incumbent, knobs[i], a), knobs[j], b); usable(next))
            move.schedules.push_back(std::move(next));
      add(moves, std::move(move));
    }
  }
}

/// The best schedule measured that differs from the incumbent in structure and is not far behind.
void Planner::add_restarts(std::vector<Move>& moves) const {
  const Trial* base = nullptr;
  for (const Trial& trial : ground_.memory.trials()) {
    if (!trial.log_cost || *trial.log_cost > ground_.incumbent_cost + kRestartWindow) continue;
    auto changed = changed_knobs(ground_.space, ground_.incumbent, trial.schedule);
    bool structural = std::ranges::any_of(changed, [](const Knob* knob) { return knob->structural; });
    if (structural && (!base || *trial.log_cost < *base->log_cost)) base = &trial;
  }
  if (base) add_single_changes(moves, base->schedule, *base->log_cost - ground_.incumbent_cost);
}

void Planner::add_model_picks(std::vector<Move>& moves) {
  Domain domain(space_of(ground_.space), random_(), kListLimit);
  std::set<Schedule> pool;
  for (int draw = 0; draw < kPoolDraws; ++draw) {
    auto point = domain.draw_unseen(random_);
    if (!point) break;
    domain.mark_seen(*point);
    Schedule schedule = schedule_of(ground_.space, *point);
    if (usable(schedule))
      pool.insert(std::move(schedule));
    else
      --draw;
  }
  Move move{Move::Kind::model, ground_.incumbent, {pool.begin(), pool.end()}, {}};
  std::ranges::stable_sort(move.schedules, std::greater{}, [&](const Schedule& s) { return improvement(s); });
  if (move.schedules.size() > kWidestSweep) move.schedules.resize(kWidestSweep);
  add(moves, std::move(move));
}

std::vector<Move> Planner::plan() {
  std::vector<Move> moves;
  int rollbacks = ground_.memory.rollbacks_in_a_row();
  add_derived(moves);
  add_single_changes(moves, ground_.incumbent, 0);
  if (rollbacks >= 2 || moves.empty()) add_combinations(moves);
  if (rollbacks >= 3 || moves.empty()) add_restarts(moves);
  if (rollbacks >= 3 || moves.empty()) add_model_picks(moves);
  std::ranges::stable_sort(moves, std::greater{}, &Move::worth);
  return moves;
}

}  // namespace ako
