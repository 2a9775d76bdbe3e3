// SPDX-License-Identifier: Apache-2.0
// The problem `scale` as a GPU kernel, and device toolchains whose cache is a temporary folder.
#pragma once

#include <gmock/gmock.h>

#include "toolchain/candidates_fixture.h"
#include "toolchain/code_object/code_object.h"
#include "toolchain/device/device_toolchain.h"

namespace ako::testing {

inline constexpr std::string_view device_scale_source = R"(#include "ako_device.h"
using namespace ako;
AKO_KERNEL(256) scale(const float* x, float* y, float a, i64 n) {
  for (i64 i = global_x(); i < n; i += stride_x()) y[i] = a * x[i];
}
)";

inline Candidate device_candidate(Language language, std::string_view source = device_scale_source) {
  Candidate candidate;
  candidate.language = language;
  candidate.sources = {{language == Language::cuda ? "scale.cu" : "scale.hip", std::string(source)}};
  candidate.plan = default_plan(scale_problem());
  return candidate;
}

inline TargetFacts device_facts(std::string target) {
  TargetFacts facts;
  facts.id = std::move(target);
  return facts;
}

inline DeviceToolchainOptions device_options(const std::filesystem::path& cache) {
  DeviceToolchainOptions options;
  options.device_include = AKO_SOURCE_DIR "/guest/device";
  options.guest = AKO_BINARY_DIR "/bin/ako-guest-rtc";
  options.cache = cache;
  return options;
}

/// Counts what its toolchain compiles.
class DeviceTest : public ::testing::Test {
 protected:
  DeviceToolchainOptions counting_options() {
    DeviceToolchainOptions options = device_options(folder_.path() / "cache");
    options.run = [this](const Command& command, const Policy& policy) {
      ++compilations_;
      return run_confined(command, policy);
    };
    return options;
  }
  Artifact built(Toolchain& toolchain, const Candidate& candidate, const std::string& target) {
    auto result = toolchain.build(candidate, scale_problem(), device_facts(target));
    if (!result) ADD_FAILURE() << to_text(result.error());
    if (auto* failure = std::get_if<CompileFailure>(&result.value())) ADD_FAILURE() << failure->log;
    return std::get<Artifact>(result.value());
  }
  std::string refused(Toolchain& toolchain, const Candidate& candidate, const std::string& target) {
    auto result = toolchain.build(candidate, scale_problem(), device_facts(target));
    if (!result) {
      ADD_FAILURE() << to_text(result.error());
      return {};
    }
    auto* failure = std::get_if<CompileFailure>(&result.value());
    return failure ? failure->log : "it was built";
  }

  TemporaryFolder folder_ = TemporaryFolder::create("ako-test").value();
  int compilations_ = 0;
};

}  // namespace ako::testing
