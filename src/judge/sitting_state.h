// SPDX-License-Identifier: Apache-2.0
// What a sitting holds: for sitting.cpp, which times, and sitting_checks.cpp, which looks at what was timed.
#pragma once

#include <array>

#include "judge/sitting.h"

namespace ako {

struct Player {
  Side side;
  host::RunGuest* guest;
  std::optional<SideBuffers> buffers;
  std::vector<double> batch_us, single_us;  // per launch, overhead subtracted
  bool present() const { return guest != nullptr; }
};

struct Sitting::State {
  const Contest& contest;
  const Shape& shape;
  Spent& spent;
  Layout layout;
  FreshInputs fresh;
  OutputJudge outputs;
  Random random;
  std::optional<host::SharedBuffers> inputs;
  Player candidate{Side::candidate, nullptr, {}, {}, {}}, incumbent{Side::incumbent, nullptr, {}, {}, {}};
  int slots = 0, launches = 1, pairs = 0, sampled_pair = 0, until_audit = 0;
  double sampled_error_db = 0;
  Bytes slot_bytes;
  Microseconds typical{0}, candidate_typical{0};

  State(const Contest& c, const Shape& s, std::uint64_t seed, Spent& spent_on)
      : contest(c),
        shape(s),
        spent(spent_on),
        layout(lay_out(c.problem, s)),
        fresh(c.problem, s, layout, seed),
        outputs(c.problem, s, layout, c.reference),
        random(seed, 0x74696d65) {
    candidate.guest = c.candidate_guest;
    incumbent.guest = c.incumbent_guest;
    sampled_pair =
        static_cast<int>(random.below(4));  // the launch checked against fp64 is one of the first four pairs'
    until_audit = static_cast<int>(random.below(3));  // after one of the first three blocks
  }

  host::SharedBuffers* inputs_or_null() { return inputs ? &*inputs : nullptr; }
  std::vector<Player*> players() {
    std::vector<Player*> all{&candidate};
    if (incumbent.present()) all.push_back(&incumbent);
    return all;
  }

  Result<Bytes> measure_slot() const;
  Judged<void> create(int count);
  Judged<void> attach();
  Judged<Microseconds> pilot(Player&);
  std::vector<int> choose_slots(int count);
  void freshen(std::span<const int> chosen);
  Judged<host::BatchTime> run(Player&, std::span<const int> chosen);
  Judged<void> look_over(std::span<const int> chosen);
  Judged<void> inspect(std::span<const int> chosen);
  Judged<void> compare(int slot);
  Judged<void> compare_range(const TensorBuffer&, int slot, std::int64_t begin, std::int64_t count);
  Judged<void> arbitrate(int slot);
  Judged<void> check_sampled(int slot);
  Judged<void> compare_aside(std::span<const int> chosen);
  Judged<void> check_returns();
  const TensorBuffer* telltale() const;
  struct Midway;
  Midway change_what_is_ahead(std::span<const int> chosen, const TensorBuffer& seen);
  Judged<void> check_order();
  Judged<bool> pair(bool candidate_first, int count, std::array<double, 2>& per_launch_us);
};

}  // namespace ako
