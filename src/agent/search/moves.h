// SPDX-License-Identifier: Apache-2.0
// The moves that the search agent can make from where it is, and what each is worth.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "agent/search/memory.h"
#include "base/random.h"
#include "search/optimizer.h"

namespace ako {

struct Move {
  enum class Kind : std::uint8_t {
    derived,      // the schedule derived from the machine's facts, in place of the plain nest
    structural,   // one knob that changes the algorithm's shape
    sweep,        // the values of one size knob
    combination,  // two knobs at once: what single changes could not reach
    restart,      // single changes of another good schedule than the incumbent
    model,        // where the cost model expects most, wherever that is
  } kind = Kind::structural;
  Schedule base;                    // what the schedules are changes of
  std::vector<Schedule> schedules;  // one, or a sweep's; all untried and valid
  std::vector<const Knob*> knobs;   // that change
  double lag = 0;                   // log time by which base is behind the incumbent
  double gain = 0;                  // expected saving in log time against the incumbent
  double worth = 0;                 // gain per second of judging
};

/// What changing a knob did in earlier campaigns, each time a witness that weighs as much as what is known of
/// the knob.
struct Advice {
  double saved = 0;  // log time, summed
  int times = 0;
};

/// What a plan is made from. Everything outlives the planner.
struct Ground {
  const ScheduleSpace& space;
  const Memory& memory;
  const Bottleneck& bottleneck;
  Schedule incumbent;
  double incumbent_cost = 0;  // log, relative to the baseline
  double seconds_left = 0;
  double seconds_per_round = 2;                  // of one variant
  const std::set<Schedule>& refused;             // by synth
  const std::map<std::string, Advice>& advised;  // by knob
};

class Planner {
 public:
  Planner(const Ground& ground, std::uint64_t seed);
  ~Planner();

  /// Most worth first; empty: every schedule of the space was tried. Stages open as rollbacks add up (rule
  /// R7): first single changes; after two in a row combinations; after three restarts and the model's picks.
  std::vector<Move> plan();

 private:
  bool usable(const Schedule&) const;
  std::vector<Schedule> variants(const Schedule& base, const Knob&) const;
  double expected_gain(const Move&, const Schedule& next) const;
  double improvement(const Schedule&) const;
  int attempts(const Knob&) const;
  double knob_gain(const Knob&, const Schedule& from, const Schedule& to) const;
  void observe_effects();
  void add(std::vector<Move>&, Move) const;
  void add_derived(std::vector<Move>&) const;
  void add_single_changes(std::vector<Move>&, const Schedule& base, double lag) const;
  void add_combinations(std::vector<Move>&) const;
  void add_restarts(std::vector<Move>&) const;
  void add_model_picks(std::vector<Move>&);

  Ground ground_;
  Random random_;
  std::unique_ptr<CostModel> model_;
  std::size_t working_trials_ = 0;
  struct Effect {
    double sum = 0;
    int pairs = 0;
  };
  std::map<std::tuple<std::size_t, int, int>, Effect>
      effects_;  // by knob, value's place before, value's place after
};

}  // namespace ako
