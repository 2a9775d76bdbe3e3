// SPDX-License-Identifier: Apache-2.0
#include "campaign/campaign.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"
#include "campaign/engine.h"
#include "campaign/experience.h"
#include "campaign/layout.h"
#include "judge/library.h"
#include "problem/reference_python.h"

namespace ako {
namespace fs = std::filesystem;
namespace {

/// The judge's process, as the engine sees it.
class ProcessJudge : public Arbiter {
 public:
  explicit ProcessJudge(JudgeClient client) : client_(std::move(client)) {}
  Result<Verdict> judge(const JudgeRequest& request, const JudgeClient::Progress& progress) override {
    return client_.judge(request, progress);
  }
  const TargetFacts& facts() const override { return client_.facts(); }
  Trust trust() const override { return client_.trust(); }

 private:
  JudgeClient client_;
};

double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The text of the Python file beside the problem file; empty: the problem has none.
Result<std::string> python_text(const Problem& problem) {
  if (!problem.python_reference) return std::string();
  return read_file(python_file(problem));
}

Result<std::string> library_on(const TargetId& target, const Problem& problem) {
  if (target != "host") return fail(ErrorKind::unsupported, "no library is timed on this target yet");
  AKO_TRY(auto library, library_for(problem));
  return std::string(library->name());
}

}  // namespace

Result<CampaignRecord> read_campaign(const fs::path& folder) {
  AKO_TRY(CampaignStore store, CampaignStore::open(folder, OpenMode::read_only));
  return store.load();
}

Result<fs::path> create_campaign(const Manifest& given, const Problem& problem, const fs::path& workspace,
                                 const std::optional<Candidate>& baseline) {
  Manifest manifest = given;
  if (manifest.target_op.empty()) manifest.target_op = problem.name;
  if (manifest.created.empty()) manifest.created = utc_minute();
  if (!language_from(manifest.target_lang))
    return fail(ErrorKind::unsupported, fmt::format("no language '{}'", printable(manifest.target_lang)));
  std::error_code code;
  fs::path problem_path = problem.path.empty() ? fs::path() : fs::absolute(problem.path, code);
  AKO_TRY(std::string reference, python_text(problem));
  AKO_TRY(fs::path folder, layout::make_folder(manifest, workspace, utc_date()));
  AKO_TRY(CampaignStore store, CampaignStore::create(folder, manifest, problem.source, problem_path));
  if (baseline) AKO_CHECK(store.set_baseline(*baseline));
  AKO_CHECK(write_file(folder / "manifest.yaml", to_yaml(manifest)));
  AKO_CHECK(write_file(folder / "problem.yaml", problem.source));
  if (problem.python_reference) AKO_CHECK(write_file(folder / *problem.python_reference, reference));
  return folder;
}

Result<CampaignRecord> run_campaign(const fs::path& folder, const Listener& listener,
                                    const std::function<bool()>& stop) {
  std::error_code missing;
  if (!fs::exists(layout::database(folder), missing))
    return read_campaign(folder);  // its error says what is missing
  AKO_TRY(OwnerLock lock, OwnerLock::take(layout::lock(folder)));
  AKO_TRY(CampaignStore store, CampaignStore::open(folder, OpenMode::read_write));
  AKO_TRY(CampaignRecord record, store.load());
  if (record.phase == Phase::done) return record;
  AKO_TRY(std::unique_ptr<Agent> agent, make_agent(record.manifest.agent, {record.manifest.seed}));
  JudgeOptions options;
  options.target = record.manifest.target_gpu;
  options.stop = stop;
  AKO_TRY(JudgeClient client, JudgeClient::start(options));
  ProcessJudge judge(std::move(client));
  fs::path experience = experience_folder(fs::absolute(folder).lexically_normal().parent_path());
  Memories memories{[&](const CampaignRecord& asking, const Problem& problem) {
                      return recall_tips(experience, asking, problem);
                    },
                    [&](std::span<const Tip> tips) { return keep_tips(experience, tips); }};
  auto library = [&](const Problem& problem) { return library_on(options.target, problem); };
  return run_engine(store, {judge, *agent, monotonic_seconds, listener, stop, memories, library});
}

Result<void> extend_campaign(const fs::path& folder, double seconds, int rounds) {
  AKO_TRY(CampaignRecord seen, read_campaign(folder));
  AKO_TRY(OwnerLock lock, OwnerLock::take(layout::lock(folder)));
  AKO_TRY(CampaignStore store, CampaignStore::open(folder, OpenMode::read_write));
  AKO_TRY(CampaignRecord record, store.load());
  bool ended = record.phase == Phase::done;
  if (ended && record.rounds.empty())
    return fail(ErrorKind::invalid_input,
                fmt::format("the campaign ended before its first kernel: {}", record.termination),
                "mend that and start a new one with 'ako optimize'");
  int made = static_cast<int>(record.rounds.size());
  Manifest& limits = record.manifest;
  if (seconds > 0) limits.budget_seconds = record.seconds + seconds;
  if (rounds > 0) limits.max_iterations = made + rounds;
  // A limit that has ended it already must not end it again before what was asked for is done.
  bool time_spent = ended || record.seconds >= limits.budget_seconds;
  if (seconds <= 0 && rounds > 0 && time_spent) limits.budget_seconds = 0;
  if (rounds <= 0 && seconds > 0 && made >= limits.max_iterations) limits.max_iterations = 0;
  AKO_CHECK(store.set_manifest(record.manifest));
  if (!ended) return {};
  return store.reopen();
}

std::vector<CampaignSummary> list_campaigns(const fs::path& workspace) {
  std::vector<CampaignSummary> all;
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(workspace, code)) {
    std::error_code ignored;
    if (!fs::exists(layout::database(entry.path()), ignored)) continue;
    CampaignSummary summary;
    summary.folder = entry.path();
    if (auto record = read_campaign(entry.path())) {
      summary.op = record->manifest.target_op;
      summary.target = record->manifest.target_gpu;
      summary.created = record->manifest.created;
      summary.phase = name_of(record->phase);
      summary.rounds = static_cast<int>(record->rounds.size());
      for (const RoundRecord& round : record->rounds)
        summary.accepted +=
            round.decision == RoundDecision::accepted || round.decision == RoundDecision::accepted_trade_off;
      if (const RoundRecord* best = best_round(*record)) summary.best_score = best->score;
      if (record->final_verdict && record->final_verdict->against_incumbent)
        summary.best_score = std::exp(-record->final_verdict->against_incumbent->log_ratio);
    } else {
      summary.phase = record.error().what;
    }
    all.push_back(std::move(summary));
  }
  std::sort(all.begin(), all.end(), [](const CampaignSummary& a, const CampaignSummary& b) {
    return std::tie(b.created, b.folder) < std::tie(a.created, a.folder);
  });
  return all;
}

}  // namespace ako
