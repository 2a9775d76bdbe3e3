// SPDX-License-Identifier: Apache-2.0
#include "judge/sitting.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

#include "judge/sitting_state.h"
#include "judge/suspicion.h"

namespace ako {
namespace {

constexpr std::uint64_t kSinglesEvery = 3;  // one block in three has a pair of single launches
constexpr std::uint64_t kAuditEvery =
    8;  // blocks, roughly, after which order and returns of launches are looked at

}  // namespace

bool disturbed(const host::BatchTime& time) {
  double wall_ms = std::chrono::duration<double, std::milli>(time.wall).count();
  // Steal is counted in ticks of 10 ms: one tick in a batch of a few milliseconds is a core lost for its
  // whole length.
  // A switch away costs a time slice of a few milliseconds: any is too many in a short batch.
  return time.steal_seconds > 0.02e-3 * wall_ms || time.major_faults > 0 ||
         static_cast<double>(time.involuntary_switches) > 0.1 * wall_ms;
}

/// Memory of one slot, both sides together.
Result<Bytes> Sitting::State::measure_slot() const {
  auto side = [&](const Candidate& one) -> Result<Bytes> {
    AKO_TRY(auto workspace, workspace_specs(contest.problem, shape, one));
    Bytes total = layout.slot_outputs;
    for (const auto& buffer : workspace) total += buffer.size;
    return total;
  };
  AKO_TRY(Bytes total, side(contest.candidate));
  if (contest.incumbent) {
    AKO_TRY(Bytes other, side(*contest.incumbent));
    total += other;
  }
  return total + layout.slot_inputs;
}

Judged<void> Sitting::State::create(int count) {
  slots = count;
  AKO_JUDGED(inputs, create_inputs(layout, count));
  AKO_JUDGED(candidate.buffers,
             SideBuffers::create(contest.problem, shape, contest.candidate, layout, count));
  if (!incumbent.present()) return {};
  AKO_JUDGED(incumbent.buffers,
             SideBuffers::create(contest.problem, shape, *contest.incumbent, layout, count));
  return {};
}

Judged<void> Sitting::State::attach() {
  for (Player* player : players())
    if (auto done = player->buffers->attach(*player->guest, inputs_or_null(), player->side, "time",
                                            shape.label, contest.options);
        !done)
      return std::unexpected(done.error());
  return {};
}

/// Time per launch of the second of two batches over all slots: the first touches pages.
Judged<Microseconds> Sitting::State::pilot(Player& player) {
  auto chosen = choose_slots(slots);
  Microseconds per_launch{0};
  for (int attempt = 0; attempt < 2; ++attempt) {
    auto time = run(player, chosen);
    if (!time) return std::unexpected(time.error());
    AKO_CHECK_JUDGED(contest.release.sample(slots));
    double overhead = contest.release.overhead(slots).count();
    per_launch = Microseconds(std::max(Microseconds(time->wall).count() - overhead, 0.05) / slots);
  }
  return per_launch;
}

/// `count` slots from a secret start on, in ring order.
std::vector<int> Sitting::State::choose_slots(int count) {
  auto start = static_cast<int>(random.below(static_cast<std::uint64_t>(slots)));
  std::vector<int> chosen(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) chosen[static_cast<std::size_t>(i)] = (start + i) % slots;
  return chosen;
}

void Sitting::State::freshen(std::span<const int> chosen) {
  for (int slot : chosen) fresh.refresh(inputs_or_null(), slot);
  auto order = players();
  std::shuffle(order.begin(), order.end(), random);  // whose outputs were touched last must not matter
  for (Player* player : order) {
    player->buffers->poison(chosen);
    for (int slot : chosen) fresh.load_inouts(player->buffers->outputs(), slot);
  }
}

Judged<host::BatchTime> Sitting::State::run(Player& player, std::span<const int> chosen) {
  bool sweeps_itself =
      slot_bytes.count * static_cast<std::int64_t>(chosen.size()) > contest.evictor.reach().count;
  if (!sweeps_itself) contest.evictor.sweep();
  AKO_JUDGED(auto ran, player.guest->run(chosen));
  if (auto* fault = std::get_if<host::GuestFault>(&ran))
    return std::unexpected(outcome_of(*fault, player.side, "time", shape.label, contest.options));
  return std::get<host::BatchTime>(ran);
}

/// Both sides once on the same new inputs; true when a batch was disturbed.
Judged<bool> Sitting::State::pair(bool candidate_first, int count, std::array<double, 2>& per_launch_us) {
  auto chosen = choose_slots(count);
  freshen(chosen);
  auto order = players();
  if (!candidate_first) std::reverse(order.begin(), order.end());
  bool any_disturbed = false;
  AKO_CHECK_JUDGED(contest.release.sample(count));
  double overhead = contest.release.overhead(count).count();
  for (Player* player : order) {
    auto time = run(*player, chosen);
    if (!time) return std::unexpected(time.error());
    any_disturbed |= disturbed(*time);
    double wall = Microseconds(time->wall).count();
    // The overhead is an estimate: a batch may have cost less. A hundredth of the time is kept, so that
    // logarithms exist.
    per_launch_us[static_cast<std::size_t>(player->side)] = std::max(wall - overhead, 0.01 * wall) / count;
  }
  if (auto fine = inspect(chosen); !fine) return std::unexpected(fine.error());
  return any_disturbed;
}

Sitting::Sitting(std::unique_ptr<State> state) : state_(std::move(state)) {}
Sitting::~Sitting() = default;

Judged<std::unique_ptr<Sitting>> Sitting::prepare(const Contest& contest, const Shape& shape,
                                                  Seconds first_idea, Bytes memory, std::uint64_t seed,
                                                  Spent& spent) {
  auto state = std::make_unique<State>(contest, shape, seed, spent);
  AKO_JUDGED(state->slot_bytes, state->measure_slot());
  RingLimits limits;
  limits.memory = memory;
  AKO_CHECK_JUDGED(contest.release.sample(1));
  Microseconds idea = std::max(Microseconds(first_idea) - contest.release.overhead(1), Microseconds(2));
  int slots = launches_per_batch(state->slot_bytes, idea, idea, limits);
  // The first idea is one cold launch; when the pilot finds it far too long, there are too few slots: once
  // more.
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (auto made = state->create(slots); !made) return std::unexpected(made.error());
    if (auto attached = state->attach(); !attached) return std::unexpected(attached.error());
    auto all = state->choose_slots(slots);
    state->freshen(all);
    Microseconds faster{1e12}, slower{0};
    for (Player* player : state->players()) {
      auto time = state->pilot(*player);
      if (!time) return std::unexpected(time.error());
      if (player->side == Side::candidate) state->candidate_typical = *time;
      faster = std::min(faster, *time);
      slower = std::max(slower, *time);
    }
    state->typical = faster;
    int wanted = launches_per_batch(state->slot_bytes, faster, slower, limits);
    state->launches = std::min(wanted, slots);
    if (wanted <= 2 * slots) break;
    slots = wanted;
  }
  return std::unique_ptr<Sitting>(new Sitting(std::move(state)));
}

Judged<void> Sitting::attach() { return state_->attach(); }

Judged<Block> Sitting::block(bool discard_disturbed) {
  State& s = *state_;
  bool first = s.random.below(2) == 0;
  Block block;
  std::array<std::array<double, 2>, 2> us{};
  for (std::size_t i = 0; i < 2; ++i) {
    auto disturbance = s.pair(i == 0 ? first : !first, s.launches, us[i]);
    if (!disturbance) return std::unexpected(disturbance.error());
    block.disturbed |= *disturbance;
  }
  if (block.disturbed && discard_disturbed) return block;
  if (s.until_audit-- == 0) {
    if (auto fine = s.check_order(); !fine) return std::unexpected(fine.error());
    if (auto fine = s.check_returns(); !fine) return std::unexpected(fine.error());
    s.until_audit = static_cast<int>(kAuditEvery / 2 + s.random.below(kAuditEvery));
  }
  if (s.launches > 1 && s.random.below(kSinglesEvery) == 0) {
    std::array<double, 2> single{};
    auto done = s.pair(s.random.below(2) == 0, 1, single);
    if (!done) return std::unexpected(done.error());
    for (Player* player : s.players())
      player->single_us.push_back(single[static_cast<std::size_t>(player->side)]);
  }
  for (const auto& pair : us)
    for (Player* player : s.players())
      player->batch_us.push_back(pair[static_cast<std::size_t>(player->side)]);
  if (s.incumbent.present()) block.log_ratio = 0.5 * std::log(us[0][0] * us[1][0] / (us[0][1] * us[1][1]));
  return block;
}

ShapeTiming Sitting::timing() const {
  const State& s = *state_;
  ShapeTiming timing;
  timing.shape = s.shape.label;
  timing.core = s.shape.core;
  timing.representative = s.shape.representative;
  timing.candidate_us = s.candidate.batch_us;
  timing.incumbent_us = s.incumbent.batch_us;
  timing.candidate_median_us = median(timing.candidate_us);
  timing.incumbent_median_us = median(timing.incumbent_us);
  timing.candidate_us_interval = median_interval(timing.candidate_us, 0.95);
  timing.launches_per_batch = s.launches;
  timing.overhead_us = s.contest.release.overhead(s.launches).count();
  timing.error_db = s.sampled_error_db;
  return timing;
}

std::optional<Rejected> Sitting::overlap() const {
  const State& s = *state_;
  return batch_overlap({s.candidate.single_us, median(s.candidate.batch_us)},
                       {s.incumbent.single_us, median(s.incumbent.batch_us)}, s.launches,
                       static_cast<int>(std::thread::hardware_concurrency()));
}

const Shape& Sitting::shape() const { return state_->shape; }

Microseconds Sitting::typical() const { return state_->typical; }

}  // namespace ako
