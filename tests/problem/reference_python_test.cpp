// SPDX-License-Identifier: Apache-2.0
#include "problem/reference_python.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "base/files.h"
#include "base/subprocess.h"
#include "problem/cost.h"
#include "problem/reference.h"

namespace ako {
namespace {

constexpr const char* doubled = R"yaml(problem: doubled
summary: Twice each element.
dims: {N: elements}
tensors:
  x: {type: f32, shape: [N]}
  k: {type: i32, shape: [N], values: "integers(0, 5)"}
  y: {type: f32, shape: [N]}
scalars:
  a: {type: f32, value: 2}
reference: {python: doubled.py, outputs: [y]}
shapes:
  - {N: 6}
tolerance: {snr_db: 100}
)yaml";

/// A Python with NumPy, else the tests that run one are skipped.
bool python_has_numpy() {
  const char* chosen = std::getenv("AKO_PYTHON");
  Command command;
  command.argv = {chosen && *chosen ? chosen : "python3", "-c", "import numpy"};
  auto exit = run(command);
  return exit && exit->ok();
}

class PythonReferenceTest : public ::testing::Test {
 protected:
  Problem problem(const std::string& python, std::string text = doubled) {
    EXPECT_TRUE(write_file(home_.path() / "doubled.py", python));
    auto parsed = parse_problem(text, home_.path() / "doubled.yaml");
    EXPECT_TRUE(parsed) << to_text(parsed.error());
    return parsed ? *parsed : Problem{};
  }
  Error error_of(const std::string& python) {
    auto loaded = Reference::load(problem(python));
    EXPECT_FALSE(loaded);
    return loaded ? Error{} : loaded.error();
  }
  TemporaryFolder home_ = *TemporaryFolder::create("ako-python-test");
};

#define NEEDS_NUMPY()      \
  if (!python_has_numpy()) \
  GTEST_SKIP() << "no Python with NumPy here (apt install python3-numpy, or AKO_PYTHON)"

TEST_F(PythonReferenceTest, IsGivenInputsByNameAndReturnsOutputs) {
  NEEDS_NUMPY();
  auto given =
      problem("def doubled(x, k, a, N):\n    assert k.dtype == 'int64' and N == 6\n    return a * x + k\n");
  auto reference = Reference::load(given);
  ASSERT_TRUE(reference) << to_text(reference.error());
  float x[6] = {1, 2, 3, 4, 5, 6};
  std::int32_t k[6] = {0, 1, 0, 1, 0, 1};
  std::vector<std::span<const std::byte>> inputs{std::as_bytes(std::span(x)), std::as_bytes(std::span(k))};
  auto outputs = reference->evaluate(given.shapes[0], inputs);
  ASSERT_TRUE(outputs) << to_text(outputs.error());
  EXPECT_EQ(*outputs, (std::vector<std::vector<double>>{{2, 5, 6, 9, 10, 13}}));
}

TEST_F(PythonReferenceTest, ShowsTheTracebackOfAnException) {
  NEEDS_NUMPY();
  Error error = error_of("def doubled(x):\n    return x.no_such_thing()\n");
  EXPECT_EQ(error.kind, ErrorKind::invalid_input);
  EXPECT_NE(error.what.find("no_such_thing"), std::string::npos) << error.what;
  EXPECT_NE(error.what.find("line 2"), std::string::npos) << error.what;
}

TEST_F(PythonReferenceTest, NamesTheFunctionsOfAFileThatLacksTheOneWanted) {
  NEEDS_NUMPY();
  Error error = error_of("def twice(x):\n    return 2 * x\n");
  EXPECT_NE(error.what.find("no function doubled"), std::string::npos) << error.what;
  EXPECT_NE(error.advice.find("twice"), std::string::npos) << error.advice;
}

TEST_F(PythonReferenceTest, ComparesTheShapeWithTheDeclaredOne) {
  NEEDS_NUMPY();
  Error error = error_of("def doubled(x):\n    return x[:3]\n");
  EXPECT_NE(error.what.find("[3], declared is [6]"), std::string::npos) << error.what;
}

TEST_F(PythonReferenceTest, RefusesAnOutputOfAnotherName) {
  NEEDS_NUMPY();
  EXPECT_NE(error_of("def doubled(x):\n    return {'z': x}\n").what.find("'z'"), std::string::npos);
}

TEST_F(PythonReferenceTest, NamesAParameterThatTheProblemLacks) {
  NEEDS_NUMPY();
  EXPECT_NE(error_of("def doubled(x, beta):\n    return x\n").what.find("'beta'"), std::string::npos);
}

TEST_F(PythonReferenceTest, SaysWhenTheFileIsNotThere) {
  auto parsed = parse_problem(doubled, home_.path() / "doubled.yaml");
  ASSERT_TRUE(parsed);
  auto loaded = Reference::load(*parsed);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().kind, ErrorKind::not_found);
}

TEST_F(PythonReferenceTest, IsAnotherOneWhenTheFileChanges) {
  auto given = problem("def doubled(x):\n    return x\n");
  auto before = reference_key(given);
  problem("def doubled(x):\n    return 2 * x\n");
  auto after = reference_key(given);
  ASSERT_TRUE(before && after);
  EXPECT_NE(*before, *after);
}

TEST_F(PythonReferenceTest, LeavesTheCostUnknownUnlessItIsDeclared) {
  auto unknown = problem("");
  EXPECT_EQ(cost_of(unknown, unknown.shapes[0]).flops, 0);
  EXPECT_EQ(cost_of(unknown, unknown.shapes[0]).compulsory.count, 0);
  auto declared = problem("", std::string(doubled) + "cost: {flops: 2 * N, bytes: 12 * N}\n");
  EXPECT_EQ(cost_of(declared, declared.shapes[0]).flops, 12);
  EXPECT_EQ(cost_of(declared, declared.shapes[0]).compulsory.count, 72);
}

TEST(PythonReferenceFile, MustSayItsOutputsWhenThereIsNoMath) {
  std::string text = doubled;
  text.replace(text.find(", outputs: [y]"), 14, "");
  auto parsed = parse_problem(text, "doubled.yaml");
  ASSERT_FALSE(parsed);
  EXPECT_NE(parsed.error().front().advice.find("outputs: [y]"), std::string::npos);
}

}  // namespace
}  // namespace ako
