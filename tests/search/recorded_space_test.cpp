// SPDX-License-Identifier: Apache-2.0
#include "search/recorded_space.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "search/simulate.h"

namespace ako {
namespace {

constexpr const char* kSmall = R"({"results": [
  {"configuration": {"tile": 16, "mode": "a", "fixed": 1}, "invalidity": "correct",
   "objectives": ["time"], "measurements": [{"name": "power", "value": 1.0}, {"name": "time", "value": 4.0}]},
  {"configuration": {"tile": 2, "mode": "b", "fixed": 1}, "invalidity": "correct",
   "objectives": ["time"], "measurements": [{"name": "time", "value": 2.0}]},
  {"configuration": {"tile": 128, "mode": "a", "fixed": 1}, "invalidity": "compile",
   "objectives": ["time"], "measurements": []}]})";

TEST(RecordedSpace, KeepsParametersThatVaryWithNumbersInOrder) {
  auto recorded = parse_recorded_space(kSmall, "small");
  ASSERT_TRUE(recorded) << to_text(recorded.error());
  ASSERT_EQ(recorded->space.parameters.size(), 2u);
  EXPECT_EQ(recorded->space.parameters[0].name, "tile");
  EXPECT_EQ(recorded->space.parameters[0].numbers, (std::vector<double>{2, 16, 128}));
  EXPECT_EQ(recorded->space.parameters[1].values, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(recorded->space.parameters[1].numbers.empty());
}

TEST(RecordedSpace, KnowsCostsAndFailures) {
  auto recorded = parse_recorded_space(kSmall, "small");
  ASSERT_TRUE(recorded);
  EXPECT_EQ(recorded->optimum, 2.0);
  EXPECT_EQ(recorded->costs.at({1, 0}), 4.0);
  EXPECT_EQ(recorded->costs.at({2, 0}), std::nullopt);
  EXPECT_EQ(recorded->space.enumerated->size(), 3u);
}

TEST(RecordedSpace, RefusesWhatIsNotARecord) {
  for (const char* text : {"", "[]", "{}", R"({"results": 1})", R"({"results": [{}]})", R"({"results": []})",
                           R"({"results": [{"configuration": {"a": 1}, "invalidity": "compile"}]})",
                           R"({"results": [{"configuration": {"a": 1}}, {"configuration": {"b": 2}}]})"}) {
    auto recorded = parse_recorded_space(text, "bad");
    ASSERT_FALSE(recorded) << text;
    EXPECT_EQ(recorded.error().kind, ErrorKind::invalid_input);
    EXPECT_FALSE(recorded.error().advice.empty());
  }
}

TEST(RecordedSpace, RefusesADamagedGzipFile) {
  auto folder = TemporaryFolder::create("spaces");
  ASSERT_TRUE(folder);
  ASSERT_TRUE(write_file(folder->path() / "x_T4.json.gz", "\x1f\x8b\x08 nothing of the kind"));
  auto files = list_recorded_spaces(folder->path());
  ASSERT_TRUE(files);
  ASSERT_EQ(files->size(), 1u);
  auto recorded = load_recorded_space(files->front());
  ASSERT_FALSE(recorded);
  EXPECT_EQ(recorded.error().kind, ErrorKind::corrupt);
}

TEST(RecordedSpace, SaysWhenAFolderHasNone) {
  auto folder = TemporaryFolder::create("spaces");
  ASSERT_TRUE(folder);
  EXPECT_EQ(list_recorded_spaces(folder->path()).error().kind, ErrorKind::not_found);
  EXPECT_EQ(list_recorded_spaces(folder->path() / "missing").error().kind, ErrorKind::not_found);
}

TEST(Simulation, DoesNotDependOnThreads) {
  auto recorded = parse_recorded_space(kSmall, "small");
  ASSERT_TRUE(recorded);
  for (const NamedOptimizer& named : optimizers()) {
    TuningScore one = simulate(*recorded, named, 6, 1), two = simulate(*recorded, named, 6, 2);
    EXPECT_EQ(one.mean, two.mean);
    EXPECT_EQ(one.mean.back(), 1.0) << "three points are exhausted after fifty evaluations";
  }
}

/// Spaces measured on GPUs; they come with the project's data, not with its sources.
class MeasuredSpaces : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(AKO_SOURCE_DIR) / "../shared/data/autotuning_spaces";
    if (!std::filesystem::exists(folder_)) GTEST_SKIP() << "no recorded spaces at " << folder_;
  }
  std::filesystem::path folder_;
};

TEST_F(MeasuredSpaces, AreReadWhole) {
  auto recorded = load_recorded_space(folder_ / "convolution_A100_T4.json.gz");
  ASSERT_TRUE(recorded) << to_text(recorded.error());
  EXPECT_EQ(recorded->name, "convolution_A100");
  EXPECT_EQ(recorded->costs.size(), 4362u);
  EXPECT_EQ(recorded->space.parameters.size(), 7u);
  EXPECT_NEAR(recorded->optimum, 0.5536, 1e-4);
}

TEST_F(MeasuredSpaces, AreTunedBetterByTheModelThanByTheOthers) {
  auto recorded = load_recorded_space(folder_ / "convolution_MI250X_T4.json.gz");
  ASSERT_TRUE(recorded) << to_text(recorded.error());
  std::map<std::string, Fractions> mean;
  for (const NamedOptimizer& named : optimizers()) mean[named.name] = simulate(*recorded, named, 8, 2).mean;
  for (const char* other : {"random", "genetic", "iterated-local-search"}) {
    EXPECT_GT(mean["model"][0], mean[other][0]) << other << " after " << kTuningBudgets[0];
    EXPECT_GT(mean["model"][1], mean[other][1]) << other << " after " << kTuningBudgets[1];
  }
  EXPECT_GT(mean["model"][2], mean["random"][2]);
}

}  // namespace
}  // namespace ako
