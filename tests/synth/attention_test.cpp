// SPDX-License-Identifier: Apache-2.0
// Attention in one sweep: every mask and layout that is recognized, on extents that divide nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "synth/emitted_fixture.h"

namespace ako::testing {
namespace {

Problem parsed(const std::string& name, const std::string& rest) {
  auto problem = parse_problem("problem: " + name + "\nsummary: A test.\n" + rest, name + ".yaml");
  if (!problem) {
    ADD_FAILURE() << to_text(problem.error());
    return {};
  }
  return *std::move(problem);
}

/// Random schedules, all of them tiled.
std::vector<Sample> tiled_samples(const Problem& problem, int wanted, unsigned seed) {
  std::vector<Sample> samples;
  for (Sample& sample : sample_schedules(problem, 60, seed)) {
    if (sample.label.find("algorithm=tiled") == std::string::npos) continue;
    samples.push_back(std::move(sample));
    if (static_cast<int>(samples.size()) == wanted) break;
  }
  return samples;
}

std::string checked(const Problem& problem, int samples = 3) {
  const auto tiled = tiled_samples(problem, samples, 5);
  if (tiled.empty()) return "not recognized as attention";
  return check_samples(problem, tiled);
}

const std::string with_heads =
    R"yaml(dims: {H: heads, S: queries, L: keys, E: size of a head, F: size of a value}
tensors:
  Q: {type: f32, shape: [H, S, E]}
  K: {type: f32, shape: [H, L, E]}
  V: {type: f32, shape: [H, L, F]}
  o: {type: f32, shape: [H, S, F]}
)yaml";
const std::string odd_shapes = R"yaml(
shapes: [{H: 1, S: 1, L: 1, E: 1, F: 1}, {H: 2, S: 41, L: 150, E: 19, F: 37}, {H: 1, S: 70, L: 7, E: 5, F: 3, core: true, representative: true}]
tolerance: {snr_db: 95}
)yaml";

TEST(Attention, SeesAllKeys) {
  EXPECT_EQ(checked(parsed("full", with_heads + R"yaml(math: |
  s[h, q, k] = sum(e < E: Q[h, q, e] * K[h, k, e]) * rsqrt(E)
  m[h, q]    = max(k < L: s[h, q, k])
  p[h, q, k] = exp(s[h, q, k] - m[h, q])
  z[h, q]    = sum(k < L: p[h, q, k])
  o[h, q, c] = sum(k < L: p[h, q, k] * V[h, k, c]) / z[h, q])yaml" +
                                       odd_shapes)),
            "");
}

TEST(Attention, TakesWeightsThatAreNormalizedBeforeTheyAreSummed) {
  EXPECT_EQ(checked(parsed("normalized", with_heads + R"yaml(math: |
  s[h, q, k] = sum(e < E: Q[h, q, e] * K[h, k, e]) * 0.25 + 0.1 * (k - q)
  m[h, q]    = max(k < L: s[h, q, k])
  z[h, q]    = sum(k < L: exp(s[h, q, k] - m[h, q]))
  p[h, q, k] = exp(s[h, q, k] - m[h, q]) / z[h, q]
  o[h, q, c] = sum(k < L: p[h, q, k] * V[h, k, c]))yaml" +
                                             odd_shapes)),
            "");
}

TEST(Attention, SeesKeysUpToTheQueryAndWithinAWindow) {
  EXPECT_EQ(checked(shipped("attention_causal", "H=1,S=1,E=1;H=2,S=77,E=24")), "");
  EXPECT_EQ(checked(shipped("attention_sliding_window", "H=1,S=1,E=1,W=1;H=2,S=177,E=24,W=19")), "");
}

TEST(Attention, SharesKeysAmongHeads) {
  EXPECT_EQ(checked(shipped("attention_gqa", "J=1,G=1,S=1,E=1;J=2,G=3,S=67,E=40")), "");
}

TEST(Attention, TakesLengthsFromATensorAndKeepsTheLogarithmOfTheSum) {
  EXPECT_EQ(
      checked(parsed("lengths", R"yaml(dims: {B: sequences, S: queries, H: heads, L: keys, E: size of a head}
tensors:
  Q: {type: bf16, shape: [B, S, H, E]}
  K: {type: bf16, shape: [B, L, H, E]}
  V: {type: bf16, shape: [B, L, H, E]}
  length: {type: i32, shape: [B], values: "integers(1, L + 1)"}
  o: {type: bf16, shape: [B, S, H, E]}
  lse: {type: f32, shape: [B, S, H]}
math: |
  s[b, q, h, k]   = where(k < length[b], sum(e < E: Q[b, q, h, e] * K[b, k, h, e]) * rsqrt(E), -inf)
  m[b, q, h]      = max(k < L: s[b, q, h, k])
  p[b, q, h, k]   = where(k < length[b], exp(s[b, q, h, k] - m[b, q, h]), 0)
  z[b, q, h]      = sum(k < L: p[b, q, h, k])
  o[b, q, h, e]   = sum(k < L: p[b, q, h, k] * V[b, k, h, e]) / z[b, q, h]
  lse[b, q, h]    = m[b, q, h] + log(z[b, q, h])
shapes: [{B: 3, S: 9, H: 2, L: 70, E: 20, core: true, representative: true}]
tolerance: {snr_db: 45}
)yaml")),
      "");
}

TEST(Attention, LeavesOtherSumsOfExponentialsAlone) {
  // The weights are of all keys, the total only of those before the query: no softmax.
  const Problem problem = parsed("uneven", with_heads + R"yaml(math: |
  s[h, q, k] = sum(e < E: Q[h, q, e] * K[h, k, e]) * 0.1
  m[h, q]    = max(k < L: s[h, q, k])
  p[h, q, k] = exp(s[h, q, k] - m[h, q])
  z[h, q]    = 1 + sum(k < L if k < q: p[h, q, k])
  o[h, q, c] = sum(k < L: p[h, q, k] * V[h, k, c]) / z[h, q])yaml" +
                                               odd_shapes);
  const auto space = schedule_space(problem, test_target(), Language::cpp);
  EXPECT_EQ(space->find("block_keys"), nullptr);
  EXPECT_EQ(check_samples(problem, sample_schedules(problem, 1, 1)), "");
}

TEST(Attention, NamesItsTilesInTheSource) {
  const Problem problem = shipped("attention_causal", "H=1,S=8,E=8");
  const auto space = schedule_space(problem, test_target(), Language::cpp);
  const auto candidate = synthesize(problem, space->start, test_target(), Language::cpp);
  EXPECT_THAT(candidate->sources[0].text, ::testing::HasSubstr("blocks of 128 keys"));
}

}  // namespace
}  // namespace ako::testing
