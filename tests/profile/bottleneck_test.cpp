// SPDX-License-Identifier: Apache-2.0
#include "profile/bottleneck.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ako {
namespace {

using ::testing::HasSubstr;

class BottleneckTest : public ::testing::Test {
 protected:
  BottleneckTest() {
    auto parsed = parse_problem(
        "problem: twice\nsummary: s\ndims: {N: elements}\n"
        "tensors:\n  x: {type: f32, shape: [N]}\n  y: {type: f32, shape: [N]}\n"
        "math: |\n  y[i] = 2 * x[i]\nshapes:\n  - {N: 1000000}\n  - {N: 1000}\ntolerance: {snr_db: 100}\n",
        "twice.yaml");
    EXPECT_TRUE(parsed) << to_text(parsed.error());
    problem_ = *parsed;
    facts_.id = "host";
    for (const char* bandwidth : {"copy_bandwidth_bytes_per_s", "read_bandwidth_bytes_per_s"})
      facts_.facts[bandwidth] = {8e9, "test"};  // the large shape moves 8 MB: its roof is 1000 us
    facts_.facts["peak_flops_f32"] = {1e12, "test"};
  }
  Bottleneck of(double large_us, double small_us = 1, double overhead_us = 0) const {
    std::vector<MeasuredShape> measured{{&problem_.shapes[0], large_us, overhead_us},
                                        {&problem_.shapes[1], small_us, 0}};
    return classify(problem_, facts_, measured);
  }
  Problem problem_;
  TargetFacts facts_;
};

TEST_F(BottleneckTest, NearTheRoofItIsThatRoof) {
  Bottleneck near = of(1250);
  EXPECT_EQ(near.kind, "memory");
  EXPECT_THAT(near.explanation, HasSubstr("80 %"));
}

TEST_F(BottleneckTest, FarBelowBothRoofsItIsLatency) { EXPECT_EQ(of(20'000).kind, "latency"); }

TEST_F(BottleneckTest, ShorterThanItsStartItIsTheLaunch) { EXPECT_EQ(of(1250, 1, 1300).kind, "launch"); }

TEST_F(BottleneckTest, EfficiencyIsTheGeometricMeanOverShapes) {
  EXPECT_NEAR(of(2000, 2).efficiency, 0.5, 0.01);
  EXPECT_NEAR(of(1000, 4).efficiency, 0.5, 0.01);
}

TEST_F(BottleneckTest, OnAMachineThatWasNeverMeasuredItIsUnknown) {
  facts_.facts.clear();
  EXPECT_EQ(of(1000).kind, "unknown");
  EXPECT_EQ(of(1000).efficiency, 0);
}

TEST_F(BottleneckTest, WithoutTimesItIsUnknown) { EXPECT_EQ(classify(problem_, facts_, {}).kind, "unknown"); }

}  // namespace
}  // namespace ako
