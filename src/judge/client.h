// SPDX-License-Identifier: Apache-2.0
// Talks to `ako judge`, a process of its own (docs/protocol.md). The judge holds clock, seeds and incumbents.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "judge/verdict.h"
#include "target/facts.h"

namespace ako {

enum class Level : std::uint8_t { quick, full };  // representative shapes, or all
enum class Effort : std::uint8_t {
  check,   // correctness only
  screen,  // check, then a few blocks per shape: an estimate, no decision
  decide,  // check, then blocks until the answer is clear or the budget of blocks is spent
};

struct JudgeRequest {
  std::string problem_text;  // YAML
  std::string problem_path;  // for messages and python references
  std::string shapes;        // as `--shape`, empty: the problem's
  Candidate candidate;
  std::optional<Candidate> incumbent;  // none: timed alone
  Level level = Level::quick;
  Effort effort = Effort::decide;
  bool confirm = false;     // fresh guest processes and new seeds; the caller compares with the first
  Seconds time_budget{20};  // for timing; blocks stop when it is spent and something can be said
  Seconds time_limit{0};    // after which they stop even so; 0: three times the budget
  Seconds wall_limit{0};    // of the whole judgement, kept by the client, which cancels it; 0: none
  std::uint64_t seed = 0;   // 0: secret; otherwise replays
  bool trusted_incumbent_check = false;  // check the incumbent too (first use of an outside kernel)
  /// "openblas": the candidate is a baseline library's own call for this problem, written by the judge
  /// (judge/library.h); `candidate` is not looked at. Error `unsupported`: the library has no such call, or
  /// is not installed.
  std::string library;
};

struct JudgeOptions {
  TargetId target = "host";
  std::vector<std::string> launcher;  // prefix: {"srun", …}
  int threads = 0;                    // of a host kernel; 0: all cores
  /// Of the judge: end of input ends it at once, also in the middle of a judgement. Clients of this kind
  /// always ask for it, so that a judge never outlives a client that was killed.
  bool end_with_input = false;
  /// Of the client: asked a few times a second while a judgement runs; true cancels it.
  std::function<bool()> stop;
};

class JudgeClient {
 public:
  /// Starts `ako judge` (this same program) and waits for its greeting.
  static Result<JudgeClient> start(const JudgeOptions&);
  JudgeClient(JudgeClient&&) noexcept;
  JudgeClient& operator=(JudgeClient&&) noexcept;
  ~JudgeClient();

  /// Called with "compile", "check T=8,D=64", "time T=8,D=64 block 5" … while a judgement runs.
  using Progress = std::function<void(std::string_view stage)>;
  /// Errors are the infrastructure's. A judge that died is started again once before that is said. Error
  /// `limit`: cancelled, because JudgeOptions::stop said so or the request's wall_limit was over.
  Result<Verdict> judge(const JudgeRequest&, const Progress& = {});

  const TargetFacts& facts() const;
  Trust trust() const;

 private:
  struct State;
  explicit JudgeClient(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

}  // namespace ako
