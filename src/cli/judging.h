// SPDX-License-Identifier: Apache-2.0
// What `ako check` and `ako time` have in common: from files to a request, from a verdict to words.
#pragma once

#include <string>

#include "cli/cli.h"
#include "judge/client.h"

namespace ako {

struct JudgingOptions {
  std::string problem, shapes, target = "host";
  bool full = false;
  int threads = 0;
  std::uint64_t seed = 0;
  double budget_s = 20;
};

void add_judging_options(CLI::App&, JudgingOptions&);
/// The request without its candidate; `problem` is left behind for loading candidates.
Parsed<JudgeRequest> start_request(const JudgingOptions&, Problem& problem);
Result<JudgeClient> start_judge(const JudgingOptions&);
/// Shows stages on a terminal's last line, wiped when done.
JudgeClient::Progress live_progress(const Context&);
void wipe_progress(const Context&);
/// Outcome, notes and where the time went, for people.
std::string describe_outcome(const Verdict&, const Style&);
int exit_code_of(const Verdict&);

}  // namespace ako
