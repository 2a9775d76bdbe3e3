// SPDX-License-Identifier: Apache-2.0
#include "judge/client.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/clock.h"
#include "base/subprocess.h"
#include "judge/json_fields.h"
#include "judge/request_json.h"
#include "judge/server.h"

namespace ako {
namespace {

using nlohmann::json;

constexpr Seconds kGreetingWait{30};
// Between two messages of a judgement: compiling a reference and a candidate, or one long block.
constexpr Seconds kSilence{300};
constexpr Seconds kLookUp{0.1};          // how often the wish to stop is asked for
constexpr Seconds kCancelPatience{1.5};  // after which a judge that was told to stop is killed

Error error_from(const json& value) {
  Error error{ErrorKind::invalid_input, json_fields::text(value, "what", "the judge refused the request"),
              json_fields::text(value, "advice")};
  std::string kind = json_fields::text(value, "kind");
  for (auto one : {ErrorKind::invalid_input, ErrorKind::not_found, ErrorKind::unsupported, ErrorKind::io,
                   ErrorKind::limit, ErrorKind::conflict, ErrorKind::corrupt, ErrorKind::unavailable,
                   ErrorKind::internal})
    if (kind == to_text(one)) error.kind = one;
  if (const auto& place = json_fields::field(value, "place"); place.is_object())
    error.place =
        Place{json_fields::text(place, "file"), static_cast<int>(json_fields::integer(place, "line")),
              static_cast<int>(json_fields::integer(place, "column"))};
  error.excerpt = json_fields::text(value, "excerpt");
  return error;
}

Result<Trust> trust_from(const json& greeting) {
  for (auto trust : {Trust::device_only, Trust::isolated, Trust::unconfined, Trust::reported})
    if (json_fields::text(greeting, "trust") == name_of(trust)) return trust;
  return fail(ErrorKind::unsupported, "the judge greets with an unknown grade of trust",
              "use one release of ako throughout");
}

std::vector<std::string> command_line(const JudgeOptions& options) {
  std::vector<std::string> argv = options.launcher;
  argv.push_back((program_folder() / "ako").string());
  argv.insert(argv.end(), {"judge", "--target", options.target, "--end-with-input"});
  if (options.threads > 0) argv.insert(argv.end(), {"--threads", std::to_string(options.threads)});
  return argv;
}

}  // namespace

struct JudgeClient::State {
  JudgeOptions options;
  std::optional<LineProcess> process;
  TargetFacts facts;
  Trust trust = Trust::isolated;
  std::int64_t next_id = 1;

  Result<void> connect();
  Result<json> converse(const JudgeRequest&, const Progress&);
  Result<std::string> receive(Seconds silence, Seconds wall_left);
  void cancel(std::int64_t id);
  bool stop_wanted() const { return options.stop && options.stop(); }
};

Result<void> JudgeClient::State::connect() {
  process.reset();
  Command command;
  command.argv = command_line(options);
  AKO_TRY(auto started, LineProcess::start(command));
  AKO_TRY(auto line, started.receive(kGreetingWait));
  json greeting = json::parse(line, nullptr, false);
  if (json_fields::text(greeting, "ako") != "judge")
    return fail(ErrorKind::unavailable, "what was started as a judge does not greet like one",
                "it said: " + line.substr(0, 200));
  if (json_fields::integer(greeting, "protocol") != kJudgeProtocol)
    return fail(ErrorKind::unsupported,
                fmt::format("the judge speaks protocol version {}, this program {}",
                            json_fields::integer(greeting, "protocol"), kJudgeProtocol),
                "use one release of ako on both sides");
  if (const auto& refused = json_fields::field(greeting, "error"); refused.is_object())
    return std::unexpected(error_from(refused));
  AKO_TRY(trust, trust_from(greeting));
  AKO_TRY(facts, target_facts_from_json(json_fields::field(greeting, "facts")));
  process.emplace(std::move(started));
  return {};
}

/// A line; error `limit` when somebody wants to stop or the time is over, `unavailable` when the judge is
/// gone or silent for too long.
Result<std::string> JudgeClient::State::receive(Seconds silence, Seconds wall_left) {
  Stopwatch watch;
  while (true) {
    auto line =
        process->receive(std::clamp(std::min(wall_left, silence) - watch.elapsed(), Seconds(0), kLookUp));
    if (line || line.error().kind != ErrorKind::limit) return line;
    if (stop_wanted()) return fail(ErrorKind::limit, "the judgement was cancelled");
    if (watch.elapsed() >= wall_left)
      return fail(ErrorKind::limit, "the judgement took longer than it was given");
    if (watch.elapsed() >= silence) return fail(ErrorKind::unavailable, line.error().what);
  }
}

/// Tells the judge to stop and hears it say so; one that does not is let go, and its guests with it.
void JudgeClient::State::cancel(std::int64_t id) {
  json message = {
      {"id", next_id++}, {"protocol", kJudgeProtocol}, {"method", "cancel"}, {"params", {{"id", id}}}};
  if (!process->send(message.dump())) return process.reset();
  Stopwatch watch;
  while (watch.elapsed() < kCancelPatience) {
    auto line = process->receive(kCancelPatience - watch.elapsed());
    if (!line) break;
    json reply = json::parse(*line, nullptr, false);
    if (json_fields::integer(reply, "id", -1) == id && !reply.contains("progress")) return;
  }
  process.reset();
}

/// One request to its result; progress on the way.
Result<json> JudgeClient::State::converse(const JudgeRequest& request, const Progress& progress) {
  std::int64_t id = next_id++;
  Stopwatch watch;
  const Seconds wall = request.wall_limit > Seconds(0) ? request.wall_limit : Seconds(1e9);
  json message = {
      {"id", id}, {"protocol", kJudgeProtocol}, {"method", "judge"}, {"params", to_json(request)}};
  AKO_CHECK(process->send(message.dump(-1, ' ', false, json::error_handler_t::replace)));
  while (true) {
    auto line = receive(kSilence + request.time_budget, wall - watch.elapsed());
    if (!line) {
      if (line.error().kind == ErrorKind::limit) cancel(id);
      return std::unexpected(line.error());
    }
    json reply = json::parse(*line, nullptr, false);
    if (json_fields::integer(reply, "id", -1) != id)
      continue;  // an answer to an earlier request that was given up
    if (const auto& stage = json_fields::field(reply, "progress"); stage.is_string()) {
      if (progress) progress(stage.get<std::string>());
    } else {
      return reply;
    }
  }
}

Result<JudgeClient> JudgeClient::start(const JudgeOptions& options) {
  auto state = std::make_unique<State>();
  state->options = options;
  AKO_CHECK(state->connect());
  return JudgeClient(std::move(state));
}

Result<Verdict> JudgeClient::judge(const JudgeRequest& request, const Progress& progress) {
  Error last;
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (!state_->process || !state_->process->alive()) AKO_CHECK(state_->connect());
    auto reply = state_->converse(request, progress);
    if (reply) {
      if (const auto& refused = json_fields::field(*reply, "error"); refused.is_object())
        return std::unexpected(error_from(refused));
      return verdict_from_json(json_fields::field(*reply, "result"));
    }
    last = reply.error();
    if (last.kind == ErrorKind::limit) return std::unexpected(last);  // cancelled
    state_->process.reset();
  }
  return fail(ErrorKind::unavailable, "the judge died twice on one request: " + last.what,
              last.advice.empty() ? "`ako doctor` says what works on this machine" : last.advice);
}

const TargetFacts& JudgeClient::facts() const { return state_->facts; }
Trust JudgeClient::trust() const { return state_->trust; }

JudgeClient::JudgeClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
JudgeClient::JudgeClient(JudgeClient&&) noexcept = default;
JudgeClient& JudgeClient::operator=(JudgeClient&&) noexcept = default;
JudgeClient::~JudgeClient() = default;

}  // namespace ako
