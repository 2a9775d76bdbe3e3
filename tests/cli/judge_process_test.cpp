// SPDX-License-Identifier: Apache-2.0
// The judge's process with a candidate that never ends: it must be stopped from outside.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/subprocess.h"
#include "judge/request_json.h"

namespace ako {
namespace {

using nlohmann::json;

JudgeRequest endless() {
  JudgeRequest request;
  request.problem_text =
      "problem: copy\ndims: {N: n}\ntensors:\n  x: {type: f32, shape: [N]}\n  y: {type: f32, shape: [N]}\n"
      "math: |\n  y[i] = x[i]\nshapes:\n  - {N: 4}\ntolerance: {snr_db: 100}\n";
  request.candidate.sources = {
      {"copy.cpp",
       "#include <cstdint>\nextern \"C\" void copy(const float*, float* y, std::int64_t) {\n"
       "  for (;;) *const_cast<volatile float*>(y) = 1;\n}\n"}};
  request.candidate.plan = parse_launch_plan("launches: [{kernel: copy, args: [x, y, N]}]", "plan").value();
  return request;
}

/// A judge whose candidate has begun to run.
LineProcess busy_judge() {
  Command command;
  command.argv = {(std::filesystem::path(AKO_BINARY_DIR) / "bin/ako").string(), "judge", "--end-with-input"};
  LineProcess judge = LineProcess::start(command).value();
  EXPECT_TRUE(judge.receive(Seconds(30)));
  EXPECT_TRUE(judge.send(json{{"id", 1}, {"method", "judge"}, {"params", to_json(endless())}}.dump()));
  while (auto line = judge.receive(Seconds(60)))
    if (json::parse(*line).value("progress", "").starts_with("check")) return judge;
  ADD_FAILURE() << "the judge never came to the check";
  return judge;
}

/// The next reply that is no progress.
json reply(LineProcess& judge) {
  while (auto line = judge.receive(Seconds(5)))
    if (json message = json::parse(*line); !message.contains("progress")) return message;
  return nullptr;
}

TEST(JudgeProcess, AnswersACancelWithinASecond) {
  LineProcess judge = busy_judge();
  Stopwatch watch;
  ASSERT_TRUE(judge.send(R"({"id":2,"method":"cancel","params":{"id":1}})"));
  EXPECT_EQ(reply(judge), (json{{"id", 1}, {"cancelled", true}}));
  EXPECT_LT(watch.elapsed().count(), 1);
  EXPECT_EQ(reply(judge), (json{{"id", 2}, {"result", "cancelled"}}));
  ASSERT_TRUE(judge.send(R"({"id":3,"method":"ping"})"));
  EXPECT_EQ(reply(judge), (json{{"id", 3}, {"result", "pong"}}));
}

TEST(JudgeProcess, EndsWithItsInputInTheMiddleOfAJudgement) {
  LineProcess judge = busy_judge();
  Exit exit = judge.close(Seconds(3));
  EXPECT_FALSE(exit.timed_out);
  EXPECT_EQ(exit.code, 0);
}

}  // namespace
}  // namespace ako
