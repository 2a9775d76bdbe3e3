// SPDX-License-Identifier: Apache-2.0
#include "kernel/launch_plan.h"

#include "base/random.h"
#include "kernel/softmax_fixture.h"

namespace ako {
namespace {
using testing::full_plan;
using testing::plan_of;
using testing::scaled_softmax;

std::string errors_of(std::string_view yaml) {
  auto plan = parse_launch_plan(yaml, "plan.yaml");
  return plan ? "" : to_text(plan.error());
}
std::string complaints_about(std::string_view yaml, const Bindings& chosen = {}) {
  auto fine = check_plan(plan_of(yaml), scaled_softmax(), chosen);
  return fine ? "" : to_text(fine.error());
}
bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(LaunchPlan, ReadsEveryPart) {
  LaunchPlan plan = plan_of(full_plan);
  EXPECT_EQ(plan.tunables.at("BLOCK"), (std::vector<std::int64_t>{128, 256, 512}));
  ASSERT_EQ(plan.workspace.size(), 1u);
  EXPECT_EQ(plan.workspace[0].shape[1].text, "8");
  ASSERT_EQ(plan.launches.size(), 2u);
  EXPECT_EQ(plan.launches[0].grid[0].text, "ceil_div(T, BLOCK)");
  EXPECT_EQ(plan.launches[0].block[2].text, "1");
  EXPECT_EQ(plan.launches[0].shared.text, "4 * BLOCK");
  EXPECT_EQ(plan.launches[1].args,
            (std::vector<std::string>{"partial", "y", "alpha", "T", "D * 2", "BLOCK"}));
}

TEST(LaunchPlan, KeepsCallsWholeThatYamlSplitsAtTheirComma) {
  LaunchPlan plan = plan_of("launches: [{kernel: f, args: [y, 'min(T, 3)', max(ceil_div(T, 2), D), T]}]");
  EXPECT_EQ(plan.launches.at(0).args,
            (std::vector<std::string>{"y", "min(T, 3)", "max(ceil_div(T, 2), D)", "T"}));
  EXPECT_EQ(plan_of(to_yaml(plan)), plan);
}

TEST(LaunchPlan, WritesWhatItReadsBack) {
  LaunchPlan plan = plan_of(full_plan);
  EXPECT_EQ(plan_of(to_yaml(plan)), plan);
  LaunchPlan standard = default_plan(scaled_softmax());
  EXPECT_EQ(plan_of(to_yaml(standard)), standard);
}

TEST(LaunchPlan, PointsAtTheLineOfAMistake) {
  std::string errors = errors_of("launches:\n  - {kernel: f, arguments: [x], args: [y]}\n");
  EXPECT_TRUE(contains(errors, "plan.yaml:2:")) << errors;
  EXPECT_TRUE(contains(errors, "has no key 'arguments'")) << errors;
}

TEST(LaunchPlan, SuggestsTheKeyThatWasMeant) {
  EXPECT_TRUE(contains(errors_of("lanches: [{kernel: f, args: [x]}]"), "did you mean 'launches'?"));
}

TEST(LaunchPlan, ReportsSeveralMistakesAtOnce) {
  auto plan =
      parse_launch_plan("tunables: 4\nworkspace: {w: {type: f33, shape: [T]}}\nlaunches: [{kernel: f}]", "p");
  ASSERT_FALSE(plan);
  EXPECT_GE(plan.error().size(), 3u) << to_text(plan.error());
}

TEST(LaunchPlan, RefusesMalformedText) {
  for (std::string_view yaml :
       {"", "launches: []", "[]", "4", "launches: {", "launches: [{kernel: f, args: [x]}]\nlaunches: 3",
        "\xff\xfe", "launches: [{kernel: f, args: x}]", "launches: [{kernel: [f], args: [x]}]",
        "tunables: {A: [1.5]}", "launches: [{kernel: f, args: [[x]]}]",
        "launches: [{kernel: f, grid: [1, 2, 3, 4], args: [x]}]",
        "launches: [{kernel: f, grid: [T +], args: [x]}]", "launches: *nowhere", "? [a, b]\n: c"})
    EXPECT_FALSE(parse_launch_plan(yaml, "p")) << yaml;
  EXPECT_FALSE(parse_launch_plan(std::string("launches: [{kernel: f, args: [x]}]\0", 36), "p"));
}

TEST(LaunchPlan, SurvivesHostileNesting) {
  EXPECT_FALSE(parse_launch_plan(std::string(100'000, '['), "p"));
  EXPECT_FALSE(parse_launch_plan("launches: " + std::string(100'000, '{'), "p"));
  EXPECT_FALSE(parse_launch_plan("launches: &a [*a]", "p"));
}

TEST(LaunchPlan, MayHaveTheLineEndsOfOtherSystems) {
  EXPECT_EQ(plan_of("launches:\r\n  - {kernel: f, args: [x]}\r\n"),
            plan_of("launches: [{kernel: f, args: [x]}]"));
}

/// Small changes to a plan either are refused or survive being written and read again.
TEST(LaunchPlan, WritesWhatItReadsBackWhateverItRead) {
  Random random(1);
  int read = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string text(full_plan);
    for (std::uint64_t j = 0; j <= random.below(4); ++j) {
      std::size_t at = random.below(text.size());
      if (random.below(2))
        text[at] = static_cast<char>(random());
      else if (random.below(2))
        text.erase(at, 1 + random.below(4));
      else
        text.insert(at, 1, "[]{}:,&*-#\n \"'"[random.below(14)]);
    }
    auto plan = parse_launch_plan(text, "p");
    if (!plan) continue;
    ++read;
    auto again = parse_launch_plan(to_yaml(*plan), "q");
    ASSERT_TRUE(again) << text << to_text(again.error());
    ASSERT_EQ(*again, *plan) << text;
  }
  EXPECT_GT(read, 50);
}

TEST(LaunchPlan, DefaultGivesTensorsThenScalarsThenDims) {
  LaunchPlan plan = default_plan(scaled_softmax());
  ASSERT_EQ(plan.launches.size(), 1u);
  EXPECT_EQ(plan.launches[0].kernel, "scaled_softmax");
  EXPECT_EQ(plan.launches[0].args, (std::vector<std::string>{"x", "y", "alpha", "T", "D"}));
  EXPECT_TRUE(check_plan(plan, scaled_softmax(), {}));
}

TEST(LaunchPlan, ChecksOutWhenEverythingHasAName) { EXPECT_EQ(complaints_about(full_plan), ""); }

TEST(LaunchPlan, NamesAnUnknownArgument) {
  std::string text = complaints_about("launches: [{kernel: f, args: [x, y, alpa]}]");
  EXPECT_TRUE(contains(text, "'alpa'") && contains(text, "did you mean 'alpha'?")) << text;
}

TEST(LaunchPlan, MustBeGivenEveryOutput) {
  EXPECT_TRUE(contains(complaints_about("launches: [{kernel: f, args: [x, T]}]"), "no launch is given 'y'"));
}

TEST(LaunchPlan, RefusesNamesThatAreTaken) {
  EXPECT_TRUE(contains(complaints_about("tunables: {T: [1]}\nlaunches: [{kernel: f, args: [y]}]"),
                       "'T' names a dim and a tunable"));
  EXPECT_TRUE(contains(
      complaints_about("workspace: {x: {type: f32, shape: [1]}}\nlaunches: [{kernel: f, args: [y]}]"),
      "'x' names a tensor and a workspace buffer"));
}

TEST(LaunchPlan, RefusesNamesThatAreNoSymbols) {
  for (const char* name : {"'a b'", "'x;y'", "int", "ako_call_f", "'-o'", "''", "'f\"'", "9f"})
    EXPECT_TRUE(contains(complaints_about(fmt::format("launches: [{{kernel: {}, args: [y]}}]", name)),
                         "cannot name a kernel"))
        << name;
}

TEST(LaunchPlan, RefusesAValueThatATunableDoesNotHave) {
  EXPECT_TRUE(contains(complaints_about(full_plan, {{"BLOCK", 100}}), "tunable 'BLOCK' cannot be 100"));
  EXPECT_TRUE(contains(complaints_about(full_plan, {{"BLOK", 128}}), "no tunable of the plan"));
}

TEST(LaunchPlan, EvaluatesOnEveryShape) {
  std::string text = complaints_about("launches: [{kernel: f, grid: [1000 - D], args: [y]}]");
  EXPECT_TRUE(contains(text, "less than 1")) << text;
  text = complaints_about(
      "workspace: {w: {type: f32, shape: [D - 1001]}}\nlaunches: [{kernel: f, args: [y, w]}]");
  EXPECT_TRUE(contains(text, "extent 'D - 1001' is -1")) << text;
  text = complaints_about(
      "workspace: {w: {type: f32, shape: [4000000000, 4000000000]}}\nlaunches: [{kernel: f, args: [y, w]}]");
  EXPECT_TRUE(contains(text, "exceeds 64 bits")) << text;
}

TEST(LaunchPlan, BindsArgumentsByKind) {
  Problem problem = scaled_softmax();
  LaunchPlan plan = plan_of(full_plan);
  auto bound = bind_arguments(plan, problem, problem.shapes[0], {{"BLOCK", 256}});
  ASSERT_TRUE(bound);
  const std::vector<Argument>& finish = bound->at(1);
  EXPECT_EQ(finish[0].kind, Argument::Kind::workspace);
  EXPECT_EQ(finish[1].kind, Argument::Kind::tensor);
  EXPECT_EQ(problem.tensor(finish[1].ref).name, "y");
  EXPECT_EQ(finish[2].kind, Argument::Kind::scalar);
  EXPECT_EQ(finish[3].integer, 7);
  EXPECT_EQ(finish[4].integer, 2000);
  EXPECT_EQ(finish[5].integer, 256);
}

TEST(LaunchPlan, UsesTheFirstValueOfATunableUnlessOneIsChosen) {
  Problem problem = scaled_softmax();
  LaunchPlan plan = plan_of(full_plan);
  EXPECT_EQ(bind_arguments(plan, problem, problem.shapes[0], {})->at(1)[5].integer, 128);
  EXPECT_EQ(tunables_in_force(plan, {{"BLOCK", 512}}), (Bindings{{"BLOCK", 512}}));
}

TEST(LaunchPlan, KnowsArgumentKindsWithoutAShape) {
  auto kinds = argument_kinds(plan_of(full_plan), scaled_softmax());
  ASSERT_TRUE(kinds);
  EXPECT_EQ(kinds->at(0)[0].kind, Argument::Kind::tensor);
  EXPECT_EQ(kinds->at(1)[4].kind, Argument::Kind::integer);
}

}  // namespace
}  // namespace ako
