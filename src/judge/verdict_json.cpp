// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "judge/json_fields.h"
#include "judge/verdict.h"

namespace ako {
namespace {

using nlohmann::json;
using namespace json_fields;

json outcome_json(const Correct&) { return json::object(); }
json outcome_json(const Wrong& w) {
  return {{"shape", w.shape},
          {"tensor", w.tensor},
          {"style", w.style},
          {"index", w.index},
          {"expected", number(w.expected)},
          {"got", number(w.got)},
          {"metric", w.metric},
          {"pattern", w.pattern},
          {"when_timed", w.when_timed},
          {"fraction", number(w.fraction)}};
}
json outcome_json(const Rejected& r) { return {{"rule", r.rule}, {"reason", r.reason}, {"where", r.where}}; }
json outcome_json(const CompileError& e) { return {{"log", e.log}}; }
json outcome_json(const Crashed& c) {
  return {{"signal", c.signal}, {"reason", c.reason}, {"shape", c.shape}};
}
json outcome_json(const TimedOut& t) {
  return {{"stage", t.stage}, {"limit_s", number(t.limit.count())}, {"shape", t.shape}};
}
json outcome_json(const OutOfMemory& m) { return {{"limit_bytes", m.limit.count}, {"shape", m.shape}}; }
json outcome_json(const InfrastructureError& e) { return {{"reason", e.reason}}; }

Result<Outcome> outcome_from(const json& value) {
  std::string kind = text(value, "kind"), shape = text(value, "shape");
  if (kind == "correct") return Correct{};
  if (kind == "rejected") return Rejected{text(value, "rule"), text(value, "reason"), text(value, "where")};
  if (kind == "compile_error") return CompileError{text(value, "log")};
  if (kind == "crashed")
    return Crashed{static_cast<int>(integer(value, "signal")), text(value, "reason"), shape};
  if (kind == "timed_out") return TimedOut{text(value, "stage"), Seconds(real(value, "limit_s")), shape};
  if (kind == "out_of_memory") return OutOfMemory{Bytes{integer(value, "limit_bytes")}, shape};
  if (kind == "infrastructure_error") return InfrastructureError{text(value, "reason")};
  if (kind != "wrong")
    return fail(ErrorKind::invalid_input, "a verdict has the unknown outcome \"" + kind + "\"",
                "it was written by another version of ako");
  Wrong wrong;
  wrong.shape = shape;
  wrong.tensor = text(value, "tensor");
  wrong.style = text(value, "style");
  for (const auto& one : field(value, "index"))
    wrong.index.push_back(one.is_number_integer() ? one.get<std::int64_t>() : 0);
  wrong.expected = real(value, "expected");
  wrong.got = real(value, "got");
  wrong.metric = text(value, "metric");
  wrong.pattern = text(value, "pattern");
  wrong.when_timed = truth(value, "when_timed");
  wrong.fraction = real(value, "fraction");
  return wrong;
}

json interval_json(Interval interval) { return {number(interval.low), number(interval.high)}; }
Interval interval_from(const json& object, const char* name) {
  auto ends = reals(object, name);
  return ends.size() == 2 ? Interval{ends[0], ends[1]} : Interval{};
}

json timing_json(const ShapeTiming& t) {
  return {{"shape", t.shape},
          {"core", t.core},
          {"representative", t.representative},
          {"candidate_us", numbers(t.candidate_us)},
          {"incumbent_us", numbers(t.incumbent_us)},
          {"candidate_median_us", number(t.candidate_median_us)},
          {"incumbent_median_us", number(t.incumbent_median_us)},
          {"candidate_us_interval", interval_json(t.candidate_us_interval)},
          {"log_ratio", number(t.log_ratio)},
          {"log_ratio_interval", interval_json(t.log_ratio_interval)},
          {"launches_per_batch", t.launches_per_batch},
          {"overhead_us", number(t.overhead_us)},
          {"error_db", number(t.error_db)}};
}
ShapeTiming timing_from(const json& value) {
  ShapeTiming t;
  t.shape = text(value, "shape");
  t.core = truth(value, "core");
  t.representative = truth(value, "representative");
  t.candidate_us = reals(value, "candidate_us");
  t.incumbent_us = reals(value, "incumbent_us");
  t.candidate_median_us = real(value, "candidate_median_us");
  t.incumbent_median_us = real(value, "incumbent_median_us");
  t.candidate_us_interval = interval_from(value, "candidate_us_interval");
  t.log_ratio = real(value, "log_ratio");
  t.log_ratio_interval = interval_from(value, "log_ratio_interval");
  t.launches_per_batch = static_cast<int>(integer(value, "launches_per_batch", 1));
  t.overhead_us = real(value, "overhead_us");
  t.error_db = real(value, "error_db");
  return t;
}

json comparison_json(const Comparison& c) {
  return {{"log_ratio", number(c.log_ratio)},   {"bound", interval_json(c.bound)},
          {"noise", number(c.noise)},           {"blocks", c.blocks},
          {"agreement", number(c.agreement)},   {"clarity", name_of(c.clarity)},
          {"worst_shape", c.worst_shape},       {"worst_log_ratio", number(c.worst_log_ratio)},
          {"core_regressed", c.core_regressed}, {"confirmed", c.confirmed}};
}
Comparison comparison_from(const json& value) {
  Comparison c;
  c.log_ratio = real(value, "log_ratio");
  c.bound = interval_from(value, "bound");
  c.noise = real(value, "noise", 0.01);
  c.blocks = static_cast<int>(integer(value, "blocks"));
  c.agreement = real(value, "agreement");
  for (auto clarity : {Clarity::faster, Clarity::slower, Clarity::same})
    if (text(value, "clarity") == name_of(clarity)) c.clarity = clarity;
  c.worst_shape = text(value, "worst_shape");
  c.worst_log_ratio = real(value, "worst_log_ratio");
  c.core_regressed = truth(value, "core_regressed");
  c.confirmed = truth(value, "confirmed");
  return c;
}

json artifact_json(const Artifact& a) {
  return {{"id", a.id.hex()},
          {"code", a.code.string()},
          {"code_hash", a.code_hash.hex()},
          {"symbols", a.symbols},
          {"compiler", a.compiler},
          {"command", a.command},
          {"log", a.log},
          {"resources", a.resources.values},
          {"compile_seconds", number(a.compile_seconds)},
          {"cached", a.cached}};
}
Artifact artifact_from(const json& value, const Hash& candidate, const TargetId& target) {
  Artifact a;
  Hash::parse(text(value, "id"), a.id);
  a.candidate = candidate;
  a.target = target;
  a.code = text(value, "code");
  Hash::parse(text(value, "code_hash"), a.code_hash);
  a.symbols = texts(value, "symbols");
  a.compiler = text(value, "compiler");
  a.command = texts(value, "command");
  a.log = text(value, "log");
  for (const auto& [name, amount] : field(value, "resources").items())
    if (amount.is_number_integer()) a.resources.values[name] = amount.get<std::int64_t>();
  a.compile_seconds = real(value, "compile_seconds");
  a.cached = truth(value, "cached");
  return a;
}

json spent_json(const Spent& s) {
  return {{"audit_s", s.audit_s}, {"compile_s", s.compile_s}, {"reference_s", s.reference_s},
          {"check_s", s.check_s}, {"time_s", s.time_s},       {"wait_s", s.wait_s},
          {"total_s", s.total_s}};
}
Spent spent_from(const json& value) {
  return {real(value, "audit_s"), real(value, "compile_s"), real(value, "reference_s"),
          real(value, "check_s"), real(value, "time_s"),    real(value, "wait_s"),
          real(value, "total_s")};
}

Result<Trust> trust_from(const std::string& name) {
  for (auto trust : {Trust::device_only, Trust::isolated, Trust::unconfined, Trust::reported})
    if (name == name_of(trust)) return trust;
  return fail(ErrorKind::invalid_input, "a verdict has the unknown trust grade \"" + name + "\"",
              "it was written by another version of ako");
}

}  // namespace

json to_json(const Verdict& v) {
  json outcome = std::visit([](const auto& one) { return outcome_json(one); }, v.outcome);
  outcome["kind"] = name_of(v.outcome);
  json result = {{"candidate", v.candidate.hex()},
                 {"problem", v.problem.hex()},
                 {"target", v.target},
                 {"trust", name_of(v.trust)},
                 {"outcome", outcome},
                 {"timings", json::array()},
                 {"artifact", artifact_json(v.artifact)},
                 {"seed", v.seed},
                 {"spent", spent_json(v.spent)},
                 {"notes", v.notes}};
  if (!v.library.empty()) result["library"] = v.library;
  if (v.incumbent) result["incumbent"] = v.incumbent->hex();
  for (const auto& timing : v.timings) result["timings"].push_back(timing_json(timing));
  if (v.against_incumbent) result["against_incumbent"] = comparison_json(*v.against_incumbent);
  return result;
}

Result<Verdict> verdict_from_json(const json& value) {
  if (!value.is_object()) return fail(ErrorKind::invalid_input, "a verdict must be a JSON object");
  Verdict v;
  if (!Hash::parse(text(value, "candidate"), v.candidate) || !Hash::parse(text(value, "problem"), v.problem))
    return fail(ErrorKind::invalid_input, "a verdict lacks the hash of its candidate or problem");
  if (Hash incumbent; Hash::parse(text(value, "incumbent"), incumbent)) v.incumbent = incumbent;
  v.target = text(value, "target");
  v.library = text(value, "library");
  AKO_TRY(v.trust, trust_from(text(value, "trust")));
  AKO_TRY(v.outcome, outcome_from(field(value, "outcome")));
  for (const auto& timing : field(value, "timings")) v.timings.push_back(timing_from(timing));
  if (const auto& comparison = field(value, "against_incumbent"); comparison.is_object())
    v.against_incumbent = comparison_from(comparison);
  v.artifact = artifact_from(field(value, "artifact"), v.candidate, v.target);
  v.seed = natural(value, "seed");
  v.spent = spent_from(field(value, "spent"));
  v.notes = texts(value, "notes");
  return v;
}

}  // namespace ako
