// SPDX-License-Identifier: Apache-2.0
#include "campaign/projections.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "campaign/engine.h"
#include "campaign/json_text.h"
#include "campaign/layout.h"

namespace ako {
namespace fs = std::filesystem;
namespace {

bool present(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

Result<void> write_if_missing(const fs::path& path, const std::string& content) {
  if (present(path)) return {};
  return write_file(path, content);
}

/// The folder appears whole or not at all: made under another name, then renamed.
Result<void> replace_folder(const fs::path& folder, const Candidate& candidate, const std::string& note) {
  fs::path fresh = folder.parent_path() / fmt::format(".{}.{}.tmp", folder.filename().string(), ::getpid());
  std::error_code code;
  fs::remove_all(fresh, code);
  AKO_CHECK(save_candidate(candidate, fresh));
  if (!note.empty()) AKO_CHECK(write_file(fresh / "README.md", note));
  fs::remove_all(folder, code);
  fs::rename(fresh, folder, code);
  if (code)
    return fail(ErrorKind::io, fmt::format("cannot rename onto {}: {}", folder.string(), code.message()));
  return {};
}

/// summary.md is written last: with it the folder is complete.
Result<void> write_round(const CampaignRecord& record, const Problem& problem, const RoundRecord& round,
                         CampaignStore& store) {
  fs::path folder = layout::round(record.folder, round.number);
  if (present(folder / "summary.md") && present(folder / "kernel_snapshot")) return {};
  AKO_CHECK(replace_folder(folder / "kernel_snapshot", round.proposal.candidate, ""));
  AKO_CHECK(write_file(folder / "artifacts/verdict.json", indented_text(to_json(round.verdict))));
  AKO_TRY(std::vector<Judgement> judgements, store.judgements(round.number));
  nlohmann::json all = nlohmann::json::array();
  for (const Judgement& one : judgements)
    all.push_back({{"kind", one.kind}, {"label", one.label}, {"verdict", to_json(one.verdict)}});
  AKO_CHECK(write_file(folder / "artifacts/judgements.json", indented_text(all)));
  return write_file(folder / "summary.md", round_summary(record, problem, round));
}

Result<void> write_best(const CampaignRecord& record) {
  const RoundRecord* best = best_round(record);
  if (!best) return {};
  std::string note = fmt::format("The best kernel of this campaign: round {}, candidate {}.\n", best->number,
                                 best->verdict.candidate.short_hex());
  auto note_there = read_file(layout::best(record.folder) / "README.md");
  if (note_there && *note_there == note) return {};
  return replace_folder(layout::best(record.folder), best->proposal.candidate, note);
}

}  // namespace

Result<void> write_projections(const CampaignRecord& record, const Problem& problem, CampaignStore& store) {
  std::string manifest = to_yaml(record.manifest);
  if (auto there = read_file(record.folder / "manifest.yaml"); !there || *there != manifest)
    AKO_CHECK(write_file(record.folder / "manifest.yaml", manifest));
  AKO_CHECK(write_if_missing(record.folder / "problem.yaml", record.problem_text));
  AKO_CHECK(create_folders(record.folder / "profiles"));
  for (const RoundRecord& round : record.rounds) AKO_CHECK(write_round(record, problem, round, store));
  AKO_CHECK(write_best(record));
  AKO_CHECK(
      sync_log(layout::trend_log(record.folder), trend_log_header(), trend_log_entries(record, problem)));
  return sync_log(layout::optimize_log(record.folder), optimize_log_header(record),
                  optimize_log_entries(record, problem));
}

}  // namespace ako
