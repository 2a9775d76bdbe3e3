// SPDX-License-Identifier: Apache-2.0
#include "kernel/candidate.h"

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "kernel/artifact.h"
#include "kernel/softmax_fixture.h"

namespace ako {
namespace {
using nlohmann::json;
using testing::full_plan;
using testing::plan_of;
using testing::scaled_softmax;

Candidate example() {
  Candidate candidate;
  candidate.sources = {{"rows.cpp", "extern \"C\" void rows() {}\n"}, {"detail/part.h", "#pragma once\n"}};
  candidate.plan = plan_of(full_plan);
  candidate.tunables = {{"BLOCK", 256}};
  candidate.flags = {"-funroll-loops"};
  return candidate;
}

class OnDisk : public ::testing::Test {
 protected:
  TemporaryFolder folder_ = TemporaryFolder::create("ako-test").value();
  std::filesystem::path at(std::string_view name) const { return folder_.path() / name; }
  void write(std::string_view name, std::string_view text) { ASSERT_TRUE(write_file(at(name), text)); }
  std::string errors_of(const std::filesystem::path& path) {
    auto candidate = load_candidate(path, scaled_softmax());
    return candidate ? "" : to_text(candidate.error());
  }
};
using CandidateFolder = OnDisk;
using CandidateFile = OnDisk;

TEST(Candidate, IsNamedByItsContentWhateverTheOrderOfItsSources) {
  Candidate one = example(), two = example();
  std::swap(two.sources[0], two.sources[1]);
  EXPECT_EQ(one.id(), two.id());
}

TEST(Candidate, GetsAnotherNameFromAnyChange) {
  Candidate original = example();
  std::vector<Candidate> changed(6, original);
  changed[0].sources[0].text += " ";
  changed[1].sources[0].path = "row.cpp";
  changed[2].tunables["BLOCK"] = 512;
  changed[3].flags.clear();
  changed[4].plan.launches[0].args.push_back("T");
  changed[5].language = Language::hip;
  for (const Candidate& each : changed) EXPECT_NE(each.id(), original.id());
}

TEST(Candidate, SurvivesJson) {
  Candidate candidate = example();
  auto back = candidate_from_json(json::parse(to_json(candidate).dump()));
  ASSERT_TRUE(back) << to_text(back.error());
  EXPECT_EQ(*back, candidate);
  EXPECT_EQ(back->id(), candidate.id());
}

TEST(Candidate, SurvivesJsonWithBytesThatAreNotUtf8) {
  Candidate candidate = example();
  candidate.sources[0].text = "// \xff\xfe caf\xe9\n";
  candidate.flags = {"\xff"};
  std::string text;
  ASSERT_NO_THROW(text = to_json(candidate).dump());
  auto back = candidate_from_json(json::parse(text));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->sources, candidate.sources);
}

TEST(Candidate, RefusesMalformedJson) {
  json good = to_json(example());
  auto broken = [&](const char* key, json value) {
    json changed = good;
    changed[key] = std::move(value);
    return changed;
  };
  std::vector<json> bad = {json(),
                           json(4),
                           json::array(),
                           broken("language", "COBOL"),
                           broken("language", 3),
                           broken("sources", 3),
                           broken("sources", json::array()),
                           broken("sources", {{{"path", "a"}}}),
                           broken("sources", {{{"path", "/a"}, {"text", ""}}}),
                           broken("sources", {{{"path", "a"}, {"hex", "abc"}}}),
                           broken("plan", "launches: 3"),
                           broken("plan", 3),
                           broken("tunables", {{"A", 1.5}}),
                           broken("tunables", {{"A", 18446744073709551615u}}),
                           broken("flags", "-O3"),
                           broken("flags", {3})};
  for (const json& each : bad) EXPECT_FALSE(candidate_from_json(each)) << each.dump();
}

TEST(SourcePath, AcceptsPathsInsideTheCandidate) {
  for (const char* path : {"a.cpp", "detail/rows.h", "a b.cpp", "größe.h", ".hidden", "a..b/c"})
    EXPECT_TRUE(check_source_path(path)) << path;
}

TEST(SourcePath, RefusesWhatCouldLeaveTheCandidate) {
  for (std::string path : {"", "/etc/passwd", "../a", "a/../../b", "a/..", ".", "./a", "a//b", "a/", "-o",
                           "@file", "a\\b", "a\nb", "a\x1b[31m", "\xff.cpp", "\u202Eppc.a"})
    EXPECT_FALSE(check_source_path(path)) << path;
  EXPECT_FALSE(check_source_path(std::string("a\0b", 3)));
  EXPECT_FALSE(check_source_path(std::string(300, 'a')));
  EXPECT_TRUE(check_source_path("d/" + std::string(255, 'a')));
}

TEST_F(CandidateFolder, LoadsWhatWasSaved) {
  Candidate candidate = example();
  ASSERT_TRUE(save_candidate(candidate, at("saved")));
  auto back = load_candidate(at("saved"), scaled_softmax());
  ASSERT_TRUE(back) << to_text(back.error());
  EXPECT_EQ(*back, candidate);
}

TEST_F(CandidateFolder, MayListLaunchesAtItsTop) {
  write("k.cpp", "");
  write("candidate.yaml",
        "sources: [k.cpp]\ntunables: {A: [1, 2], B: 7}\nlaunches: [{kernel: k, args: [x, y, A, B]}]\n");
  auto candidate = load_candidate(at(""), scaled_softmax());
  ASSERT_TRUE(candidate) << to_text(candidate.error());
  EXPECT_EQ(candidate->plan.tunables,
            (std::map<std::string, std::vector<std::int64_t>>{{"A", {1, 2}}, {"B", {7}}}));
  EXPECT_EQ(candidate->tunables, (Bindings{{"B", 7}}));
  EXPECT_TRUE(check_plan(candidate->plan, scaled_softmax(), candidate->tunables));
}

TEST_F(CandidateFolder, GetsTheDefaultPlanWhenItNamesNone) {
  write("k.cpp", "");
  write("candidate.yaml", "sources: [k.cpp]\n");
  EXPECT_EQ(load_candidate(at(""), scaled_softmax())->plan, default_plan(scaled_softmax()));
}

TEST_F(CandidateFolder, RefusesSourcesOutsideOfIt) {
  write("candidate.yaml", "language: CPP\nsources: [../secret.cpp]\n");
  EXPECT_NE(errors_of(at("")).find("cannot be a source's path"), std::string::npos);
}

TEST_F(CandidateFolder, SaysWhichFileItMisses) {
  EXPECT_NE(errors_of(at("")).find("candidate.yaml"), std::string::npos);
  write("candidate.yaml", "language: CPP\nsources: [gone.cpp]\n");
  EXPECT_NE(errors_of(at("")).find("gone.cpp"), std::string::npos);
}

TEST_F(CandidateFile, GetsTheDefaultPlan) {
  write("softmax.cpp", "int x;");
  auto candidate = load_candidate(at("softmax.cpp"), scaled_softmax());
  ASSERT_TRUE(candidate);
  EXPECT_EQ(candidate->language, Language::cpp);
  EXPECT_EQ(candidate->sources, (std::vector<SourceFile>{{"softmax.cpp", "int x;"}}));
  EXPECT_EQ(candidate->plan, default_plan(scaled_softmax()));
}

TEST_F(CandidateFile, UsesThePlanBesideIt) {
  write("softmax.cpp", "");
  write("softmax.plan.yaml", full_plan);
  EXPECT_EQ(load_candidate(at("softmax.cpp"), scaled_softmax())->plan, plan_of(full_plan));
  write("softmax.plan.yaml", "launches: 3");
  EXPECT_NE(errors_of(at("softmax.cpp")).find("softmax.plan.yaml:1"), std::string::npos);
}

TEST_F(CandidateFile, MustSayItsLanguage) {
  write("softmax.txt", "");
  EXPECT_NE(errors_of(at("softmax.txt")).find("says no language"), std::string::npos);
}

TEST(Language, IsFoundByNameInAnyCaseAndByFile) {
  EXPECT_EQ(language_from("cpp"), Language::cpp);
  EXPECT_EQ(language_from("TileLang"), Language::tilelang);
  EXPECT_EQ(language_from("cobol"), std::nullopt);
  EXPECT_EQ(language_of_file("a/b.cc"), Language::cpp);
  EXPECT_EQ(language_of_file("k.cu"), Language::cuda);
  EXPECT_EQ(language_of_file("k.h"), std::nullopt);
  EXPECT_EQ(language_of_file("cpp"), std::nullopt);
  for (Language language : {Language::cpp, Language::cuda, Language::hip, Language::triton, Language::flydsl})
    EXPECT_EQ(language_from(name_of(language)), language);
}

}  // namespace
}  // namespace ako
