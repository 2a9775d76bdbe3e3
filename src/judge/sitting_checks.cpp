// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "judge/sitting_state.h"

namespace ako {
namespace {

constexpr std::int64_t kCompareAll = 4 << 20;     // bytes of an output that are compared whole
constexpr std::int64_t kComparePart = 8;          // of larger ones, every eighth part at least
constexpr std::int64_t kCompareGrain = 64 << 10;  // elements of one secret chunk
// Reference operations that a candidate without incumbent may cost per shape: 0.1 s.
constexpr double kAloneWork = 1e8;
constexpr int kMoments = 4;  // drawn at most, to meet a batch in progress
constexpr int kAccusations = 2;

}  // namespace

Judged<void> Sitting::State::compare_range(const TensorBuffer& tensor, int slot, std::int64_t begin,
                                           std::int64_t count) {
  auto bounds = between_two(
      bounds_for(contest.problem, contest.problem.tensor(tensor.tensor), InputStyle::declared, 0));
  bounds.declared_rms =
      outputs.declared_rms(tensor.tensor);  // a quiet part is held against the whole's scale
  auto check = compare_outputs(tensor.type, bounds, incumbent.buffers->outputs().bytes(slot, tensor.buffer),
                               candidate.buffers->outputs().bytes(slot, tensor.buffer), begin, count);
  return check.ok ? Judged<void>{} : arbitrate(slot);
}

/// Candidate and incumbent disagree: fp64 says who is wrong.
Judged<void> Sitting::State::arbitrate(int slot) {
  auto storage = fresh.storage(inputs_or_null(), slot);
  auto mine = outputs.judge(InputStyle::declared, storage, candidate.buffers->outputs(), slot, true, spent);
  if (!mine) return std::unexpected(mine.error());
  auto theirs = outputs.judge(InputStyle::declared, storage, incumbent.buffers->outputs(), slot, true, spent);
  if (!theirs)
    return std::unexpected(
        Outcome(InfrastructureError{"the incumbent's timed output is wrong: " + to_text(theirs.error())}));
  return {};  // a part can be noisier than the whole: both are right
}

Judged<void> Sitting::State::compare(int slot) {
  for (const auto& tensor : layout.tensors) {
    if (tensor.role == TensorRole::input || tensor.count == 0) continue;
    if (tensor.size.count <= kCompareAll) {
      if (auto same = compare_range(tensor, slot, 0, tensor.count); !same) return same;
      continue;
    }
    std::int64_t chunks = (tensor.count + kCompareGrain - 1) / kCompareGrain;
    for (std::int64_t i = 0; i < std::max<std::int64_t>(1, (chunks + kComparePart - 1) / kComparePart); ++i) {
      auto begin =
          static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(chunks))) * kCompareGrain;
      if (auto same = compare_range(tensor, slot, begin, std::min(kCompareGrain, tensor.count - begin));
          !same)
        return same;
    }
  }
  return {};
}

Judged<void> Sitting::State::check_sampled(int slot) {
  auto finding = outputs.judge(InputStyle::declared, fresh.storage(inputs_or_null(), slot),
                               candidate.buffers->outputs(), slot, true, spent);
  if (!finding) return std::unexpected(finding.error());
  sampled_error_db = finding->error_db;
  return {};
}

/// What the candidate made of `chosen` outside a pair: beside the incumbent's answers, or one launch in full.
Judged<void> Sitting::State::compare_aside(std::span<const int> chosen) {
  if (incumbent.present())
    if (auto other = run(incumbent, chosen); !other) return std::unexpected(other.error());
  if (auto fine = look_over(chosen); !fine) return fine;
  return incumbent.present() ? Judged<void>{} : check_sampled(chosen[random.below(chosen.size())]);
}

/// A launch that has returned is over: a batch during which buffers are taken away as launches return. Work
/// left to another thread, done before the batch's end, shows in no output and in no time.
Judged<void> Sitting::State::check_returns() {
  auto chosen = choose_slots(launches);
  freshen(chosen);
  AKO_JUDGED(auto ran, candidate.guest->run_withdrawing(chosen));
  if (auto* fault = std::get_if<host::GuestFault>(&ran))
    return std::unexpected(outcome_of(*fault, Side::candidate, "time", shape.label, contest.options));
  if (auto fine = compare_aside(chosen); !fine) return fine;
  return candidate.buffers->attach(*candidate.guest, inputs_or_null(), Side::candidate, "time", shape.label,
                                   contest.options);
}

/// The output by which a launch is seen to have begun: one that poison cannot be a right answer of.
const TensorBuffer* Sitting::State::telltale() const {
  for (const auto& tensor : layout.tensors)
    if (tensor.role == TensorRole::output && tensor.count > 0 && class_of(tensor.type) == NumberClass::real &&
        storage_bits(tensor.type) >= 16)
      return &tensor;
  return nullptr;
}

/// What was seen in the middle of a batch.
struct Sitting::State::Midway {
  bool seen = false;           // some launches had not begun yet
  bool in_order = true;        // no launch had written that stands behind one that had not
  int ended = -1;              // slot of a launch that must have ended, since the one behind it had begun
  std::vector<std::byte> its;  // output then
};

/// Of a batch in progress: other inputs for the launches that have not begun. Launches come one after
/// another, so at most one after the last that has written can be at work; what follows that one has no right
/// to know its inputs.
Sitting::State::Midway Sitting::State::change_what_is_ahead(std::span<const int> chosen,
                                                            const TensorBuffer& seen) {
  auto begun = [&](int slot) {
    auto bytes = candidate.buffers->outputs().bytes(slot, seen.buffer);
    return std::ranges::any_of(bytes, [](std::byte b) { return b != std::byte{0xFF}; });
  };
  auto untouched = std::ranges::find_if_not(chosen, begun);
  if (std::any_of(untouched, chosen.end(), begun))
    return {.seen = true, .in_order = false, .ended = -1, .its = {}};
  for (auto slot = untouched; slot != chosen.end(); ++slot) {
    if (slot == untouched) continue;
    fresh.refresh(inputs_or_null(), *slot);
    for (Player* player : players()) fresh.load_inouts(player->buffers->outputs(), *slot);
  }
  bool some = untouched != chosen.end();
  if (untouched - chosen.begin() < 2) return {.seen = some, .in_order = true, .ended = -1, .its = {}};
  int ended = *(untouched - 2);
  auto its = candidate.buffers->outputs().bytes(ended, seen.buffer);
  return {.seen = some, .in_order = true, .ended = ended, .its = {its.begin(), its.end()}};
}

/// A launch begins when the one before it has ended: a batch during which, at a secret moment, the inputs of
/// all launches to come are changed. Who has looked ahead, to compute several at once, answers what is not
/// asked any more.
Judged<void> Sitting::State::check_order() {
  const auto* seen = telltale();
  if (!seen || launches < 4) return {};
  // How long the batch will take is a guess: a moment that came after its end is drawn again, from less.
  double reach_us = launches * candidate_typical.count();
  Midway midway;
  int accusations = 0;
  for (int attempt = 0; attempt < kMoments && !midway.seen; ++attempt) {
    auto chosen = choose_slots(launches);
    freshen(chosen);
    Microseconds after(random.unit() * reach_us);
    AKO_JUDGED(auto ran, candidate.guest->run_interrupted(
                             chosen, std::chrono::duration_cast<std::chrono::nanoseconds>(after),
                             [&] { midway = change_what_is_ahead(chosen, *seen); }));
    if (auto* fault = std::get_if<host::GuestFault>(&ran))
      return std::unexpected(outcome_of(*fault, Side::candidate, "time", shape.label, contest.options));
    bool overlap = !midway.in_order;
    if (midway.ended >= 0)
      overlap |=
          !std::ranges::equal(candidate.buffers->outputs().bytes(midway.ended, seen->buffer), midway.its);
    // One sight can be the machine's doing; a kernel that does it is seen again.
    if (overlap && ++accusations < kAccusations) {
      midway = {};
      continue;
    }
    if (overlap)
      return std::unexpected(Outcome(Rejected{
          "batch-overlap",
          "a launch was writing its output while the one before it still did: launches of a batch overlap",
          ""}));
    if (midway.seen)
      if (auto fine = compare_aside(chosen); !fine) return fine;
    reach_us /= 2;
  }
  return {};
}

/// Every launch's surroundings, and its outputs beside the incumbent's.
Judged<void> Sitting::State::look_over(std::span<const int> chosen) {
  for (int slot : chosen) {
    if (auto words = candidate.buffers->damage(slot)) {
      Wrong wrong;
      wrong.shape = shape.label;
      wrong.tensor = "memory outside the buffers was changed";
      wrong.pattern = "red zone: " + *words;
      wrong.when_timed = true;
      return std::unexpected(Outcome(std::move(wrong)));
    }
    if (incumbent.present())
      if (auto same = compare(slot); !same) return same;
  }
  return {};
}

/// Looks at what the launches of a pair left behind. With an incumbent every launch is compared, and one of
/// all is held against fp64 in full. Alone, every pair has a launch that is, as long as that is cheap; two
/// pairs in any case.
Judged<void> Sitting::State::inspect(std::span<const int> chosen) {
  if (auto fine = look_over(chosen); !fine) return fine;
  bool sampled = pairs == sampled_pair;
  if (!incumbent.present())
    sampled |= pairs == sampled_pair + 1 || pairs * reference_work(contest.problem, shape) < kAloneWork;
  ++pairs;
  return sampled ? check_sampled(chosen[random.below(chosen.size())]) : Judged<void>{};
}

}  // namespace ako
