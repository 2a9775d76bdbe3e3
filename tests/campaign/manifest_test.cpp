// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "campaign/campaign.h"
#include "campaign/layout.h"

namespace ako {
namespace {

using ::testing::HasSubstr;

TEST(Manifest, ReadsWhatItWrites) {
  Manifest manifest;
  manifest.target_op = "softmax";
  manifest.performance_target = ">60% peak";
  manifest.target_shapes = "T=1,D=64; T=2,D=64";
  manifest.max_iterations = 7;
  manifest.created = "2026-11-21 12:30";
  manifest.problem = "dir with space/\"quoted\" – ünïcode.yaml";
  manifest.budget_seconds = 62.5;
  manifest.target_efficiency = 0.9;
  manifest.seed = 18446744073709551615u;
  manifest.git_commit = true;
  manifest.unknown["their_key"] = "[1, 2]";
  auto back = parse_manifest(to_yaml(manifest), "m.yaml");
  ASSERT_TRUE(back) << to_text(back.error());
  EXPECT_EQ(to_yaml(*back), to_yaml(manifest));
  EXPECT_EQ(back->seed, manifest.seed);
  EXPECT_EQ(back->problem, manifest.problem);
  EXPECT_EQ(back->target_shapes, manifest.target_shapes);
  EXPECT_EQ(back->created, manifest.created);
  EXPECT_EQ(back->unknown.at("their_key"), "[1, 2]");
}

TEST(Manifest, WritesThePrimusKeysInTheirOrder) {
  std::string yaml = to_yaml(Manifest{});
  std::size_t at = 0;
  for (std::string_view key :
       {"target_op", "target_backend", "target_lang", "target_gpu", "execution_mode", "project_skill",
        "performance_target", "primary_metric", "target_shapes", "kernel_source", "test_command",
        "benchmark_command", "quick_command", "representative_shapes", "git_commit", "git_branch",
        "max_iterations", "created"}) {
    std::size_t found = yaml.find(std::string(key) + ":");
    ASSERT_NE(found, std::string::npos) << key;
    EXPECT_GE(found, at) << key;
    at = found;
  }
}

TEST(Manifest, MapsProductsToTheirArchitectures) {
  for (auto [product, target] : std::map<std::string, std::string>{{"MI300X", "gfx942"},
                                                                   {"MI325X", "gfx942"},
                                                                   {"MI355X", "gfx950"},
                                                                   {"H100", "sm_90"},
                                                                   {"gfx942", "gfx942"},
                                                                   {"host", "host"}}) {
    auto manifest = parse_manifest("target_op: x\ntarget_gpu: " + product, "m.yaml");
    ASSERT_TRUE(manifest) << to_text(manifest.error());
    EXPECT_EQ(manifest->target_gpu, target);
  }
}

TEST(Manifest, DerivesTheLanguageFromTheBackend) {
  for (auto [backend, language] : std::map<std::string, std::string>{{"TRITON", "TRITON"},
                                                                     {"CK", "HIP"},
                                                                     {"hipblaslt", "HIP"},
                                                                     {"TURBO", "HIP"},
                                                                     {"FLYDSL", "FLYDSL"},
                                                                     {"CPP", "CPP"}}) {
    auto manifest = parse_manifest("target_op: x\ntarget_backend: " + backend, "m.yaml");
    ASSERT_TRUE(manifest) << to_text(manifest.error());
    EXPECT_EQ(manifest->target_lang, language);
  }
}

TEST(Manifest, ReadsListsAndNulls) {
  auto manifest = parse_manifest(
      "target_op: gemm\nmax_iterations: null\nrepresentative_shapes: [a, b]\nperformance_target: ~\n", "m");
  ASSERT_TRUE(manifest) << to_text(manifest.error());
  EXPECT_EQ(manifest->max_iterations, 0);
  EXPECT_EQ(manifest->representative_shapes, "a; b");
  EXPECT_EQ(manifest->performance_target, "");
}

TEST(Manifest, TellsEveryMistakeWithItsPlace) {
  auto manifest =
      parse_manifest("target_op: x\ntarget_backend: TRITN\nbudget_seconds: soon\nseed: -1\n", "m.yaml");
  ASSERT_FALSE(manifest);
  ASSERT_EQ(manifest.error().size(), 3u);
  std::string text = to_text(manifest.error());
  EXPECT_THAT(text, HasSubstr("m.yaml:2:17"));
  EXPECT_THAT(text, HasSubstr("did you mean TRITON?"));
  EXPECT_THAT(text, HasSubstr("m.yaml:3:"));
  EXPECT_THAT(text, HasSubstr("m.yaml:4:"));
}

TEST(Manifest, RefusesWhatIsNoManifest) {
  for (std::string_view text : {"", "[1, 2]", "a: [", "just words", "target_gpu: host", "target_op: {a: b}",
                                "? [x]\n: y", "target_op: x\ntarget_gpu: toaster",
                                "target_op: x\nmax_iterations: 1e300", "target_op: x\nexecution_mode: cloud"})
    EXPECT_FALSE(parse_manifest(text, "m.yaml")) << text;
}

TEST(Layout, NamesFoldersWithoutAwkwardLetters) {
  Manifest manifest;
  manifest.target_op = "../a b\x1b[31m/é";
  std::string name = layout::folder_name(manifest, "2026-11-21");
  EXPECT_THAT(name, ::testing::MatchesRegex("[a-z0-9_.-]+_cpp_host_20261121"));
  EXPECT_NE(name[0], '.');
}

}  // namespace
}  // namespace ako
