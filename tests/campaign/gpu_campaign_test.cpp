// SPDX-License-Identifier: Apache-2.0
// A campaign on a GPU, with everything real but the GPU: the search agent writes HIP kernels, which the
// device judge launches on the stand-in for a HIP library. It shows that the parts fit together; times on a
// stand-in mean nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/search/search_agent.h"
#include "base/files.h"
#include "campaign/engine.h"
#include "judge/device_judge.h"
#include "target/standin_fixture.h"

namespace ako {
namespace {

using ::testing::HasSubstr;

constexpr const char* kScale = R"yaml(problem: gpu_scale
summary: Twice each element.
dims: {N: elements}
tensors:
  x: {type: f32, shape: [N]}
  y: {type: f32, shape: [N]}
math: |
  y[i] = 2 * x[i]
shapes:
  - {N: 600, core: true, representative: true}
tolerance: {snr_db: 100}
)yaml";

class DeviceArbiter : public Arbiter {
 public:
  explicit DeviceArbiter(DeviceJudge& judge) : judge_(judge) {}
  Result<Verdict> judge(const JudgeRequest& request, const JudgeClient::Progress& progress) override {
    return judge_.judge(request, progress, {});
  }
  const TargetFacts& facts() const override { return judge_.facts(); }
  Trust trust() const override { return judge_.trust(); }

 private:
  DeviceJudge& judge_;
};

TEST(CampaignOnAGpu, WritesJudgesAndRecordsKernelsInTheGpusLanguage) {
  std::vector<std::unique_ptr<Toolchain>> toolchains;
  toolchains.push_back(std::make_unique<testing::StandinToolchain>());
  auto judge =
      DeviceJudge::create(testing::standin_driver(), testing::standin_device(), std::move(toolchains), {});
  ASSERT_TRUE(judge) << to_text(judge.error());
  auto home = TemporaryFolder::create("ako-gpu-campaign");
  auto problem = parse_problem(kScale, "gpu_scale.yaml");
  ASSERT_TRUE(problem);
  Manifest manifest;
  manifest.target_gpu = "gfx942";
  manifest.target_backend = manifest.target_lang = "HIP";
  manifest.max_iterations = 2;
  auto folder = create_campaign(manifest, *problem, home->path());
  ASSERT_TRUE(folder) << to_text(folder.error());
  auto store = CampaignStore::open(*folder, OpenMode::read_write);
  ASSERT_TRUE(store) << to_text(store.error());
  auto agent = make_search_agent({1}, synth_source());
  DeviceArbiter arbiter(**judge);
  double now = 0;
  auto record = run_engine(*store, {arbiter, *agent, [&] { return now += 0.01; }, {}, {}});
  judge->reset();
  testing::reset_standin();

  ASSERT_TRUE(record) << to_text(record.error());
  ASSERT_EQ(record->rounds.size(), 2u);
  EXPECT_EQ(record->trust, Trust::device_only);
  EXPECT_EQ(record->facts.id, "gfx942");
  const RoundRecord &baseline = record->rounds[0], &derived = record->rounds[1];
  EXPECT_EQ(baseline.decision, RoundDecision::baseline);
  for (const RoundRecord* round : {&baseline, &derived}) {
    EXPECT_EQ(round->proposal.candidate.language, Language::hip);
    EXPECT_TRUE(round->verdict.correct()) << to_text(round->verdict.outcome);
    EXPECT_EQ(round->verdict.target, "gfx942");
  }
  EXPECT_THAT(derived.proposal.hypothesis, HasSubstr("compute units"));
  EXPECT_TRUE(derived.verdict.against_incumbent.has_value());
}

}  // namespace
}  // namespace ako
