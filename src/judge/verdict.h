// SPDX-License-Identifier: Apache-2.0
// The judge's typed answer, and its JSON form (docs/protocol.md).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/hash.h"
#include "base/units.h"
#include "kernel/artifact.h"

namespace ako {

// ---- outcomes: exactly one per verdict ----
struct Correct {};
/// Where an output first went wrong, and a guess at the pattern.
struct Wrong {
  std::string shape, tensor, style;  // input style of the failing check
  std::vector<std::int64_t> index;   // of the worst element
  double expected = 0, got = 0;
  std::string metric;  // "snr 12.1 dB, needs 45"
  std::string
      pattern;  // "rows 4095…4095 (the last)", "every 64th column", "all elements", "red zone after y"
  bool when_timed = false;  // passed the check, failed on a timed launch
  double fraction = 0;      // of elements beyond tolerance
};
struct Rejected {    // audit, or evidence of cheating
  std::string rule;  // "asm-in-data", "below-roofline", "batch-overlap" …: docs/judge.md lists them
  std::string reason;
  std::string where;  // file:line, may be empty
};
struct CompileError {
  std::string log;  // the compiler's messages, file names as the candidate gave them
};
struct Crashed {
  int signal = 0;      // 0: exited by itself
  std::string reason;  // "SIGSEGV writing 1 byte after y[4095, 4095]"
  std::string shape;
};
struct TimedOut {
  std::string stage;  // compile, check, time
  Seconds limit{0};
  std::string shape;
};
struct OutOfMemory {
  Bytes limit;
  std::string shape;
};
struct InfrastructureError {  // never charged to the candidate
  std::string reason;
};
using Outcome =
    std::variant<Correct, Wrong, Rejected, CompileError, Crashed, TimedOut, OutOfMemory, InfrastructureError>;
/// "correct", "wrong", "rejected", "compile_error", "crashed", "timed_out", "out_of_memory",
/// "infrastructure_error".
std::string_view name_of(const Outcome&);
/// One line for people: "wrong: y[3, 17] is 0.25, expected 0.5 (snr 12.1 dB, needs 45) on T=8,D=1024".
std::string to_text(const Outcome&);

// ---- timings ----
struct Interval {
  double low = 0, high = 0;
};

/// Time of one launch plan on one shape; overhead of releasing the guest already subtracted.
struct ShapeTiming {
  std::string shape;  // label
  bool core = false, representative = false;
  std::vector<double> candidate_us;  // raw: one per batch, per launch
  std::vector<double> incumbent_us;  // raw, paired with candidate_us by position; empty without incumbent
  double candidate_median_us = 0;
  double incumbent_median_us = 0;
  Interval candidate_us_interval;  // distribution-free 95 % of the median
  double log_ratio = 0;            // log(candidate / incumbent), Hodges–Lehmann over blocks
  Interval log_ratio_interval;     // two-sided 98 %: its upper end is the one-sided 99 % bound
  int launches_per_batch = 1;
  double overhead_us = 0;  // of a release, measured on an empty guest
  double error_db = 0;     // snr of the checked outputs (max over doubles when exact)
};

enum class Clarity : std::uint8_t {
  faster,  // the 99 % bound is beyond the noise
  slower,
  same,       // the interval lies within ± the noise
  ambiguous,  // too volatile or too close after all blocks
};
std::string_view name_of(Clarity);

/// Aggregate over the shapes of the level: geometric mean.
struct Comparison {
  double log_ratio = 0;  // log(candidate time / incumbent time); negative is faster
  Interval bound;        // 98 % two-sided
  double noise = 0.01;   // the δ that had to be beaten
  int blocks = 0;        // summed over shapes
  double agreement = 0;  // fraction of blocks with the sign of log_ratio
  Clarity clarity = Clarity::ambiguous;
  std::string worst_shape;  // largest regression
  double worst_log_ratio = 0;
  bool core_regressed = false;  // a core shape is ≥ 5 % slower, with confidence
  bool confirmed = false;       // repeated in a fresh process with new seeds
};

/// Where the time of a verdict went.
struct Spent {
  double audit_s = 0, compile_s = 0, reference_s = 0, check_s = 0, time_s = 0, wait_s = 0, total_s = 0;
};

struct Verdict {
  Hash candidate, problem;
  std::optional<Hash> incumbent;
  TargetId target;
  Trust trust = Trust::isolated;
  Outcome outcome;
  std::vector<ShapeTiming> timings;  // empty unless timed
  std::optional<Comparison> against_incumbent;
  std::string library;     // "OpenBLAS 0.3.21, 2 threads" when the candidate is a library's; else empty
  Artifact artifact;       // as far as it got
  std::uint64_t seed = 0;  // told after the verdict; what it replays: docs/protocol.md
  Spent spent;
  std::vector<std::string> notes;  // "non-deterministic between runs", "3 blocks disturbed and repeated" …
  bool correct() const { return std::holds_alternative<Correct>(outcome); }
};

nlohmann::json to_json(const Verdict&);
Result<Verdict> verdict_from_json(const nlohmann::json&);

}  // namespace ako
