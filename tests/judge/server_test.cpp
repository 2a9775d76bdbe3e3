// SPDX-License-Identifier: Apache-2.0
#include "judge/server.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>

#include "judge/request_json.h"

namespace ako {
namespace {

using nlohmann::json;

class FakeJudge : public JudgeService {
 public:
  Result<Verdict> judge(const JudgeRequest& request, const JudgeClient::Progress& progress,
                        std::stop_token stop) override {
    seen = request;
    if (until_stopped) {
      std::unique_lock lock(mutex_);
      stopped_.wait(lock, stop, [] { return false; });
    }
    progress("compile");
    if (request.problem_text == "broken")
      return fail(ErrorKind::invalid_input, "the problem is broken", "mend it");
    Verdict verdict;
    verdict.candidate = request.candidate.id();
    verdict.problem = hash_text("p");
    verdict.target = "host";
    verdict.outcome = Correct{};
    return verdict;
  }
  const TargetFacts& facts() const override { return facts_; }
  Trust trust() const override { return Trust::isolated; }
  std::optional<JudgeRequest> seen;
  bool until_stopped = false;  // every judgement goes on until it is cancelled

 private:
  TargetFacts facts_ = [] {
    TargetFacts facts;
    facts.id = "host";
    return facts;
  }();
  std::mutex mutex_;
  std::condition_variable_any stopped_;
};

std::vector<json> talk(const std::string& input, FakeJudge* judge = nullptr) {
  FakeJudge own;
  std::istringstream in(input);
  std::ostringstream out;
  serve(judge ? *judge : own, in, out);
  std::vector<json> lines;
  std::istringstream replies(out.str());
  for (std::string line; std::getline(replies, line);) lines.push_back(json::parse(line));
  return lines;
}

JudgeRequest some_request() {
  JudgeRequest request;
  request.problem_text = "problem: x";
  request.candidate.sources = {{"a.cpp", "int main;"}};
  Launch launch;
  launch.kernel = "x";
  launch.args = {"x"};
  request.candidate.plan.launches = {launch};
  Candidate other = request.candidate;
  other.sources[0].text = "int other;";
  request.incumbent = other;
  request.effort = Effort::screen;
  request.level = Level::full;
  request.seed = 1ull << 63;
  request.confirm = true;
  request.time_budget = Seconds(2.5);
  request.time_limit = Seconds(4.5);
  return request;
}

TEST(Server, GreetsWithItsProtocol) {
  auto lines = talk("");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["ako"], "judge");
  EXPECT_EQ(lines[0]["protocol"], kJudgeProtocol);
  EXPECT_EQ(lines[0]["trust"], "isolated");
}

TEST(Server, AnswersPingFactsAndShutdown) {
  auto lines = talk(
      "{\"id\":1,\"method\":\"ping\"}\n{\"id\":\"b\",\"method\":\"facts\"}\n{\"id\":3,\"method\":"
      "\"shutdown\"}\n"
      "{\"id\":4,\"method\":\"ping\"}\n");
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[1], (json{{"id", 1}, {"result", "pong"}}));
  EXPECT_EQ(lines[2]["id"], "b");
  EXPECT_EQ(lines[2]["result"]["facts"]["id"], "host");
  EXPECT_EQ(lines[3]["id"], 3);
}

TEST(Server, ReportsProgressThenTheVerdict) {
  FakeJudge judge;
  json message = {{"id", 7}, {"method", "judge"}, {"params", to_json(some_request())}};
  auto lines = talk(message.dump() + "\n", &judge);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1], (json{{"id", 7}, {"progress", "compile"}}));
  auto verdict = verdict_from_json(lines[2]["result"]);
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->correct());
  ASSERT_TRUE(judge.seen);
  EXPECT_EQ(to_json(*judge.seen), to_json(some_request()));
}

TEST(Server, PassesOnErrorsOfTheRequest) {
  auto request = some_request();
  request.problem_text = "broken";
  json message = {{"id", 7}, {"method", "judge"}, {"params", to_json(request)}};
  auto lines = talk(message.dump() + "\n");
  EXPECT_EQ(lines.back()["error"]["what"], "the problem is broken");
  EXPECT_EQ(lines.back()["error"]["advice"], "mend it");
}

class BadLine : public ::testing::TestWithParam<std::string> {};
TEST_P(BadLine, GetsAnErrorReplyAndTheNextIsAnswered) {
  auto lines = talk(GetParam() + "\n{\"id\":9,\"method\":\"ping\"}\n");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(lines[1].contains("error")) << lines[1];
  EXPECT_FALSE(lines[1]["error"]["advice"].get<std::string>().empty());
  EXPECT_EQ(lines[2]["result"], "pong");
}
INSTANTIATE_TEST_SUITE_P(
    All, BadLine,
    ::testing::Values("garbage", "[1,2]", "{\"id\":1}", "{\"method\":\"ping\"}",
                      "{\"id\":{},\"method\":\"ping\"}", "{\"id\":1,\"method\":\"dance\"}",
                      "{\"id\":1,\"method\":\"judge\"}",
                      "{\"id\":1,\"method\":\"judge\",\"params\":{\"problem\":3}}",
                      "{\"id\":1,\"method\":\"judge\",\"params\":{\"problem\":\"x\",\"candidate\":[]}}",
                      "{\"id\":1,\"method\":\"ping\",\"protocol\":99}", "\"\xff\xfe\"",
                      "{\"id\":1,\"method\":7}"));

TEST(Server, RefusesUnknownProtocolWithAdvice) {
  auto lines = talk("{\"id\":1,\"method\":\"ping\",\"protocol\":2}\n");
  EXPECT_EQ(lines[1]["error"]["kind"], "unsupported");
}

std::string judge_line(int id) {
  return json{{"id", id}, {"method", "judge"}, {"params", to_json(some_request())}}.dump() + "\n";
}

/// Without progress lines, which may or may not come before a cancel.
std::vector<json> answers(const std::string& input, FakeJudge& judge) {
  auto lines = talk(input, &judge);
  std::erase_if(lines, [](const json& line) { return line.contains("progress") || line.contains("ako"); });
  return lines;
}

TEST(Server, StopsTheRunningJudgementOnCancel) {
  FakeJudge judge;
  judge.until_stopped = true;
  std::string cancel = "{\"id\":2,\"method\":\"cancel\",\"params\":{\"id\":1}}\n";
  auto lines = answers(judge_line(1) + cancel + "{\"id\":3,\"method\":\"ping\"}\n", judge);
  ASSERT_EQ(lines.size(), 3u);
  std::sort(lines.begin(), lines.end(), [](const json& a, const json& b) { return a["id"] < b["id"]; });
  EXPECT_EQ(lines[0], (json{{"id", 1}, {"cancelled", true}}));
  EXPECT_EQ(lines[1], (json{{"id", 2}, {"result", "cancelled"}}));
  EXPECT_EQ(lines[2]["result"], "pong");
}

TEST(Server, SaysWhenThereIsNothingToCancel) {
  FakeJudge judge;
  auto lines = answers("{\"id\":2,\"method\":\"cancel\"}\n", judge);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["result"], "nothing to cancel");
}

TEST(RequestJson, NamesTheFieldThatIsWrong) {
  auto json_request = to_json(some_request());
  json_request["effort"] = "heroic";
  auto request = judge_request_from_json(json_request);
  ASSERT_FALSE(request);
  EXPECT_NE(request.error().what.find("\"effort\""), std::string::npos);
  EXPECT_NE(request.error().what.find("\"screen\""), std::string::npos);
}

}  // namespace
}  // namespace ako
