// SPDX-License-Identifier: Apache-2.0
#include "campaign/inquiry.h"

#include <fmt/format.h>

namespace ako {
namespace {

constexpr int tries = 3;

const InfrastructureError* infrastructure(const Verdict& verdict) {
  return std::get_if<InfrastructureError>(&verdict.outcome);
}

}  // namespace

bool Inquiry::stop_wanted() {
  stopped_ = stopped_ || (stop_ && stop_());
  return stopped_;
}

Result<Verdict> Inquiry::ask(const Question& question) {
  JudgeRequest request = common_;
  request.library = question.library;
  if (request.library.empty()) request.candidate = question.candidate;
  if (question.incumbent) request.incumbent = *question.incumbent;
  request.level = question.level;
  request.effort = question.effort;
  request.confirm = question.confirm;
  request.time_budget = question.time_budget;
  request.time_limit = question.limits.time;
  request.wall_limit = question.limits.wall;
  out_of_time_ = false;
  std::string prefix =
      question.label.empty() ? question.kind : fmt::format("{} {}", question.kind, question.label);
  auto progress = [&](std::string_view stage) { report_(fmt::format("{}: {}", prefix, stage)); };

  Error last{ErrorKind::unavailable, "the judge gave no answer", ""};
  for (int attempt = 1; attempt <= tries; ++attempt) {
    if (stop_wanted()) return fail(ErrorKind::limit, "stopped by the user");
    report_(attempt == 1 ? prefix : fmt::format("{}: try {} of {} ({})", prefix, attempt, tries, last.what));
    Result<Verdict> verdict = judge_.judge(request, progress);
    if (!verdict) {
      last = verdict.error();
      if (stop_wanted()) return fail(ErrorKind::limit, "stopped by the user");  // it was cancelled
      out_of_time_ = last.kind == ErrorKind::limit && question.limits.wall > Seconds(0);
      if (out_of_time_) return verdict;
      // A question that the judge cannot understand is no passing trouble.
      if (last.kind == ErrorKind::invalid_input || last.kind == ErrorKind::unsupported) return verdict;
      continue;
    }
    if (const InfrastructureError* failure = infrastructure(*verdict)) {
      last = {ErrorKind::unavailable, failure->reason, ""};
      continue;
    }
    judgements_.push_back({question.kind, question.label, *verdict});
    return verdict;
  }
  last.what =
      fmt::format("the judge failed {} times, which is not the candidate's fault: {}", tries, last.what);
  return std::unexpected(last);
}

}  // namespace ako
