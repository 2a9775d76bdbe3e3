// SPDX-License-Identifier: Apache-2.0
#include "campaign/experience.h"

#include <fmt/format.h>

#include <cmath>

#include "base/files.h"
#include "base/text.h"
#include "campaign/append_log.h"
#include "campaign/layout.h"
#include "campaign/metrics.h"
#include "campaign/ruling.h"
#include "problem/cost.h"
#include "store/database.h"

namespace ako {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t most_recalled = 40;

const Schema schema{"experience",
                    {"CREATE TABLE tips(target TEXT NOT NULL, op TEXT NOT NULL, pattern TEXT NOT NULL,"
                     "  backend TEXT NOT NULL, language TEXT NOT NULL, device TEXT NOT NULL,"
                     "  campaign TEXT NOT NULL, round INTEGER NOT NULL, time TEXT NOT NULL,"
                     "  accepted INTEGER NOT NULL, change TEXT NOT NULL, log_ratio REAL,"
                     "  context TEXT NOT NULL, signal TEXT NOT NULL, takeaway TEXT NOT NULL,"
                     "  applicability TEXT NOT NULL, PRIMARY KEY(campaign, round));"
                     "CREATE INDEX tips_by_kind ON tips(target, language, pattern)"}};

constexpr std::string_view columns =
    "target, op, pattern, backend, language, device, campaign, round, time, accepted, change, log_ratio, "
    "context, signal, takeaway, applicability";

fs::path database_of(const fs::path& experience) { return experience / "tips.db"; }

Result<std::vector<Tip>> read_all(Query& rows) {
  std::vector<Tip> tips;
  while (true) {
    AKO_TRY(bool more, rows.step());
    if (!more) return tips;
    Tip tip{rows.text(0),  rows.text(1),         rows.text(2),  rows.text(3),
            rows.text(4),  rows.text(5),         rows.text(6),  static_cast<int>(rows.integer(7)),
            rows.text(8),  rows.integer(9) != 0, rows.text(10), {},
            rows.text(12), rows.text(13),        rows.text(14), rows.text(15)};
    if (!rows.is_null(11)) tip.log_ratio = rows.real(11);
    tips.push_back(std::move(tip));
  }
}

Result<void> put(Database& database, const Tip& tip) {
  AKO_TRY(Query insert,
          database.prepare(fmt::format(
              "INSERT OR REPLACE INTO tips({}) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", columns)));
  insert.bind(1, tip.target).bind(2, tip.op).bind(3, tip.pattern).bind(4, tip.backend).bind(5, tip.language);
  insert.bind(6, tip.device).bind(7, tip.campaign).bind(8, std::int64_t{tip.round}).bind(9, tip.time);
  insert.bind(10, std::int64_t{tip.accepted}).bind(11, tip.change);
  if (tip.log_ratio)
    insert.bind(12, *tip.log_ratio);
  else
    insert.bind_null(12);
  return insert.bind(13, tip.context)
      .bind(14, tip.signal)
      .bind(15, tip.takeaway)
      .bind(16, tip.applicability)
      .finish();
}

// ---- what a round teaches ----

/// Measured against the round that it changed; nullopt: not timed, or wrong.
std::optional<double> measured(const RoundRecord& round) {
  const Verdict& verdict = widest_verdict(round);
  return verdict.correct() ? log_ratio_of(verdict) : std::nullopt;
}

bool teaches(const RoundRecord& round) {
  if (round.decision == RoundDecision::baseline || std::holds_alternative<Rejected>(round.verdict.outcome))
    return false;
  return conclusive(round);
}

std::string takeaway_of(const Tip& tip, const RoundRecord& round) {
  if (!round.verdict.correct()) return fmt::format("does not work: {}", to_text(round.verdict.outcome));
  if (tip.accepted) return fmt::format("worth {:.1f} % of the time", -100 * std::expm1(*tip.log_ratio));
  return round.reason;
}

Tip tip_of(const CampaignRecord& record, const Problem& problem, const RoundRecord& round) {
  const Manifest& manifest = record.manifest;
  Tip tip{manifest.target_gpu,
          manifest.target_op,
          std::string(name_of(pattern_of(problem))),
          manifest.target_backend,
          manifest.target_lang,
          record.machine,
          record.folder.filename().string(),
          round.number,
          round.ended,
          false,
          round.proposal.change,
          measured(round),
          {},
          {},
          {},
          {}};
  tip.accepted = round.decision != RoundDecision::rolled_back && !failed_validation(record, round.number) &&
                 tip.log_ratio;
  tip.context = round.proposal.hypothesis;
  tip.signal = bottleneck_of(problem, record.facts, widest_verdict(round)).explanation;
  tip.takeaway = takeaway_of(tip, round);
  tip.applicability = fmt::format("{} kernels in {} on {}", tip.pattern, tip.language, record.machine);
  return tip;
}

// ---- tips.md ----

std::string line(std::string_view text) {
  std::string flat = printable(text);
  for (char& c : flat)
    if (c == '\n') c = ' ';
  return flat.empty() ? "-" : flat;
}

LogEntry entry_of(const Tip& tip) {
  std::string name = fmt::format("{} round-{}", printable(tip.campaign), tip.round);
  std::string begin = fmt::format("<!-- {} -->\n", name), end = fmt::format("<!-- end of {} -->\n", name);
  return {
      begin, end,
      fmt::format("{}### {} round-{} — {}\n\n- Context: {} Change: {}\n- Signal: {}\n- Takeaway: {}\n"
                  "- Applicability: {}\n{}\n",
                  begin, tip.time, tip.round, tip.accepted ? "ACCEPTED" : "ROLLED BACK", line(tip.context),
                  line(tip.change), line(tip.signal), line(tip.takeaway), line(tip.applicability), end)};
}

Result<void> write_markdown(const fs::path& experience, std::span<const Tip> tips) {
  if (tips.empty()) return {};
  const Tip& first = tips.front();  // of one campaign: all have the same place
  fs::path folder = experience / layout::path_word(first.target) / layout::path_word(first.op) /
                    layout::path_word(first.backend);
  AKO_CHECK(create_folders(folder));
  std::vector<LogEntry> entries;
  for (const Tip& tip : tips) entries.push_back(entry_of(tip));
  return sync_log(folder / "tips.md",
                  fmt::format("# Tips: {} ({}, {})\n\n", printable(first.op), printable(first.backend),
                              printable(first.target)),
                  entries);
}

}  // namespace

fs::path experience_folder(const fs::path& workspace) {
  fs::path whole = fs::absolute(workspace).lexically_normal();
  if (whole.filename().empty()) whole = whole.parent_path();  // "DIR/"
  return (whole.filename() == "workspace" ? whole.parent_path() : whole) / "historical_experience";
}

std::vector<Tip> tips_of(const CampaignRecord& record, const Problem& problem) {
  std::vector<Tip> tips;
  for (const RoundRecord& round : record.rounds)
    if (teaches(round)) tips.push_back(tip_of(record, problem, round));
  return tips;
}

Result<std::vector<Tip>> recall_tips(const fs::path& experience, const CampaignRecord& record,
                                     const Problem& problem) {
  std::error_code ignored;
  if (!fs::exists(database_of(experience), ignored)) return std::vector<Tip>();
  AKO_TRY(Database database, Database::open(database_of(experience), {schema}, OpenMode::read_only));
  AKO_TRY(Query rows,
          database.prepare(fmt::format(
              "SELECT {} FROM tips WHERE target = ?1 AND language = ?2 AND pattern = ?3 AND campaign != ?4 "
              "ORDER BY op = ?5 DESC, time DESC, round DESC LIMIT ?6",
              columns)));
  rows.bind(1, record.manifest.target_gpu)
      .bind(2, record.manifest.target_lang)
      .bind(3, name_of(pattern_of(problem)));
  rows.bind(4, record.folder.filename().string()).bind(5, record.manifest.target_op).bind(6, most_recalled);
  return read_all(rows);
}

Result<std::vector<Tip>> all_tips(const fs::path& experience) {
  std::error_code ignored;
  if (!fs::exists(database_of(experience), ignored)) return std::vector<Tip>();
  AKO_TRY(Database database, Database::open(database_of(experience), {schema}, OpenMode::read_only));
  AKO_TRY(Query rows,
          database.prepare(fmt::format("SELECT {} FROM tips ORDER BY time DESC, round DESC", columns)));
  return read_all(rows);
}

Result<void> keep_tips(const fs::path& experience, std::span<const Tip> tips) {
  if (tips.empty()) return {};
  AKO_CHECK(create_folders(experience));
  AKO_TRY(Database database, Database::open(database_of(experience), {schema}));
  Result<void> kept = database.transaction([&]() -> Result<void> {
    for (const Tip& tip : tips) AKO_CHECK(put(database, tip));
    return {};
  });
  if (!kept) return kept;
  return write_markdown(experience, tips);
}

std::string to_text(const Tip& tip) {
  std::string what = !tip.log_ratio ? "failed"
                     : tip.accepted ? fmt::format("{:.3f}× faster", std::exp(-*tip.log_ratio))
                                    : fmt::format("{:.3f}×, not kept", std::exp(-*tip.log_ratio));
  return fmt::format("{}: {} ({}, round {} of {})", what, line(tip.change), printable(tip.op), tip.round,
                     printable(tip.campaign));
}

}  // namespace ako
