// SPDX-License-Identifier: Apache-2.0
#include "report/data.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "campaign/engine.h"
#include "problem/cost.h"
#include "report/diff.h"

namespace ako {
namespace {

using Json = nlohmann::json;

const ShapeTiming* timing_of(const Verdict& verdict, std::string_view shape) {
  for (const ShapeTiming& timing : verdict.timings)
    if (timing.shape == shape) return &timing;
  return nullptr;
}

/// Ratios are stored as log(candidate / incumbent); people read incumbent / candidate.
Interval speedups(Interval log_ratio) { return {std::exp(-log_ratio.high), std::exp(-log_ratio.low)}; }

/// Too few blocks leave an interval open at an end; then there is none to show.
bool bounded(Interval log_ratio) { return std::isfinite(log_ratio.low) && std::isfinite(log_ratio.high); }

void add_timings(ShapeLine& line, const CampaignRecord& record, const RoundRecord* baseline,
                 const RoundRecord* best) {
  if (record.final_verdict) {
    if (const ShapeTiming* timing = timing_of(*record.final_verdict, line.label);
        timing && !timing->incumbent_us.empty()) {
      line.paired = true;
      line.baseline_us = timing->incumbent_median_us;
      line.best_us = timing->candidate_median_us;
      line.baseline_samples_us = timing->incumbent_us;
      line.best_samples_us = timing->candidate_us;
      line.speedup = std::exp(-timing->log_ratio);
      line.speedup_interval = speedups(timing->log_ratio_interval);
      return;
    }
  }
  const ShapeTiming* first = baseline ? timing_of(baseline->verdict, line.label) : nullptr;
  const ShapeTiming* last = best ? timing_of(best->verdict, line.label) : nullptr;
  if (first) {
    line.baseline_us = first->candidate_median_us;
    line.baseline_samples_us = first->candidate_us;
  }
  if (last) {
    line.best_us = last->candidate_median_us;
    line.best_samples_us = last->candidate_us;
  }
  if (first && last && line.best_us > 0) line.speedup = line.baseline_us / line.best_us;
}

void add_library(ShapeLine& line, const CampaignRecord& record) {
  if (!record.library || !record.library->verdict) return;
  const ShapeTiming* timing = timing_of(*record.library->verdict, line.label);
  if (!timing) return;
  line.library_us = timing->candidate_median_us;
  line.library_ratio = std::exp(timing->log_ratio);  // the library is the candidate
  line.library_interval = {std::exp(timing->log_ratio_interval.low),
                           std::exp(timing->log_ratio_interval.high)};
  line.library_samples_us = timing->candidate_us;
}

/// The final verification, or a round's confirmation that stands for it.
std::string basis_of(const CampaignRecord& record, int blocks) {
  for (const RoundRecord& round : record.rounds)
    if (round.confirmation && round.confirmation->seed == record.final_verdict->seed &&
        round.verdict.candidate == record.final_verdict->candidate)
      return fmt::format(
          "the confirmation of round {}, made against the baseline over all shapes in one sitting, {} "
          "blocks: no "
          "time was left for another",
          round.number, blocks);
  return fmt::format("best against baseline, interleaved in one sitting at the full level, {} blocks",
                     blocks);
}

Headline headline_of(const CampaignRecord& record, const RoundRecord* best) {
  if (record.final_verdict && record.final_verdict->against_incumbent) {
    const Comparison& comparison = *record.final_verdict->against_incumbent;
    std::optional<Interval> interval;
    if (bounded(comparison.bound)) interval = speedups(comparison.bound);
    return {std::exp(-comparison.log_ratio), interval, basis_of(record, comparison.blocks)};
  }
  if (!best) return {1, std::nullopt, "nothing was measured yet"};
  return {best->score, std::nullopt,
          "baseline time over best time, from different sittings: no final verification was made"};
}

Json json_of(Interval interval) {
  if (!std::isfinite(interval.low) || !std::isfinite(interval.high) || interval.low <= 0) return nullptr;
  return {interval.low, interval.high};
}

Json json_of(const ShapeLine& line) {
  Json json = {{"label", line.label},
               {"core", line.core},
               {"representative", line.representative},
               {"flops", line.flops},
               {"bytes", line.bytes},
               {"intensity", line.intensity},
               {"roof_us", line.roof_us},
               {"roof_bound", line.roof_bound},
               {"baseline_us", line.baseline_us},
               {"best_us", line.best_us},
               {"speedup", line.speedup},
               {"efficiency", line.efficiency},
               {"paired", line.paired},
               {"baseline_samples_us", line.baseline_samples_us},
               {"best_samples_us", line.best_samples_us}};
  if (line.paired) json["speedup_interval"] = json_of(line.speedup_interval);
  if (line.library_us > 0)
    json["library"] = {{"us", line.library_us},
                       {"ratio", line.library_ratio},
                       {"interval", json_of(line.library_interval)},
                       {"samples_us", line.library_samples_us}};
  return json;
}

Json json_of(const std::vector<DiffLine>& lines) {
  Json json = Json::array();
  for (const DiffLine& line : lines)
    json.push_back({std::string(1, static_cast<char>(line.kind)), line.text});
  return json;
}

Json json_of(const CampaignRecord& record, const RoundRecord& round) {
  Json json = {{"number", round.number},
               {"parent", round.parent},
               {"decision", name_of(round.decision)},
               {"reason", round.reason},
               {"hypothesis", round.proposal.hypothesis},
               {"change", round.proposal.change},
               {"bucket", name_of(round.proposal.bucket)},
               {"expected_gain", round.proposal.expected_gain},
               {"signal", round.proposal.signal},
               {"score", round.score},
               {"seconds", round.seconds},
               {"started", round.started},
               {"outcome", name_of(round.verdict.outcome)},
               {"outcome_text", to_text(round.verdict.outcome)},
               {"trust", name_of(round.verdict.trust)},
               {"candidate", round.verdict.candidate.short_hex()},
               {"notes", round.verdict.notes},
               {"seed", std::to_string(round.verdict.seed)},
               {"compiler", round.verdict.artifact.compiler},
               {"source", source_of(round)}};
  const Spent& spent = round.verdict.spent;
  json["spent"] = {{"compile_s", spent.compile_s}, {"reference_s", spent.reference_s},
                   {"check_s", spent.check_s},     {"time_s", spent.time_s},
                   {"wait_s", spent.wait_s},       {"total_s", spent.total_s}};
  if (const auto& comparison = round.verdict.against_incumbent) {
    json["comparison"] = {{"ratio", std::exp(-comparison->log_ratio)},
                          {"interval", json_of(speedups(comparison->bound))},
                          {"blocks", comparison->blocks},
                          {"clarity", name_of(comparison->clarity)},
                          {"noise", comparison->noise},
                          {"agreement", comparison->agreement},
                          {"confirmed", round.confirmation.has_value()}};
  }
  json["timings"] = Json::array();
  for (const ShapeTiming& timing : round.verdict.timings) {
    json["timings"].push_back({{"shape", timing.shape},
                               {"candidate_us", timing.candidate_us},
                               {"incumbent_us", timing.incumbent_us},
                               {"candidate_median_us", timing.candidate_median_us},
                               {"incumbent_median_us", timing.incumbent_median_us},
                               {"error_db", timing.error_db},
                               {"launches_per_batch", timing.launches_per_batch},
                               {"overhead_us", timing.overhead_us},
                               {"interval", json_of(speedups(timing.log_ratio_interval))}});
  }
  json["sweep"] = Json::array();
  for (const SweepResult& variant : round.sweep) {
    json["sweep"].push_back({{"label", variant.label},
                             {"outcome", variant.outcome},
                             {"ratio", std::exp(-variant.log_ratio)},
                             {"estimate_us", variant.estimate_us}});
  }
  if (const RoundRecord* parent = find_round(record, round.parent))
    json["diff"] = json_of(shorten(diff_lines(source_of(*parent), source_of(round)), 3));
  return json;
}

}  // namespace

const RoundRecord* find_round(const CampaignRecord& record, int number) {
  for (const RoundRecord& round : record.rounds)
    if (round.number == number) return &round;
  return nullptr;
}

std::string source_of(const RoundRecord& round) {
  const auto& sources = round.proposal.candidate.sources;
  if (sources.size() == 1) return sources[0].text;
  std::string text;
  for (const SourceFile& source : sources)
    text += fmt::format("// ---- {} ----\n{}\n", source.path, source.text);
  return text;
}

Result<ReportData> report_data(const CampaignRecord& record) {
  ReportData data;
  auto parsed = parse_problem(record.problem_text, record.folder / "problem.yaml");
  if (!parsed) {
    Error error = parsed.error().front();
    error.advice = "the record's problem text is damaged; restore the campaign's folder from a backup";
    return std::unexpected(error);
  }
  if (record.manifest.target_shapes.find('=') != std::string::npos)
    if (auto chosen = with_shapes(*parsed, record.manifest.target_shapes)) parsed = std::move(chosen);
  data.problem = std::move(*parsed);
  for (const RoundRecord& round : record.rounds) {
    switch (round.decision) {
      case RoundDecision::baseline:
        data.baseline_round = round.number;
        break;
      case RoundDecision::accepted:
      case RoundDecision::accepted_trade_off:
        ++data.accepted;
        break;
      case RoundDecision::rolled_back:
        ++data.rolled_back;
        break;
    }
  }
  if (const RoundRecord* standing = best_round(record)) data.best_round = standing->number;
  const RoundRecord* baseline = find_round(record, data.baseline_round);
  const RoundRecord* best = find_round(record, data.best_round);
  data.headline = headline_of(record, best);
  if (record.library && record.library->verdict) data.library = record.library->verdict->library;
  if (data.library.empty())
    data.no_library = record.library ? record.library->reason : "none was timed in this campaign";

  const ScalarType type = arithmetic_type(data.problem);
  for (const Shape& shape : data.problem.shapes) {
    const Cost cost = cost_of(data.problem, shape);
    const Roofline roof = roofline(cost, record.facts, type);
    ShapeLine line;
    line.label = shape.label;
    line.core = shape.core;
    line.representative = shape.representative;
    line.flops = cost.flops;
    line.bytes = static_cast<double>(cost.compulsory.count);
    line.intensity = cost.intensity();
    line.roof_us = roof.duration.count();
    line.roof_bound = roof.bound;
    add_timings(line, record, baseline, best);
    add_library(line, record);
    if (line.roof_us > 0 && line.best_us > 0) line.efficiency = line.roof_us / line.best_us;
    data.shapes.push_back(std::move(line));
  }
  return data;
}

Json to_json(const CampaignRecord& record, const ReportData& data) {
  Json json = {{"version", 1},
               {"ako", record.ako_version},
               {"machine", record.machine},
               {"folder", record.folder.filename().string()},
               {"trust", name_of(record.trust)},
               {"termination", record.termination},
               {"seconds", record.seconds},
               {"created", record.manifest.created},
               {"baseline_round", data.baseline_round},
               {"best_round", data.best_round},
               {"accepted", data.accepted},
               {"rolled_back", data.rolled_back},
               {"target_efficiency", record.manifest.target_efficiency}};
  json["problem"] = {{"name", data.problem.name},         {"summary", data.problem.summary},
                     {"math", data.problem.math},         {"source", data.problem.source},
                     {"id", data.problem.id.short_hex()}, {"pattern", name_of(pattern_of(data.problem))}};
  json["headline"] = {{"speedup", data.headline.speedup}, {"basis", data.headline.basis}};
  if (data.headline.interval) json["headline"]["interval"] = json_of(*data.headline.interval);
  json["library"] = data.library.empty() ? Json{{"reason", data.no_library}} : Json{{"name", data.library}};
  json["facts"] = to_json(record.facts);
  json["arithmetic_type"] = name_of(arithmetic_type(data.problem));
  json["shapes"] = Json::array();
  for (const ShapeLine& line : data.shapes) json["shapes"].push_back(json_of(line));
  json["rounds"] = Json::array();
  for (const RoundRecord& round : record.rounds) json["rounds"].push_back(json_of(record, round));
  return json;
}

}  // namespace ako
