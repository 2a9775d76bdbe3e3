// SPDX-License-Identifier: Apache-2.0
// A small problem, candidates for it, and a toolchain whose cache is a temporary folder.
#pragma once

#include <gtest/gtest.h>

#include "base/files.h"
#include "toolchain/host/host_toolchain.h"

namespace ako::testing {

inline Problem scale_problem() {
  auto problem = parse_problem(R"(
problem: scale
dims: {N: elements}
tensors:
  x: {type: f32, shape: [N]}
  y: {type: f32, shape: [N]}
scalars:
  a: {type: f32, value: 2}
math: |
  y[n] = a * x[n]
shapes:
  - {N: 1000, core: true, representative: true}
tolerance: {snr_db: 100}
)",
                               "scale.yaml");
  if (!problem) ADD_FAILURE() << to_text(problem.error());
  return problem.value();
}

inline constexpr std::string_view scale_source = R"(
extern "C" void scale(const float* x, float* y, float a, long n) {
  for (long i = 0; i < n; ++i) y[i] = a * x[i];
}
)";

inline Candidate scale_candidate(std::string_view source = scale_source) {
  Candidate candidate;
  candidate.sources = {{"scale.cpp", std::string(source)}};
  candidate.plan = default_plan(scale_problem());
  return candidate;
}

inline TargetFacts host_facts() {
  TargetFacts facts;
  facts.id = "host";
  facts.device = "processor of the tests";
  return facts;
}

/// Runs real compilers, and counts them.
class RealToolchain : public ::testing::Test {
 protected:
  RealToolchain() {
    options_.guest_include = AKO_SOURCE_DIR "/guest/include";
    options_.cache = folder_.path() / "cache";
    options_.wall_limit = Seconds(20);
    options_.run = [this](const Command& command, const Policy& policy) {
      ++compilations_;
      command_ = command;
      return run_confined(command, policy);
    };
  }
  BuildResult build(const Candidate& candidate) {
    HostToolchain toolchain(find_compiler().value(), options_);
    auto result = toolchain.build(candidate, scale_problem(), host_facts());
    if (!result) ADD_FAILURE() << to_text(result.error());
    return result.value();
  }
  Artifact built(const Candidate& candidate) {
    BuildResult result = build(candidate);
    if (auto* failure = std::get_if<CompileFailure>(&result)) ADD_FAILURE() << failure->log;
    return std::get<Artifact>(result);
  }
  CompileFailure failed(const Candidate& candidate) {
    BuildResult result = build(candidate);
    EXPECT_TRUE(std::holds_alternative<CompileFailure>(result)) << "it compiled";
    return std::holds_alternative<CompileFailure>(result) ? std::get<CompileFailure>(result)
                                                          : CompileFailure{};
  }
  std::string log_of(std::string_view source) { return failed(scale_candidate(source)).log; }

  TemporaryFolder folder_ = TemporaryFolder::create("ako-test").value();
  HostToolchainOptions options_;
  Command command_;
  int compilations_ = 0;
};

}  // namespace ako::testing
