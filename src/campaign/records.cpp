// SPDX-License-Identifier: Apache-2.0
#include "campaign/records.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/version.h"
#include "campaign/json_text.h"

namespace ako {
namespace fs = std::filesystem;
namespace {

// state: one row per fact of the campaign. rounds: closed ones; `record` is RoundRecord's JSON with sources
// replaced by the hashes of their blobs. judgements: every answer of the judge, in order. open_round: at most
// one row.
const Schema schema{
    "campaign",
    {"CREATE TABLE state(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
     "CREATE TABLE rounds(number INTEGER PRIMARY KEY, parent INTEGER NOT NULL, decision TEXT NOT NULL,"
     "  score REAL NOT NULL, seconds REAL NOT NULL, record TEXT NOT NULL);"
     "CREATE TABLE judgements(id INTEGER PRIMARY KEY, round INTEGER NOT NULL, kind TEXT NOT NULL,"
     "  label TEXT NOT NULL, candidate TEXT NOT NULL, outcome TEXT NOT NULL, verdict TEXT NOT NULL);"
     "CREATE INDEX judgements_of_round ON judgements(round);"
     "CREATE TABLE open_round(one INTEGER PRIMARY KEY CHECK(one = 1), number INTEGER NOT NULL,"
     "  started TEXT NOT NULL)"}};

Result<nlohmann::json> parse(const std::string& text, const fs::path& folder) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded())
    return fail(ErrorKind::corrupt,
                fmt::format("a record in {} is damaged", (folder / "campaign.db").string()));
  return json;
}

nlohmann::json json_of(const Tip& tip) {
  nlohmann::json json{{"target", tip.target},
                      {"op", tip.op},
                      {"pattern", tip.pattern},
                      {"backend", tip.backend},
                      {"language", tip.language},
                      {"device", tip.device},
                      {"campaign", tip.campaign},
                      {"round", tip.round},
                      {"time", tip.time},
                      {"accepted", tip.accepted},
                      {"change", tip.change},
                      {"context", tip.context},
                      {"signal", tip.signal},
                      {"takeaway", tip.takeaway},
                      {"applicability", tip.applicability}};
  if (tip.log_ratio) json["log_ratio"] = *tip.log_ratio;
  return json;
}

Tip tip_from(const nlohmann::json& json) {
  auto text = [&](const char* name) { return json.value(name, std::string()); };
  Tip tip{text("target"),   text("op"),
          text("pattern"),  text("backend"),
          text("language"), text("device"),
          text("campaign"), json.value("round", 0),
          text("time"),     json.value("accepted", false),
          text("change"),   {},
          text("context"),  text("signal"),
          text("takeaway"), text("applicability")};
  if (json.contains("log_ratio")) tip.log_ratio = json["log_ratio"].get<double>();
  return tip;
}

Validation::Result validation_from(const std::string& name) {
  for (auto result : {Validation::Result::passed, Validation::Result::failed})
    if (name_of(result) == name) return result;
  return Validation::Result::not_made;
}

bool is_source(const nlohmann::json& json) {
  return json.is_object() && json.contains("path") && json.contains("text") && json["text"].is_string();
}

/// Calls `visit` on every object that satisfies `wanted`, depth first.
template <class Wanted, class Visit>
Result<void> for_each_object(nlohmann::json& json, const Wanted& wanted, const Visit& visit) {
  if (wanted(json)) return visit(json);
  if (json.is_structured())
    for (auto& item : json) AKO_CHECK(for_each_object(item, wanted, visit));
  return {};
}

Result<Phase> phase_from(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(Phase::done); ++i)
    if (name_of(static_cast<Phase>(i)) == name) return static_cast<Phase>(i);
  return fail(ErrorKind::corrupt, fmt::format("the campaign is in an unknown phase '{}'", name));
}

Result<Trust> trust_from(const std::string& name) {
  for (Trust trust : {Trust::device_only, Trust::isolated, Trust::unconfined, Trust::reported})
    if (name_of(trust) == name) return trust;
  return fail(ErrorKind::corrupt, fmt::format("unknown trust '{}'", name));
}

}  // namespace

std::string_view name_of(Phase phase) {
  switch (phase) {
    case Phase::define_target:
      return "DEFINE_TARGET";
    case Phase::prepare_environment:
      return "PREPARE_ENVIRONMENT";
    case Phase::read_historical_tips:
      return "READ_HISTORICAL_TIPS";
    case Phase::baseline:
      return "BASELINE";
    case Phase::analyze:
      return "ANALYZE";
    case Phase::optimize:
      return "OPTIMIZE";
    case Phase::validate:
      return "VALIDATE";
    case Phase::report:
      return "REPORT";
    case Phase::done:
      return "DONE";
  }
  return "DONE";
}

std::string_view name_of(Validation::Result result) {
  switch (result) {
    case Validation::Result::passed:
      return "PASS";
    case Validation::Result::failed:
      return "FAIL";
    case Validation::Result::not_made:
      return "NOT MADE";
  }
  return "NOT MADE";
}

// ---- JSON with sources kept as blobs ----

/// {"path", "text"} becomes {"path", "blob"}: the sources of a sweep's variants are mostly the same.
Result<std::string> CampaignStore::pack(const nlohmann::json& record) {
  nlohmann::json json = record;
  AKO_CHECK(for_each_object(json, is_source, [&](nlohmann::json& source) -> Result<void> {
    AKO_TRY(Hash hash, database_.put_blob(source["text"].get<std::string>()));
    source.erase("text");
    source["blob"] = hash.hex();
    return {};
  }));
  return compact_text(json);
}

Result<nlohmann::json> CampaignStore::unpack(const std::string& text) {
  AKO_TRY(nlohmann::json json, parse(text, folder_));
  auto is_packed = [](const nlohmann::json& one) {
    return one.is_object() && one.contains("path") && one.contains("blob") && one["blob"].is_string();
  };
  AKO_CHECK(for_each_object(json, is_packed, [&](nlohmann::json& source) -> Result<void> {
    Hash hash;
    if (!Hash::parse(source["blob"].get<std::string>(), hash))
      return fail(ErrorKind::corrupt, "a source has no valid hash");
    AKO_TRY(source["text"], database_.get_blob(hash));
    source.erase("blob");
    return {};
  }));
  return json;
}

// ---- state ----

Result<void> CampaignStore::put(std::string_view key, std::string_view value) {
  AKO_TRY(Query query,
          database_.prepare("INSERT INTO state VALUES(?1, ?2) ON CONFLICT(key) DO UPDATE SET value = ?2"));
  return query.bind(1, key).bind(2, value).finish();
}

Result<std::optional<std::string>> CampaignStore::get(std::string_view key) {
  AKO_TRY(Query query, database_.prepare("SELECT value FROM state WHERE key = ?"));
  AKO_TRY(bool found, query.bind(1, key).step());
  if (!found) return std::nullopt;
  return query.text(0);
}

Result<void> CampaignStore::put_seconds(double seconds) {
  return put("seconds", fmt::format("{:.3f}", seconds));
}

Result<CampaignStore> CampaignStore::create(const fs::path& folder, const Manifest& manifest,
                                            const std::string& problem_text, const fs::path& problem_path) {
  AKO_TRY(Database database, Database::open(folder / "campaign.db", {schema}));
  CampaignStore store(std::move(database), folder);
  Result<void> written = store.database_.transaction([&]() -> Result<void> {
    AKO_TRY(std::optional<std::string> existing, store.get("manifest"));
    if (existing)
      return fail(ErrorKind::conflict, fmt::format("{} holds a campaign already", folder.string()),
                  fmt::format("go on with it by: ako resume {}", folder.string()));
    AKO_CHECK(store.put("manifest", to_yaml(manifest)));
    AKO_CHECK(store.put("problem_text", problem_text));
    AKO_CHECK(store.put("problem_path", problem_path.string()));
    AKO_CHECK(store.put("ako_version", version));
    return store.put("phase", name_of(Phase::define_target));
  });
  if (!written) return std::unexpected(written.error());
  return store;
}

Result<CampaignStore> CampaignStore::open(const fs::path& folder, OpenMode mode) {
  std::error_code ignored;
  if (!fs::exists(folder / "campaign.db", ignored))
    return fail(ErrorKind::not_found, fmt::format("{} holds no campaign", folder.string()),
                "'ako list' shows those there are");
  AKO_TRY(Database database, Database::open(folder / "campaign.db", {schema}, mode));
  return CampaignStore(std::move(database), folder);
}

Result<fs::path> CampaignStore::problem_path() {
  AKO_TRY(std::optional<std::string> path, get("problem_path"));
  return fs::path(path.value_or(""));
}

Result<CampaignRecord> CampaignStore::load() {
  CampaignRecord record;
  record.folder = folder_;
  std::map<std::string, std::string> state;
  AKO_TRY(Query rows, database_.prepare("SELECT key, value FROM state"));
  while (true) {
    AKO_TRY(bool more, rows.step());
    if (!more) break;
    state[rows.text(0)] = rows.text(1);
  }
  if (!state.contains("manifest"))
    return fail(ErrorKind::corrupt,
                fmt::format("making the campaign {} did not come to its end", folder_.string()),
                "nothing was measured yet: delete the folder and start again");
  auto manifest = parse_manifest(state["manifest"], (folder_ / "campaign.db").string());
  if (!manifest) return std::unexpected(manifest.error().front());
  record.manifest = *manifest;
  record.problem_text = state["problem_text"];
  record.ako_version = state["ako_version"];
  record.machine = state["machine"];
  record.termination = state["termination"];
  AKO_TRY(record.phase, phase_from(state["phase"]));
  if (const std::string& text = state["seconds"]; !text.empty())
    std::from_chars(text.data(), text.data() + text.size(), record.seconds);
  if (state.contains("facts")) {
    AKO_TRY(nlohmann::json facts, parse(state["facts"], folder_));
    AKO_TRY(record.facts, target_facts_from_json(facts));
    AKO_TRY(record.trust, trust_from(state["trust"]));
  }
  if (state.contains("final")) {
    AKO_TRY(nlohmann::json verdict, unpack(state["final"]));
    AKO_TRY(record.final_verdict, verdict_from_json(verdict));
  }
  if (state.contains("baseline")) {
    AKO_TRY(nlohmann::json candidate, unpack(state["baseline"]));
    AKO_TRY(record.given_baseline, candidate_from_json(candidate));
  }
  if (state.contains("tips")) {
    AKO_TRY(nlohmann::json tips, parse(state["tips"], folder_));
    for (const auto& tip : tips) record.tips.push_back(tip_from(tip));
  }
  if (state.contains("validations")) {
    AKO_TRY(nlohmann::json all, parse(state["validations"], folder_));
    for (const auto& one : all)
      record.validations.push_back(
          {one.value("round", 0), validation_from(one.value("result", "")), one.value("outcome", "")});
  }
  if (state.contains("library")) {
    AKO_TRY(nlohmann::json library, unpack(state["library"]));
    record.library.emplace().reason = library.value("reason", "");
    if (library.contains("verdict")) {
      AKO_TRY(record.library->verdict, verdict_from_json(library["verdict"]));
    }
  }
  AKO_TRY(Query rounds, database_.prepare("SELECT record FROM rounds ORDER BY number"));
  while (true) {
    AKO_TRY(bool more, rounds.step());
    if (!more) return record;
    AKO_TRY(nlohmann::json json, unpack(rounds.text(0)));
    AKO_TRY(RoundRecord round, round_from_json(json));
    record.rounds.push_back(std::move(round));
  }
}

Result<std::vector<Judgement>> CampaignStore::judgements(int round) {
  std::vector<Judgement> all;
  AKO_TRY(Query rows,
          database_.prepare("SELECT kind, label, verdict FROM judgements WHERE round = ? ORDER BY id"));
  rows.bind(1, std::int64_t{round});
  while (true) {
    AKO_TRY(bool more, rows.step());
    if (!more) return all;
    AKO_TRY(nlohmann::json json, unpack(rows.text(2)));
    AKO_TRY(Verdict verdict, verdict_from_json(json));
    all.push_back({rows.text(0), rows.text(1), std::move(verdict)});
  }
}

Result<std::optional<OpenRound>> CampaignStore::open_round() {
  AKO_TRY(Query query, database_.prepare("SELECT number, started FROM open_round"));
  AKO_TRY(bool found, query.step());
  if (!found) return std::nullopt;
  return OpenRound{static_cast<int>(query.integer(0)), query.text(1)};
}

// ---- steps ----

Result<void> CampaignStore::set_phase(Phase phase, double seconds) {
  return database_.transaction([&]() -> Result<void> {
    AKO_CHECK(put_seconds(seconds));
    return put("phase", name_of(phase));
  });
}

Result<void> CampaignStore::set_environment(const TargetFacts& facts, Trust trust,
                                            const std::string& machine) {
  return database_.transaction([&]() -> Result<void> {
    AKO_CHECK(put("facts", compact_text(to_json(facts))));
    AKO_CHECK(put("trust", name_of(trust)));
    return put("machine", machine);
  });
}

Result<void> CampaignStore::set_baseline(const Candidate& candidate) {
  return database_.transaction([&]() -> Result<void> {
    AKO_TRY(std::string text, pack(to_json(candidate)));
    return put("baseline", text);
  });
}

Result<void> CampaignStore::set_tips(std::span<const Tip> tips) {
  nlohmann::json all = nlohmann::json::array();
  for (const Tip& tip : tips) all.push_back(json_of(tip));
  return database_.transaction([&] { return put("tips", compact_text(all)); });
}

Result<void> CampaignStore::set_manifest(const Manifest& manifest) {
  return database_.transaction([&] { return put("manifest", to_yaml(manifest)); });
}

Result<void> CampaignStore::set_library(const LibraryComparison& comparison) {
  nlohmann::json json{{"reason", comparison.reason}};
  if (comparison.verdict) json["verdict"] = to_json(*comparison.verdict);
  return database_.transaction([&]() -> Result<void> {
    AKO_TRY(std::string text, pack(json));
    return put("library", text);
  });
}

Result<void> CampaignStore::reopen() {
  return database_.transaction([&]() -> Result<void> {
    AKO_CHECK(database_.execute("DELETE FROM state WHERE key IN ('termination', 'final', 'library')"));
    return put("phase", name_of(Phase::analyze));
  });
}

Result<void> CampaignStore::begin_round(int number, const std::string& started) {
  return database_.transaction([&]() -> Result<void> {
    AKO_TRY(Query insert, database_.prepare("INSERT INTO open_round VALUES(1, ?, ?)"));
    AKO_CHECK(insert.bind(1, std::int64_t{number}).bind(2, started).finish());
    return put("phase", name_of(number == 1 ? Phase::baseline : Phase::optimize));
  });
}

Result<void> CampaignStore::add_judgement(int round, const Judgement& judgement) {
  AKO_TRY(Query insert,
          database_.prepare("INSERT INTO judgements(round, kind, label, candidate, outcome, verdict) "
                            "VALUES(?, ?, ?, ?, ?, ?)"));
  AKO_TRY(std::string text, pack(to_json(judgement.verdict)));
  return insert.bind(1, std::int64_t{round})
      .bind(2, judgement.kind)
      .bind(3, judgement.label)
      .bind(4, judgement.verdict.candidate.hex())
      .bind(5, name_of(judgement.verdict.outcome))
      .bind(6, text)
      .finish();
}

Result<void> CampaignStore::close_round(const RoundRecord& round, std::span<const Judgement> judgements,
                                        double seconds) {
  return database_.transaction([&]() -> Result<void> {
    AKO_TRY(std::string text, pack(to_json(round)));
    AKO_TRY(Query insert, database_.prepare("INSERT INTO rounds VALUES(?, ?, ?, ?, ?, ?)"));
    AKO_CHECK(insert.bind(1, std::int64_t{round.number})
                  .bind(2, std::int64_t{round.parent})
                  .bind(3, name_of(round.decision))
                  .bind(4, round.score)
                  .bind(5, round.seconds)
                  .bind(6, text)
                  .finish());
    for (const Judgement& judgement : judgements) AKO_CHECK(add_judgement(round.number, judgement));
    AKO_CHECK(database_.execute("DELETE FROM open_round"));
    AKO_CHECK(put_seconds(seconds));
    return put("phase", name_of(Phase::analyze));
  });
}

Result<void> CampaignStore::discard_open_round(double seconds) {
  return database_.transaction([&]() -> Result<void> {
    AKO_CHECK(database_.execute("DELETE FROM open_round"));
    return put_seconds(seconds);
  });
}

Result<void> CampaignStore::finish(const std::string& termination, std::span<const Judgement> verifications,
                                   std::span<const Validation> validations, double seconds) {
  nlohmann::json all = nlohmann::json::array();
  for (const Validation& one : validations)
    all.push_back({{"round", one.round}, {"result", name_of(one.result)}, {"outcome", one.outcome}});
  return database_.transaction([&]() -> Result<void> {
    for (const Judgement& judgement : verifications) AKO_CHECK(add_judgement(0, judgement));
    AKO_CHECK(put("validations", compact_text(all)));
    if (!verifications.empty() && verifications.back().verdict.correct()) {
      AKO_TRY(std::string text, pack(to_json(verifications.back().verdict)));
      AKO_CHECK(put("final", text));
    }
    AKO_CHECK(put("termination", termination));
    AKO_CHECK(put_seconds(seconds));
    return put("phase", name_of(Phase::done));
  });
}

}  // namespace ako
