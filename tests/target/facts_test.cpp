// SPDX-License-Identifier: Apache-2.0
#include "target/facts.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ako {
namespace {
using nlohmann::json;

TargetFacts example() {
  TargetFacts facts;
  facts.id = "host";
  facts.device = "A processor";
  facts.compute_units = 16;
  facts.vector_bits = 256;
  facts.features = {"avx2", "fma"};
  facts.caches = {{1, kibibytes(32), 2}, {2, mebibytes(1), 2}, {3, mebibytes(32), 8}};
  facts.facts = {{"copy_bandwidth_bytes_per_s", {100e9, "measured"}},
                 {"peak_flops_f32", {1e12, "measured"}},
                 {"peak_flops_bf16", {4e12, "measured"}}};
  return facts;
}

Cost cost(double flops, double contraction, std::int64_t bytes) {
  Cost cost;
  cost.flops = flops;
  cost.contraction_flops = contraction;
  cost.compulsory = {bytes};
  return cost;
}

TEST(TargetFacts, SurviveJson) {
  TargetFacts facts = example();
  auto back = target_facts_from_json(json::parse(to_json(facts).dump()));
  ASSERT_TRUE(back);
  EXPECT_EQ(to_json(*back), to_json(facts));
  EXPECT_EQ(back->facts.at("peak_flops_f32").source, "measured");
}

TEST(TargetFacts, SurviveJsonWithNamesThatAreNotUtf8) {
  TargetFacts facts = example();
  facts.device = "\xff";
  EXPECT_NO_THROW((void)to_json(facts).dump());
}

TEST(TargetFacts, RefuseMalformedAndUnknownJson) {
  json good = to_json(example());
  for (const char* key : {"version", "id", "caches", "facts", "features"}) {
    json missing = good, wrong = good;
    missing.erase(key);
    wrong[key] = std::string(key) == "version" ? json(99) : json(true);
    EXPECT_FALSE(target_facts_from_json(missing)) << key;
    EXPECT_FALSE(target_facts_from_json(wrong)) << key;
  }
  EXPECT_FALSE(target_facts_from_json(json(3)));
}

TEST(TargetFacts, CountTheLastLevelCacheOfTheWholeDevice) {
  EXPECT_EQ(example().last_level_cache(), mebibytes(64));  // 16 cores, 8 share one of 32 MiB
  TargetFacts none;
  EXPECT_EQ(none.last_level_cache(), Bytes{0});
}

TEST(Roofline, IsTheMemorysForLittleArithmetic) {
  Roofline roof = roofline(cost(1e6, 0, 100'000'000), example(), ScalarType::f32);
  EXPECT_EQ(roof.bound, "memory");
  EXPECT_NEAR(roof.duration.count(), 1000, 1e-9);
}

TEST(Roofline, IsTheArithmeticsForMuchOfIt) {
  Roofline roof = roofline(cost(1e10, 0, 100'000'000), example(), ScalarType::f32);
  EXPECT_EQ(roof.bound, "compute");
  EXPECT_NEAR(roof.duration.count(), 10'000, 1e-6);
}

TEST(Roofline, RunsOnlyContractionsAtTheNarrowTypesPeak) {
  Roofline roof = roofline(cost(9e9, 8e9, 1), example(), ScalarType::bf16);
  EXPECT_NEAR(roof.duration.count(), 2000 + 1000, 1e-6);
}

TEST(Roofline, FallsBackToThePeakOfF32) {
  EXPECT_EQ(roofline(cost(1e10, 1e10, 1), example(), ScalarType::f16).duration,
            roofline(cost(1e10, 1e10, 1), example(), ScalarType::f32).duration);
}

TEST(Roofline, AllowsTrafficAtTheFasterOfReadingAndCopying) {
  TargetFacts facts = example();
  facts.facts["read_bandwidth_bytes_per_s"] = {200e9, "measured"};
  EXPECT_NEAR(roofline(cost(0, 0, 100'000'000), facts, ScalarType::f32).duration.count(), 500, 1e-9);
}

TEST(Roofline, IsUnknownOnADeviceThatWasNeverMeasured) {
  EXPECT_EQ(roofline(cost(1, 1, 1), TargetFacts{}, ScalarType::f32).bound, "unknown");
}

ScalarType type_of(const char* name) {
  auto problem = load_problem(std::string(AKO_SOURCE_DIR "/problems/") + name + ".yaml");
  EXPECT_TRUE(problem) << (problem ? "" : to_text(problem.error()));
  return problem ? arithmetic_type(*problem) : ScalarType::boolean;
}

TEST(ArithmeticType, IsTheOperandsOfAContraction) {
  EXPECT_EQ(type_of("matmul"), ScalarType::f32);
  EXPECT_EQ(type_of("matmul_bf16"), ScalarType::bf16);
  EXPECT_EQ(type_of("matmul_fp8_block"), ScalarType::f8e4m3);
}

TEST(ArithmeticType, IsAtLeastF32OutsideContractions) {
  EXPECT_EQ(type_of("softmax"), ScalarType::f32);
  EXPECT_EQ(type_of("rmsnorm"), ScalarType::f32);
}

}  // namespace
}  // namespace ako
