// SPDX-License-Identifier: Apache-2.0
// The pure parts of audit, check planning, ring and suspicion.
#include <gtest/gtest.h>

#include "judge/audit.h"
#include "judge/check.h"
#include "judge/noise.h"
#include "judge/ring.h"
#include "judge/sitting.h"
#include "judge/suspicion.h"

namespace ako {
namespace {

std::optional<Rejected> audit(const std::string& text) { return audit_sources({{"a.cpp", text}}); }

TEST(CppTokens, KnowsCommentsLiteralsAndLines) {
  auto tokens = cpp_tokens("a // b \\\n still c\n/* d\n */ \"e \\\" f\" R\"x(g \")\" h)x\" 1'000 'i' j\\\nk");
  std::vector<std::pair<std::string, int>> seen;
  for (const auto& token : tokens) seen.emplace_back(token.text, token.line);
  EXPECT_EQ(seen, (std::vector<std::pair<std::string, int>>{
                      {"a", 1}, {"e \\\" f", 4}, {"g \")\" h", 4}, {"i", 4}, {"jk", 4}}));
}

TEST(CppTokens, NeverReadsPastAnUnfinishedEnd) {
  for (const char* text : {"\"abc", "R\"x(", "/*", "//", "'", "\\", "#", "R\"", "1'", "\"\\"})
    (void)cpp_tokens(text);
}

TEST(Audit, SaysFileAndLine) {
  auto found = audit("\n\nvoid f() { clock_gettime(0, 0); }");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rule, "clock");
  EXPECT_EQ(found->where, "a.cpp:3");
}

TEST(Audit, LeavesCommentsStringsAndMembersAlone) {
  EXPECT_FALSE(audit("// dlopen(\"x\")\nconst char* s = \"fopen(\"; int g(A a) { return a.prctl(1); }"));
  EXPECT_FALSE(audit("float signal(float x); float y = signal(2);"));
}

TEST(Audit, SeesIncludesOfTheMachine) {
  EXPECT_TRUE(audit("#include \"/etc/passwd\""));
  EXPECT_TRUE(audit("#include <../../x.h>"));
  EXPECT_TRUE(audit("#embed \"x\""));
  EXPECT_FALSE(audit("#include <sys/types.h>\n#include \"part.h\""));
}

TEST(Audit, RefusesImportsThatSourcesHid) {
  EXPECT_TRUE(audit_imports({"memcpy", "fork"}));
  EXPECT_FALSE(audit_imports({"memcpy", "expf", "GOMP_parallel", "malloc", "pthread_create"}));
}

TEST(Ring, MakesBatchesLongAgainstTheRelease) {
  EXPECT_EQ(launches_per_batch(kibibytes(4), Microseconds(15), Microseconds(15)), 100);
  EXPECT_EQ(launches_per_batch(mebibytes(192), Microseconds(5000), Microseconds(5000)), 1);
}

TEST(Ring, KeepsWithinMemoryAndPatience) {
  EXPECT_EQ(launches_per_batch(gibibytes(1), Microseconds(1), Microseconds(1)), 2);
  EXPECT_EQ(launches_per_batch(kibibytes(4), Microseconds(15), Microseconds(30000)), 2);
  EXPECT_EQ(launches_per_batch(gibibytes(64), Microseconds(1), Microseconds(1)), 1);
}

TEST(Disturbed, IsBlindToDuration) {
  host::BatchTime quick, slow;
  quick.wall = std::chrono::milliseconds(1);
  slow.wall = std::chrono::milliseconds(100);
  EXPECT_FALSE(disturbed(quick));
  EXPECT_FALSE(disturbed(slow));
  quick.major_faults = slow.major_faults = 1;
  EXPECT_TRUE(disturbed(quick));
  EXPECT_TRUE(disturbed(slow));
}

AffineSamples samples(const std::vector<double>& single, double per_launch) { return {single, per_launch}; }

TEST(BatchOverlap, SeesLaunchesThatRunTwoAtATime) {
  std::vector<double> overlapping{2000, 2010, 1990, 2005}, honest{1020, 1000, 1015, 1010};
  EXPECT_TRUE(batch_overlap(samples(overlapping, 1000), samples(honest, 1000), 8, 2));
  EXPECT_FALSE(batch_overlap(samples(honest, 1000), samples(honest, 1000), 8, 2));
}

TEST(BatchOverlap, ForgivesWakingUpAndInterruptions) {
  std::vector<double> waking{120, 140, 130}, interrupted{1000, 9000, 9000, 1010};
  std::vector<double> honest{1000};
  EXPECT_FALSE(batch_overlap(samples(waking, 10), samples({}, 0), 100, 2));
  EXPECT_FALSE(batch_overlap(samples(interrupted, 1000), samples(honest, 1000), 8, 2));
  EXPECT_FALSE(batch_overlap(samples(interrupted, 100), samples({}, 0), 1, 2));
}

Problem shipped_problem(const std::string& name) {
  auto problem = load_problem(std::string(AKO_SOURCE_DIR) + "/problems/" + name + ".yaml");
  EXPECT_TRUE(problem) << name;
  return std::move(*problem);
}
TargetFacts machine() {
  TargetFacts facts;
  facts.caches = {{3, mebibytes(32), 2}};
  facts.facts["copy_bandwidth_bytes_per_s"] = {20e9, "test"};
  facts.facts["peak_flops_f32"] = {100e9, "test"};
  return facts;
}
Shape shape_of(const Problem& problem, std::string_view text) {
  return with_shapes(problem, text)->shapes.front();
}

TEST(Floor, HoldsOnlyWhereDataCannotBeCached) {
  auto softmax = shipped_problem("softmax");
  EXPECT_EQ(floor_of(softmax, shape_of(softmax, "T=64,D=1024"), machine()).count(), 0);
  double bytes = 2.0 * 4096 * 4096 * 4;
  EXPECT_NEAR(floor_of(softmax, shape_of(softmax, "T=4096,D=4096"), machine()).count(), 1e6 * bytes / 30e9,
              1);
}

TEST(Floor, IsUnknownOnAMachineThatWasNeverMeasured) {
  auto softmax = shipped_problem("softmax");
  TargetFacts bare;
  EXPECT_EQ(floor_of(softmax, shape_of(softmax, "T=4096,D=4096"), bare).count(), 0);
}

TEST(Floor, RefusesTimesBelowIt) {
  auto softmax = shipped_problem("softmax");
  auto shape = shape_of(softmax, "T=4096,D=4096");
  EXPECT_TRUE(below_roofline(softmax, shape, machine(), 100));
  EXPECT_FALSE(below_roofline(softmax, shape, machine(), 7000));
}

TEST(CheckPlan, TriesThreeSeedsAndEveryStyleOnSmallShapes) {
  auto softmax = shipped_problem("softmax");
  auto cases = plan_checks(softmax, shape_of(softmax, "T=7,D=100"), 1, false);
  auto declared =
      std::count_if(cases.begin(), cases.end(), [](auto one) { return one.style == InputStyle::declared; });
  EXPECT_EQ(declared, 3);
  EXPECT_EQ(cases.size(), check_styles(softmax).size() + 2);
  EXPECT_EQ(cases.front().style, InputStyle::declared);
}

TEST(CheckPlan, SpendsLittleOnHugeShapesButNeverNothing) {
  auto softmax = shipped_problem("softmax");
  auto huge = shape_of(softmax, "T=16384,D=8192");
  EXPECT_EQ(plan_checks(softmax, huge, 1, false).size(), 1u);
  EXPECT_EQ(plan_checks(softmax, huge, 1, true).size(), 2u);
}

TEST(Noise, GrowsWithTheSpreadOfBlocks) {
  std::vector<double> calm, wild;
  for (int i = 0; i < 40; ++i) {
    calm.push_back(0.001 * ((i * 7) % 11 - 5));
    wild.push_back(0.02 * ((i * 7) % 11 - 5));
  }
  EXPECT_LT(noise_p99(calm), 0.01);
  EXPECT_GT(noise_p99(wild), 0.03);
}

TEST(Noise, IsNeverBelowOnePercent) {
  Noise noise{"cpu", "today", {{Microseconds(100), 0.03, 40}, {Microseconds(10000), 0.002, 40}}};
  EXPECT_DOUBLE_EQ(noise.of(Microseconds(50)), 0.03);
  EXPECT_DOUBLE_EQ(noise.of(Microseconds(500)), 0.01);
  EXPECT_DOUBLE_EQ(noise.of(Microseconds(1e6)), 0.01);
}

}  // namespace
}  // namespace ako
