// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include <gmock/gmock.h>

#include <regex>
#include <set>

#include "base/clock.h"
#include "base/version.h"

namespace ako::testing_program {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> commands() {
  // From the completions, which are generated from the commands themselves.
  std::string script = json_of(ako({"completions", "fish", "--json"}))["script"];
  std::vector<std::string> names;
  std::string mark = "'__fish_use_subcommand' -a ";
  for (std::size_t at = script.find(mark); at != std::string::npos; at = script.find(mark, at + 1)) {
    std::size_t start = at + mark.size();
    names.push_back(script.substr(start, script.find(' ', start) - start));
  }
  return names;
}

TEST(Program, TellsItsVersionAtOnce) {
  double fastest = 1;
  for (int i = 0; i < 10; ++i) {
    Stopwatch watch;
    Exit exit = ako({"--version"});
    fastest = std::min(fastest, watch.elapsed().count());
    ASSERT_EQ(exit.output, fmt::format("ako {}\n", version));
  }
  // 10 ms is the promise of the optimized build; sanitizers and other work on the machine get some room.
  EXPECT_LT(fastest, 0.05);
}

TEST(Program, HasTheProjectsVersion) {
  EXPECT_THAT(*read_file(AKO_SOURCE_DIR "/CMakeLists.txt"),
              HasSubstr(fmt::format("project(ako VERSION {} ", version)));
}

TEST(Program, EveryCommandExplainsItselfWithExamples) {
  std::vector<std::string> names = commands();
  ASSERT_GE(names.size(), 8u);
  for (const std::string& name : names) {
    Exit exit = ako({name, "--help"});
    EXPECT_EQ(exit.code, 0) << name;
    if (name == "bench") continue;  // its subcommands have them
    EXPECT_THAT(exit.output, HasSubstr("Examples:")) << name;
    EXPECT_THAT(exit.output, HasSubstr("--json")) << name;
    EXPECT_THAT(*read_file(AKO_SOURCE_DIR "/docs/commands.md"), HasSubstr("## ako " + name)) << "documented";
  }
}

/// "--shape" of every line of options in a help text.
std::set<std::string> long_options(const std::string& help) {
  static const std::regex option("\n +(?:-.,)?(--[a-z-]+)");
  std::set<std::string> found;
  for (std::sregex_iterator at(help.begin(), help.end(), option), end; at != end; ++at)
    found.insert((*at)[1]);
  return found;
}

TEST(Program, EveryOptionIsDocumented) {
  std::string document = *read_file(AKO_SOURCE_DIR "/docs/commands.md");
  auto section_of = [&](const std::string& name) {
    std::size_t begin = document.find("## ako " + name + "\n");
    return document.substr(begin, document.find("\n## ", begin) - begin);
  };
  for (const std::string& name : commands()) {
    std::string section = section_of(name);
    if (name == "time") section += section_of("check");
    std::set<std::string> options = long_options(ako({name, "--help"}).output);
    if (name == "bench")
      for (const char* one : {"noise", "search"})
        options.merge(long_options(ako({name, one, "--help"}).output));
    EXPECT_TRUE(options.contains("--json")) << name;
    for (const char* everywhere : {"--help", "--json", "--quiet", "--color"}) options.erase(everywhere);
    for (const std::string& option : options) EXPECT_THAT(section, HasSubstr(option)) << "ako " << name;
  }
}

TEST(Program, AWrongCommandLineIsExitTwoWithAdvice) {
  Exit exit = ako({"optimise", "x"});
  EXPECT_EQ(exit.code, 2);
  EXPECT_THAT(exit.errors, HasSubstr("did you mean 'ako optimize'?"));
  EXPECT_THAT(ako({"frob"}).errors, HasSubstr("commands: optimize,"));
  EXPECT_EQ(json_of(ako({"frob", "--json"}))["error"]["kind"], "invalid_input");
  EXPECT_THAT(ako({"optimize", "softmax", "--rounds", "0"}).errors, HasSubstr("Value 0 is not positive"));
  EXPECT_EQ(ako({}).code, 2);
  EXPECT_EQ(ako({"optimize"}).code, 2);
  EXPECT_EQ(ako({"optimize", "softmax", "--no-such-option"}).code, 2);
  EXPECT_EQ(ako({"explain", "softmax", "--color", "mauve"}).code, 2);
}

TEST(Program, BadInputIsExitThreeWithAJsonErrorWhenAskedFor) {
  Exit exit = ako({"explain", "sofmax", "--json"});
  EXPECT_EQ(exit.code, 3);
  nlohmann::json error = json_of(exit)["error"];
  EXPECT_EQ(error["kind"], "not_found");
  EXPECT_THAT(error["advice"].get<std::string>(), HasSubstr("softmax"));
  EXPECT_EQ(ako({"show", "/nonexistent"}).code, 3);
  EXPECT_EQ(ako({"resume", "/nonexistent"}).code, 3);
  EXPECT_EQ(ako({"optimize", "softmax", "--budget", "soon", "--yes"}).code, 3);
}

TEST(Program, ABudgetOfNothingAndAnUnknownAgentAreRefusedBeforeThereIsAFolder) {
  TemporaryFolder folder = *TemporaryFolder::create("ako-cli-test");
  Exit nothing = ako({"optimize", "softmax", "--budget", "0s", "--yes", "--workspace", "w"}, folder.path());
  EXPECT_EQ(nothing.code, 3);
  EXPECT_THAT(nothing.errors, HasSubstr("help: write 90s"));
  Exit agent = ako({"optimize", "softmax", "--agent", "gpt", "--yes", "--workspace", "w"}, folder.path());
  EXPECT_EQ(agent.code, 3);
  EXPECT_THAT(agent.errors, HasSubstr("no agent called 'gpt'"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "w"));
}

TEST(Program, AProblemWithMistakesIsToldByLineAndColumn) {
  TemporaryFolder folder = *TemporaryFolder::create("ako-cli-test");
  ASSERT_TRUE(write_file(folder.path() / "p.yaml", "problem: p\nsummary: s\ntensorz: {}\n"));
  Exit exit = ako({"explain", "p.yaml"}, folder.path());
  EXPECT_EQ(exit.code, 3);
  EXPECT_THAT(exit.errors, HasSubstr("p.yaml:3:"));
}

TEST(Program, AnUnsupportedTargetIsExitFour) {
  EXPECT_EQ(ako({"optimize", "softmax", "--target", "gfx942", "--yes"}).code, 4);
}

TEST(Program, ExplainTellsCostAndPattern) {
  nlohmann::json json = json_of(ako({"explain", "softmax", "--shape", "T=3,D=5", "--json"}));
  EXPECT_EQ(json["pattern"], "row_reduction");
  ASSERT_EQ(json["shapes"].size(), 1u);
  EXPECT_EQ(json["shapes"][0]["bytes"], 2 * 3 * 5 * 4);
  std::string text = ako({"explain", "softmax", "--shape", "T=3,D=5"}).output;
  EXPECT_THAT(text, HasSubstr("row_reduction"));
  EXPECT_THAT(text, HasSubstr("120 B"));
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << "no colours when piped";
}

TEST(Program, CompletionsAreWhatTheShellAccepts) {
  TemporaryFolder folder = *TemporaryFolder::create("ako-cli-test");
  ASSERT_TRUE(write_file(folder.path() / "c.bash", ako({"completions", "bash"}).output));
  Command command;
  command.argv = {"bash", "-c",
                  "source c.bash; COMP_WORDS=(ako opt); COMP_CWORD=1; _ako; echo \"${COMPREPLY[@]}\"; "
                  "COMP_WORDS=(ako optimize --bud); COMP_CWORD=2; _ako; echo \"${COMPREPLY[@]}\""};
  command.folder = folder.path();
  auto exit = run(command);
  ASSERT_TRUE(exit) << to_text(exit.error());
  EXPECT_EQ(exit->output, "optimize\n--budget\n") << exit->errors;
}

TEST(Program, ListOfNothingIsEmpty) {
  TemporaryFolder folder = *TemporaryFolder::create("ako-cli-test");
  EXPECT_EQ(json_of(ako({"list", "--json"}, folder.path()))["campaigns"].size(), 0u);
}

}  // namespace
}  // namespace ako::testing_program
