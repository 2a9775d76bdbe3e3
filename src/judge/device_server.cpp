// SPDX-License-Identifier: Apache-2.0
#include "judge/device_server.h"

#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "judge/device_judge.h"
#include "judge/json_fields.h"
#include "judge/request_json.h"

namespace ako {
namespace {

using nlohmann::json;

constexpr Seconds kWorkerGreetingWait{
    60};  // contexts take a third of a second each; the judge's own kernels compile
constexpr Seconds kStopLookUp{0.2};     // between looks whether to stop
constexpr Seconds kWorkerSilence{180};  // of a worker that lives

Error error_of(const json& value) {
  return {ErrorKind::invalid_input, json_fields::text(value, "what", "the worker refused the request"),
          json_fields::text(value, "advice")};
}

/// Whoever started us reads JSON: the greeting's place is taken by the reason that there is none.
int refuse(const Error& error) {
  json what = {{"kind", to_text(error.kind)}, {"what", error.what}, {"advice", error.advice}};
  std::cout << json{{"ako", "judge"}, {"protocol", kJudgeProtocol}, {"error", what}}.dump(
                   -1, ' ', false, json::error_handler_t::replace)
            << std::endl;
  return 4;
}

std::vector<std::string> own_command(std::vector<std::string> words) {
  words.insert(words.begin(), (program_folder() / "ako").string());
  return words;
}

int serve_worker(const DeviceJudgeOptions& options, const gpu::Found::One& chosen) {
  auto ordinal = std::to_string(chosen.info.ordinal);
  auto judge =
      DeviceJudge::create(*chosen.driver, chosen.info, find_toolchains(chosen.info.target),
                          own_command({"reference", "--target", chosen.info.target, "--device", ordinal}));
  if (!judge) return refuse(judge.error());
  serve(**judge, std::cin, std::cout, options.end_with_input);
  std::cout.flush();
  return 0;
}

}  // namespace

bool is_device_target(const TargetId& target) {
  return target.starts_with("sm_") || target.starts_with("gfx");
}

bool wears_out(const Outcome& outcome) {
  if (const auto* late = std::get_if<TimedOut>(&outcome)) return late->stage != "compile";
  return std::holds_alternative<Crashed>(outcome) || std::holds_alternative<InfrastructureError>(outcome);
}

Result<std::unique_ptr<DeviceSupervisor>> DeviceSupervisor::create(std::vector<std::string> worker) {
  std::unique_ptr<DeviceSupervisor> supervisor(new DeviceSupervisor(std::move(worker)));
  AKO_CHECK(supervisor->engage());
  return supervisor;
}

Result<void> DeviceSupervisor::greet(LineProcess& process) {
  AKO_TRY(auto line, process.receive(kWorkerGreetingWait));
  json greeting = json::parse(line, nullptr, false);
  if (const auto& refused = json_fields::field(greeting, "error"); refused.is_object())
    return std::unexpected(Error{ErrorKind::unavailable, error_of(refused).what, error_of(refused).advice});
  if (json_fields::text(greeting, "ako") != "judge")
    return fail(ErrorKind::unavailable, "what was started as a device worker does not greet like one",
                "it said: " + line.substr(0, 200));
  AKO_TRY(facts_, target_facts_from_json(json_fields::field(greeting, "facts")));
  return {};
}

Result<void> DeviceSupervisor::engage() {
  Command command;
  command.argv = worker_;
  if (active_ && !active_->alive()) active_.reset();
  for (int attempt = 0; !active_ && attempt < 2; ++attempt) {
    auto fresh = std::exchange(spare_, std::nullopt);
    if (!fresh) {
      AKO_TRY(auto started, LineProcess::start(command));
      fresh.emplace(std::move(started));
    }
    auto greeted = greet(*fresh);
    if (greeted)
      active_ = std::move(fresh);
    else if (attempt == 1)
      return greeted;
  }
  // A spare that does not start shows when it is needed.
  if (!spare_)
    if (auto started = LineProcess::start(command)) spare_.emplace(std::move(*started));
  return {};
}

/// The worker's end can take a while (its driver cleans up): nobody waits for it.
void DeviceSupervisor::retire() {
  if (!active_) return;
  retiring_.emplace_back([process = std::move(*active_)]() mutable { (void)process.close(Seconds(0)); });
  active_.reset();
}

Result<Verdict> DeviceSupervisor::converse(const JudgeRequest& request, const JudgeClient::Progress& progress,
                                           std::stop_token stop) {
  const std::int64_t id = next_id_++;
  json message = {
      {"id", id}, {"protocol", kJudgeProtocol}, {"method", "judge"}, {"params", to_json(request)}};
  AKO_CHECK(active_->send(message.dump(-1, ' ', false, json::error_handler_t::replace)));
  Stopwatch silence;
  while (true) {
    auto line = active_->receive(kStopLookUp);
    if (stop.stop_requested()) return fail(ErrorKind::limit, "the judgement was cancelled");
    if (!line && line.error().kind != ErrorKind::limit) return std::unexpected(line.error());
    if (!line) {
      if (silence.elapsed() > kWorkerSilence + request.time_budget)
        return fail(ErrorKind::unavailable, "the device's worker is silent");
      continue;
    }
    silence = {};
    json reply = json::parse(*line, nullptr, false);
    if (json_fields::integer(reply, "id", -1) != id) continue;
    if (const auto& stage = json_fields::field(reply, "progress"); stage.is_string()) {
      if (progress) progress(stage.get<std::string>());
      continue;
    }
    if (const auto& refused = json_fields::field(reply, "error"); refused.is_object())
      return std::unexpected(error_of(refused));
    return verdict_from_json(json_fields::field(reply, "result"));
  }
}

Result<Verdict> DeviceSupervisor::judge(const JudgeRequest& request, const JudgeClient::Progress& progress,
                                        std::stop_token stop) {
  Error last;
  for (int attempt = 0; attempt < 2; ++attempt) {
    AKO_CHECK(engage());
    auto verdict = converse(request, progress, stop);
    if (verdict) {
      if (wears_out(verdict->outcome)) {
        retire();
        // At once, while the caller reads: the spare greets, and another is started behind it.
        if (auto ready = engage(); !ready) verdict->notes.push_back("no spare worker: " + ready.error().what);
      }
      return verdict;
    }
    last = verdict.error();
    if (last.kind == ErrorKind::invalid_input) return verdict;  // the request's fault
    retire();
    if (last.kind == ErrorKind::limit) return verdict;  // cancelled
  }
  Verdict verdict;
  verdict.candidate = request.candidate.id();
  verdict.target = facts_.id;
  verdict.trust = Trust::device_only;
  verdict.outcome = InfrastructureError{"the device's worker died twice: " + last.what};
  return verdict;
}

int serve_device_judge(const DeviceJudgeOptions& options) {
  std::ios::sync_with_stdio(false);
  auto found = gpu::find_devices();
  auto devices = gpu::devices_of(found, options.target);
  if (options.device >= 0)
    std::erase_if(devices, [&](const auto& one) { return one.info.ordinal != options.device; });
  if (devices.empty()) return refuse(gpu::no_device(found, options.target));
  if (options.worker) return serve_worker(options, devices.front());

  std::optional<gpu::Lease> lease;
  Error busy;
  for (const auto& one : devices) {
    auto taken = gpu::Lease::take(one.info);
    if (!taken) {
      busy = taken.error();
      continue;
    }
    lease.emplace(std::move(*taken));
    auto supervisor = DeviceSupervisor::create(
        own_command({"judge", "--target", options.target, "--device", std::to_string(one.info.ordinal),
                     "--worker", "--end-with-input"}));
    if (!supervisor) return refuse(supervisor.error());
    serve(**supervisor, std::cin, std::cout, options.end_with_input);
    return 0;
  }
  return refuse(busy);
}

}  // namespace ako
