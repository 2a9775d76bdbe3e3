// SPDX-License-Identifier: Apache-2.0
// Every file of tests/judge/guests through the whole cascade: "// expect: OUTCOME [RULE] or OUTCOME — why".
// What does no harm is expected to be "correct slower": right, and not called faster than the honest kernel
// it wraps. Those in a folder of a problem's name compute that problem; the others softmax.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/files.h"
#include "judge/judge.h"

namespace ako {
namespace {

namespace fs = std::filesystem;

const fs::path guests = fs::path(AKO_SOURCE_DIR) / "tests" / "judge" / "guests";

std::string text_of(const fs::path& path) {
  auto text = read_file(path);
  EXPECT_TRUE(text) << path;
  return text.value_or("");
}

/// The alternatives between "expect:" and the dash, each "outcome" or "outcome rule".
std::vector<std::string> expected_of(const std::string& source) {
  std::size_t begin = source.find("// expect: ") + 11, end = source.find(" —", begin);
  std::string all = source.substr(begin, end - begin);
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= all.size();) {
    std::size_t next = std::min(all.find(" or ", at), all.size());
    parts.push_back(all.substr(at, next - at));
    at = next + 4;
  }
  return parts;
}

/// "// tries: N": a misdeed that needs two threads at the same moment is not always done.
int tries_of(const std::string& source) {
  std::size_t at = source.find("// tries: ");
  return at == std::string::npos ? 1 : std::stoi(source.substr(at + 10));
}

/// What a guest is asked to compute, and the honest kernel beside it.
struct Task {
  std::string problem, shapes;
  fs::path honest;
};
Task task_of(const fs::path& guest) {
  if (guest.parent_path() == "rmsnorm")  // bf16 under 45 dB: a million elements hide a few
    return {"rmsnorm", "T=65536,D=16", "rmsnorm/honest.cpp"};
  if (guest.parent_path() == "matvec")  // little data and much to do: worth computing ahead
    return {"matvec", "M=16,K=256", "matvec/honest.cpp"};
  return {"softmax", "T=8,D=96;T=5,D=40", "honest/plain.cpp"};
}

JudgeRequest request_for(const fs::path& guest) {
  Task task = task_of(guest);
  JudgeRequest request;
  auto path = fs::path(AKO_SOURCE_DIR) / "problems" / (task.problem + ".yaml");
  request.problem_text = text_of(path);
  request.problem_path = path.string();
  request.shapes = task.shapes;
  auto problem = parse_problem(request.problem_text, path);
  EXPECT_TRUE(problem);
  auto make = [&](const fs::path& source) {
    Candidate candidate;
    candidate.sources = {{task.problem + ".cpp", text_of(guests / source)}};
    candidate.plan = default_plan(*problem);
    return candidate;
  };
  request.candidate = make(guest);
  request.incumbent = make(task.honest);
  request.effort = Effort::screen;
  return request;
}

/// Every alternative that the verdict satisfies.
std::vector<std::string> summaries(const Verdict& verdict) {
  std::vector<std::string> all{std::string(name_of(verdict.outcome))};
  if (const auto* rejected = std::get_if<Rejected>(&verdict.outcome)) all = {"rejected " + rejected->rule};
  bool slower = verdict.correct() && verdict.against_incumbent && verdict.against_incumbent->log_ratio > 0;
  if (slower) all.push_back("correct slower");
  return all;
}

class Guest : public ::testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    ::setenv("AKO_CACHE_DIR", AKO_BINARY_DIR "/test-cache", 1);  // compiled once per build folder
    ::setenv("AKO_DATA_DIR", AKO_BINARY_DIR "/test-data", 1);
  }
};

TEST_P(Guest, MeetsTheOutcomeItsFirstLineExpects) {
  std::string source = text_of(guests / GetParam());
  auto judge = Judge::create("host", 2);
  ASSERT_TRUE(judge) << judge.error().what;
  auto request = request_for(GetParam());
  Result<Verdict> verdict = fail(ErrorKind::internal, "never judged");
  for (int attempt = 0; attempt < tries_of(source); ++attempt) {
    verdict = (*judge)->judge(request, {});
    ASSERT_TRUE(verdict) << verdict.error().what;
    if (!verdict->correct()) break;
  }
  EXPECT_THAT(expected_of(source), ::testing::Contains(::testing::AnyOfArray(summaries(*verdict))))
      << to_text(verdict->outcome);
  if (verdict->correct()) {
    EXPECT_EQ(verdict->timings.size(),
              fs::path(GetParam()).has_parent_path() && !GetParam().starts_with("honest") ? 1u : 2u);
    EXPECT_TRUE(verdict->against_incumbent);
  }
}

std::vector<std::string> all_guests() {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(guests))
    if (entry.path().extension() == ".cpp") names.push_back(fs::relative(entry.path(), guests).string());
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, Guest, ::testing::ValuesIn(all_guests()), [](const auto& one) {
  std::string name = one.param.substr(0, one.param.size() - 4);
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
});

}  // namespace
}  // namespace ako
