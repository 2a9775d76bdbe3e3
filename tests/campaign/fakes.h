// SPDX-License-Identifier: Apache-2.0
// A judge and an agent that answer from a table, so that the loop can be tested without compilers, clocks or
// luck.
#pragma once

#include <cmath>
#include <deque>
#include <map>
#include <set>

#include "campaign/engine.h"

namespace ako::testing_fakes {

inline constexpr std::string_view problem_text = R"(problem: scale
summary: Twice each element.
dims: {N: elements}
tensors:
  x: {type: f32, shape: [N]}
  y: {type: f32, shape: [N]}
math: |
  y[i] = 2 * x[i]
shapes:
  - {N: 64, core: true, representative: true}
  - {N: 1024, core: true}
tolerance: {snr_db: 100}
)";

inline Candidate candidate(const std::string& name) {
  Candidate made;
  made.sources = {{"scale.cpp", "// " + name + "\n"}};
  made.plan.launches = {{.kernel = "scale", .args = {"x", "y", "N"}}};
  return made;
}
/// The name given to candidate().
inline std::string name_in(const Candidate& candidate) {
  const std::string& text = candidate.sources.at(0).text;
  return text.substr(3, text.size() - 4);
}

/// What the fake judge knows of a kernel.
struct Kernel {
  double us = 100;               // on every shape
  double us_when_confirmed = 0;  // 0: the same
  Outcome outcome = Correct{};
  std::map<std::string, double> us_on = {};  // by shape label, over `us`
};

class FakeJudge : public Arbiter {
 public:
  std::map<std::string, Kernel> kernels;
  std::deque<Result<Verdict>> troubles;  // answered first, in order
  std::vector<std::string> asked;        // "kind-like text" per question
  std::function<void(const JudgeRequest&)> before;
  double seconds_per_question = 1;
  double* clock = nullptr;
  double noise = 0.01;

  FakeJudge() {
    facts_.id = "host";
    facts_.device = "a fake device";
    facts_.facts["copy_bandwidth_bytes_per_s"] = {1e9, "test"};
    facts_.facts["read_bandwidth_bytes_per_s"] = {1e9, "test"};
    facts_.facts["peak_flops_f32"] = {1e12, "test"};
  }

  Result<Verdict> judge(const JudgeRequest& request, const JudgeClient::Progress& progress) override {
    if (before) before(request);
    if (clock) *clock += seconds_per_question;
    std::string name = request.library.empty() ? name_in(request.candidate) : request.library;
    static constexpr std::string_view efforts[] = {"check", "screen", "decide"};
    asked.push_back(fmt::format("{} {}{}{}", efforts[static_cast<int>(request.effort)], name,
                                request.level == Level::full ? " full" : "",
                                request.confirm ? " confirm" : ""));
    if (progress) progress("time");
    if (!troubles.empty()) {
      Result<Verdict> trouble = std::move(troubles.front());
      troubles.pop_front();
      return trouble;
    }
    return verdict_for(request, kernels.at(name));
  }
  const TargetFacts& facts() const override { return facts_; }
  Trust trust() const override { return Trust::isolated; }

 private:
  static double time_of(const Kernel& kernel, const std::string& shape, bool confirm) {
    if (auto own = kernel.us_on.find(shape); own != kernel.us_on.end()) return own->second;
    return confirm && kernel.us_when_confirmed > 0 ? kernel.us_when_confirmed : kernel.us;
  }

  Verdict verdict_for(const JudgeRequest& request, const Kernel& kernel) {
    Verdict verdict;
    verdict.candidate = request.candidate.id();
    if (!request.library.empty()) verdict.library = request.library + " 1.0";
    verdict.problem = hash_text(request.problem_text);
    verdict.target = "host";
    verdict.outcome = kernel.outcome;
    verdict.seed = 7;
    verdict.spent.total_s = seconds_per_question;
    if (!verdict.correct()) return verdict;
    const Kernel* incumbent = request.incumbent ? &kernels.at(name_in(*request.incumbent)) : nullptr;
    if (incumbent) verdict.incumbent = request.incumbent->id();
    Comparison comparison;
    double sum = 0;
    int shapes = 0;
    for (std::string label : {"N=64", "N=1024"}) {
      if (request.level == Level::quick && label != "N=64") continue;
      ShapeTiming timing;
      timing.shape = label;
      timing.core = true;
      timing.representative = label == "N=64";
      timing.candidate_median_us = time_of(kernel, label, request.confirm);
      timing.candidate_us = {timing.candidate_median_us, timing.candidate_median_us};
      timing.candidate_us_interval = {timing.candidate_median_us * 0.99, timing.candidate_median_us * 1.01};
      if (incumbent) {
        timing.incumbent_median_us = time_of(*incumbent, label, request.confirm);
        timing.incumbent_us = {timing.incumbent_median_us, timing.incumbent_median_us};
        timing.log_ratio = std::log(timing.candidate_median_us / timing.incumbent_median_us);
        timing.log_ratio_interval = {timing.log_ratio - 0.005, timing.log_ratio + 0.005};
        if (shapes == 0 || timing.log_ratio > comparison.worst_log_ratio) {
          comparison.worst_log_ratio = timing.log_ratio;
          comparison.worst_shape = label;
        }
        comparison.core_regressed = comparison.core_regressed || timing.log_ratio > std::log(1.05);
        sum += timing.log_ratio;
      }
      ++shapes;
      verdict.timings.push_back(timing);
    }
    if (!incumbent) return verdict;
    comparison.log_ratio = sum / shapes;
    comparison.bound = {comparison.log_ratio - 0.005, comparison.log_ratio + 0.005};
    comparison.noise = noise;
    comparison.blocks = 8 * shapes;
    comparison.agreement = 1;
    comparison.clarity = request.effort == Effort::screen         ? Clarity::ambiguous
                         : comparison.bound.high < -noise         ? Clarity::faster
                         : comparison.bound.low > noise           ? Clarity::slower
                         : std::abs(comparison.log_ratio) < noise ? Clarity::same
                                                                  : Clarity::ambiguous;
    verdict.against_incumbent = comparison;
    return verdict;
  }

  TargetFacts facts_;
};

/// Proposes kernels by name, in order; "a|b|c" is a sweep. What it knows comes from learn() alone.
class FakeAgent : public Agent {
 public:
  std::vector<std::string> plan;
  std::vector<Error> troubles;  // answered first
  std::vector<int> learned;     // round numbers, in order
  Bucket bucket = Bucket::k1_kernel;
  std::vector<std::string> proposed;
  std::vector<Budget> budgets;
  std::vector<Bottleneck> bottlenecks;

  std::string name() const override { return "fake"; }
  Result<Proposal> baseline(const Problem&, const TargetFacts&, Language) override {
    return proposal("naive");
  }
  Result<Proposal> propose(const Situation& situation) override {
    budgets.push_back(situation.left);
    bottlenecks.push_back(situation.bottleneck);
    if (!troubles.empty()) {
      Error error = troubles.front();
      troubles.erase(troubles.begin());
      return std::unexpected(error);
    }
    std::size_t next = learned.empty() ? 0 : learned.size() - 1;
    if (next >= plan.size()) return fail(ErrorKind::not_found, "nothing left");
    proposed.push_back(plan[next]);
    return proposal(plan[next]);
  }
  void learn(const RoundRecord& round) override { learned.push_back(round.number); }

 private:
  Proposal proposal(const std::string& names) const {
    Proposal made;
    made.hypothesis = "It is better as " + names + ".";
    made.change = "to " + names;
    made.bucket = bucket;
    made.expected_gain = 0.1;
    std::size_t at = 0;
    while (at <= names.size()) {
      std::size_t bar = std::min(names.find('|', at), names.size());
      std::string name = names.substr(at, bar - at);
      made.sweep.push_back({name, candidate(name)});
      at = bar + 1;
    }
    made.candidate = made.sweep.front().candidate;
    if (made.sweep.size() == 1) made.sweep.clear();
    return made;
  }
};

}  // namespace ako::testing_fakes
