// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "campaign/layout.h"
#include "fakes.h"

namespace ako::testing_fakes {

/// A campaign of fakes in a folder of its own. Time passes only when the judge is asked.
class CampaignTest : public ::testing::Test {
 protected:
  void SetUp() override {
    judge_.clock = &now_;
    judge_.kernels["naive"] = {.us = 1000};
  }

  std::filesystem::path create(const Manifest& manifest = {}) {
    auto problem = parse_problem(problem_text, "scale.yaml");
    EXPECT_TRUE(problem) << to_text(problem.error());
    auto folder = create_campaign(manifest, *problem, home_.path());
    EXPECT_TRUE(folder) << to_text(folder.error());
    return *folder;
  }

  Result<CampaignRecord> run(const std::filesystem::path& folder) { return run(folder, judge_, agent_); }
  Result<CampaignRecord> run(const std::filesystem::path& folder, Arbiter& judge, Agent& agent) {
    AKO_TRY(OwnerLock lock, OwnerLock::take(layout::lock(folder)));
    AKO_TRY(CampaignStore store, CampaignStore::open(folder, OpenMode::read_write));
    return run_engine(store, {judge,
                              agent,
                              [this] { return now_; },
                              [this](const Event& event) { events_.push_back(event.text); },
                              [this] { return stop_; },
                              {},
                              library_});
  }

  /// In memory where there is such a place: these tests make thousands of synced writes.
  static std::filesystem::path fast_folder() {
    std::error_code ignored;
    return std::filesystem::is_directory("/dev/shm", ignored) ? "/dev/shm" : std::filesystem::path();
  }

  TemporaryFolder home_ = *TemporaryFolder::create("ako-campaign-test", fast_folder());
  double now_ = 100;
  bool stop_ = false;
  FakeJudge judge_;
  FakeAgent agent_;
  std::vector<std::string> events_;
  std::function<Result<std::string>(const Problem&)> library_;  // as EngineParts::library
};

}  // namespace ako::testing_fakes
