// SPDX-License-Identifier: Apache-2.0
// The fourth and fifth stages over all shapes of a level: blocks in rounds until the answer is clear.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "judge/noise.h"
#include "judge/sitting.h"
#include "target/facts.h"

namespace ako {

struct TimedShape {
  const Shape* shape = nullptr;
  Checked checked;
};

struct TimingRequest {
  std::span<const TimedShape> shapes;
  Effort effort = Effort::decide;
  Seconds budget{20};
  std::uint64_t seed = 0;
  const TargetFacts& facts;
  const Noise& noise;
  const JudgeClient::Progress& progress;
  Seconds limit{0};  // 0: three times the budget
};

struct Timed {
  std::vector<ShapeTiming> timings;
  std::optional<Comparison> comparison;  // none without incumbent
};

Judged<Timed> time_contest(const Contest&, const TimingRequest&, Spent&, std::vector<std::string>& notes);

}  // namespace ako
