// SPDX-License-Identifier: Apache-2.0
// The fourth stage on one shape: candidate and incumbent timed in interleaved blocks, on the same fresh
// inputs, every timed output looked at.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "judge/check.h"
#include "judge/decision.h"
#include "judge/release.h"
#include "judge/ring.h"

namespace ako {

/// Who is measured, and with what. Outlives its sittings.
struct Contest {
  const Problem& problem;
  const Reference& reference;
  const host::GuestOptions& options;
  const Candidate& candidate;
  host::RunGuest* candidate_guest = nullptr;
  const Candidate* incumbent = nullptr;  // null: the candidate is timed alone
  host::RunGuest* incumbent_guest = nullptr;
  ReleaseMeter& release;
  CacheEvictor& evictor;
};

class Sitting {
 public:
  /// `first_idea`: of one launch's time. Makes buffers, runs a pilot batch, settles the number of launches
  /// per batch.
  static Judged<std::unique_ptr<Sitting>> prepare(const Contest&, const Shape&, Seconds first_idea,
                                                  Bytes memory, std::uint64_t seed, Spent&);
  ~Sitting();

  /// Maps this shape's buffers into the guests; before the first block and after another shape's turn.
  Judged<void> attach();
  /// Two pairs, A B B A or B A A B, each pair on new inputs. Without incumbent: two batches of the candidate.
  /// A disturbed block leaves no samples when `discard_disturbed`.
  Judged<Block> block(bool discard_disturbed);
  /// Raw samples and their summary; the caller adds the location over blocks.
  ShapeTiming timing() const;
  /// Evidence of launches that overlap, or nothing.
  std::optional<Rejected> overlap() const;
  const Shape& shape() const;
  /// The pilot's idea of one launch of the faster side.
  Microseconds typical() const;

 private:
  struct State;
  explicit Sitting(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

/// Blind to which side was slow: only the machine's counters are looked at, never the durations' ratio.
bool disturbed(const host::BatchTime&);

}  // namespace ako
