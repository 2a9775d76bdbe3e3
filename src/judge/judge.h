// SPDX-License-Identifier: Apache-2.0
// The judge itself, inside its own process (`ako judge`). Stages, cheapest first: audit, compile, check,
// time, decide. Holds clock, seeds and warm guests; never runs candidate code in its own address space.
#pragma once

#include <memory>
#include <stop_token>

#include "judge/client.h"
#include "judge/judged.h"

namespace ako {

class Judge {
 public:
  /// Only "host" in this version. Errors: unsupported target, no compiler.
  static Result<std::unique_ptr<Judge>> create(const TargetId&, int threads);
  ~Judge();

  /// Errors: the request itself is wrong (problem does not parse, plan does not fit). Everything else is an
  /// outcome. Infrastructure failures are tried once more before they are reported. After a stop it kills its
  /// guests and compilers and returns as soon as it is out of its own arithmetic; the answer then means
  /// nothing.
  Result<Verdict> judge(const JudgeRequest&, const JudgeClient::Progress&, std::stop_token = {});

  const TargetFacts& facts() const;
  Trust trust() const;

 private:
  struct State;
  explicit Judge(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

/// The shapes of a level: representative ones (all, when none is marked), or all.
std::vector<const Shape*> shapes_of_level(const Problem&, Level);

}  // namespace ako
