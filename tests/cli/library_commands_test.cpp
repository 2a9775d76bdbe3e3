// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "judge/library_openblas.h"
#include "program.h"

namespace ako::testing_program {
namespace {

using ::testing::HasSubstr;

const std::string row_sort = AKO_SOURCE_DIR "/examples/row_sort/row_sort.yaml";

TEST(Explain, SaysUnknownForWhatAProblemWithoutMathDoesNotTell) {
  std::string text = ako({"explain", row_sort, "--shape", "T=4,D=16"}).output;
  EXPECT_THAT(text, ::testing::ContainsRegex("pattern: unknown(.|\n)*T=4,D=16 .* unknown +512 B +unknown"));
  nlohmann::json shape = json_of(ako({"explain", row_sort, "--shape", "T=4,D=16", "--json"}))["shapes"][0];
  EXPECT_TRUE(shape["flops"].is_null());
  EXPECT_TRUE(shape["intensity"].is_null());
  EXPECT_EQ(shape["bytes"], 512);
}

class TimeLibrary : public ::testing::Test {
 protected:
  /// A right kernel for a shipped problem.
  std::string kernel_for(const std::string& problem) {
    std::string folder = (folder_.path() / problem).string();
    Exit made = ako({"synth", problem, "-o", folder});
    EXPECT_EQ(made.code, 0) << made.errors;
    return folder;
  }
  TemporaryFolder folder_ = *TemporaryFolder::create("ako-library-test");
};

TEST_F(TimeLibrary, NeedsASecondKernelOrALibrary) {
  Exit exit = ako({"time", kernel_for("matmul"), "-p", "matmul"});
  EXPECT_EQ(exit.code, 2);
  EXPECT_THAT(exit.errors, HasSubstr("--library"));
}

TEST_F(TimeLibrary, SaysThatThereIsNoLibraryForThePattern) {
  Exit exit =
      ako({"time", kernel_for("softmax"), "--library", "openblas", "-p", "softmax", "--shape", "T=8,D=16"});
  EXPECT_EQ(exit.code, 4);
  EXPECT_THAT(exit.errors, HasSubstr("no library for this pattern"));
}

TEST_F(TimeLibrary, ComparesAKernelWithOpenBlas) {
  if (auto found = OpenBlas().find(0); !found) GTEST_SKIP() << to_text(found.error());
  Exit made = ako({"synth", "matmul", "-o", (folder_.path() / "matmul").string()});
  ASSERT_EQ(made.code, 0) << made.errors;
  nlohmann::json json = json_of(ako({"time", (folder_.path() / "matmul").string(), "--library", "openblas",
                                     "-p", "matmul", "--shape", "M=8,N=8,K=8", "--screen", "--json"}));
  EXPECT_THAT(json["library"].get<std::string>(), HasSubstr("OpenBLAS"));
  EXPECT_EQ(json["outcome"]["kind"], "correct");
  EXPECT_GT(json["timings"][0]["candidate_median_us"].get<double>(), 0);
}

}  // namespace
}  // namespace ako::testing_program
