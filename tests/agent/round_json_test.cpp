// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "agent/agent.h"

namespace ako {
namespace {

Candidate some_candidate(const std::string& text) {
  Candidate candidate;
  candidate.sources = {{"kernel.cpp", text}};
  candidate.plan.launches = {{.kernel = "k", .args = {"x", "y"}}};
  candidate.tunables = {{"BLOCK", 16}};
  return candidate;
}

RoundRecord full_round() {
  RoundRecord round;
  round.number = 4;
  round.parent = 2;
  round.proposal = {"Because.",
                    "unroll: 1 → 2",
                    Bucket::k2_layout,
                    0.125,
                    "time falls",
                    some_candidate("a"),
                    {{"unroll=2", some_candidate("a")}, {"unroll=4", some_candidate("b")}},
                    "unroll=2\nunroll=4"};
  round.verdict.candidate = some_candidate("b").id();
  Wrong wrong;
  wrong.shape = "T=8";
  wrong.index = {3, 17};
  wrong.expected = 0.5;
  round.verdict.outcome = wrong;
  round.confirmation = Verdict{};
  round.confirmation->against_incumbent.emplace();
  round.confirmation->against_incumbent->bound = {-0.12, -0.08};
  round.sweep = {{"unroll=2", some_candidate("a").id(), "correct", -0.05, 12.5},
                 {"unroll=4", some_candidate("b").id(), "wrong", 0, 0}};
  round.decision = RoundDecision::accepted_trade_off;
  round.reason = "It is faster, “and” smaller.";
  round.score = 1.75;
  round.started = "2026-11-21 10:00:00";
  round.ended = "2026-11-21 10:00:03";
  round.seconds = 3.25;
  return round;
}

TEST(RoundJson, BringsEverythingBack) {
  auto json = to_json(full_round());
  auto back = round_from_json(json);
  ASSERT_TRUE(back) << to_text(back.error());
  EXPECT_EQ(to_json(*back), json);
  RoundRecord round = full_round();
  EXPECT_EQ(back->proposal.hypothesis, round.proposal.hypothesis);
  EXPECT_EQ(back->proposal.bucket, round.proposal.bucket);
  EXPECT_EQ(back->proposal.candidate, round.proposal.candidate);
  ASSERT_EQ(back->proposal.sweep.size(), 2u);
  EXPECT_EQ(back->proposal.sweep[1].candidate.id(), round.proposal.sweep[1].candidate.id());
  EXPECT_EQ(back->proposal.tag, round.proposal.tag);
  EXPECT_EQ(std::get<Wrong>(back->verdict.outcome).index, (std::vector<std::int64_t>{3, 17}));
  ASSERT_TRUE(back->confirmation);
  EXPECT_EQ(back->confirmation->against_incumbent->bound.low, -0.12);
  EXPECT_EQ(back->sweep[0].candidate, round.sweep[0].candidate);
  EXPECT_EQ(back->sweep[0].estimate_us, 12.5);
  EXPECT_EQ(back->decision, RoundDecision::accepted_trade_off);
  EXPECT_EQ(back->seconds, 3.25);
}

TEST(RoundJson, SurvivesItsTextForm) {
  auto text = to_json(full_round()).dump();
  auto back = round_from_json(nlohmann::json::parse(text));
  ASSERT_TRUE(back);
  EXPECT_EQ(to_json(*back).dump(), text);
}

TEST(RoundJson, RefusesDamage) {
  EXPECT_EQ(round_from_json("nonsense").error().kind, ErrorKind::corrupt);
  for (const char* key : {"proposal", "verdict", "decision"}) {
    auto json = to_json(full_round());
    json.erase(key);
    EXPECT_FALSE(round_from_json(json)) << key;
  }
  auto json = to_json(full_round());
  json["sweep"][0]["candidate"] = "12";
  EXPECT_EQ(round_from_json(json).error().kind, ErrorKind::corrupt);
}

TEST(Agents, AreMadeByName) {
  auto search = make_agent("search", {});
  ASSERT_TRUE(search);
  EXPECT_EQ((*search)->name(), "search");
  auto missing = make_agent("oracle", {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::invalid_input);
  EXPECT_NE(missing.error().advice.find("search"), std::string::npos);
}

}  // namespace
}  // namespace ako
