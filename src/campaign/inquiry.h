// SPDX-License-Identifier: Apache-2.0
// The judge as a campaign asks it: infrastructure failures are retried and never charged to a candidate, a
// user who wants to stop is heard between questions, and every answer is kept for the records.
#pragma once

#include <functional>
#include <utility>

#include "campaign/budget.h"
#include "campaign/engine.h"
#include "campaign/records.h"

namespace ako {

class Inquiry {
 public:
  using Report = std::function<void(std::string_view stage)>;
  /// `common` holds what all questions share: problem, shapes.
  Inquiry(Arbiter& judge, JudgeRequest common, const std::function<bool()>& stop, Report report)
      : judge_(judge), common_(std::move(common)), stop_(stop), report_(std::move(report)) {}

  struct Question {
    std::string kind;   // as Judgement::kind
    std::string label;  // of a variant
    const Candidate& candidate;
    const Candidate* incumbent = nullptr;
    Level level = Level::quick;
    Effort effort = Effort::decide;
    bool confirm = false;
    Seconds time_budget{20};
    Limits limits = {};
    std::string library = {};  // as JudgeRequest::library: in place of the candidate
  };
  /// Error with out_of_time(): the judgement was given up at its wall limit.
  /// Never an InfrastructureError outcome: those become an Error after three tries. Error `stopped()`: the
  /// user's wish.
  Result<Verdict> ask(const Question&);

  bool stopped() const { return stopped_; }
  bool out_of_time() const { return out_of_time_; }
  std::vector<Judgement> take_judgements() { return std::exchange(judgements_, {}); }

 private:
  bool stop_wanted();

  Arbiter& judge_;
  JudgeRequest common_;
  const std::function<bool()>& stop_;
  Report report_;
  std::vector<Judgement> judgements_;
  bool stopped_ = false, out_of_time_ = false;
};

}  // namespace ako
