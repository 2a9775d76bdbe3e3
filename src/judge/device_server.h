// SPDX-License-Identifier: Apache-2.0
// `ako judge` for a device: a supervisor that touches no device, and workers that do. A kernel that faults or
// does not end takes its process's device context with it; the worker is killed then, the spare one, already
// warm, takes its place, and a new spare is started.
#pragma once

#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/subprocess.h"
#include "judge/server.h"
#include "target/gpu/lease.h"

namespace ako {

struct DeviceJudgeOptions {
  TargetId target;
  int device = -1;              // ordinal of its driver; -1: the first of this target that is free
  bool worker = false;          // judge here, in this process
  bool end_with_input = false;  // as in JudgeOptions
};
/// "sm_90", "gfx942": targets that are judged on a device.
bool is_device_target(const TargetId&);
/// The exit status of `ako judge --target sm_90`.
int serve_device_judge(const DeviceJudgeOptions&);

/// Talks to workers by the protocol of docs/protocol.md.
class DeviceSupervisor : public JudgeService {
 public:
  /// `worker`: the command that starts one.
  static Result<std::unique_ptr<DeviceSupervisor>> create(std::vector<std::string> worker);
  Result<Verdict> judge(const JudgeRequest&, const JudgeClient::Progress&, std::stop_token) override;
  const TargetFacts& facts() const override { return facts_; }
  Trust trust() const override { return Trust::device_only; }

 private:
  explicit DeviceSupervisor(std::vector<std::string> worker) : worker_(std::move(worker)) {}
  Result<void> engage();  // a greeted worker in active_
  Result<void> greet(LineProcess&);
  void retire();
  Result<Verdict> converse(const JudgeRequest&, const JudgeClient::Progress&, std::stop_token);

  std::vector<std::string> worker_;
  TargetFacts facts_;
  std::optional<LineProcess> active_, spare_;
  std::vector<std::jthread> retiring_;
  std::int64_t next_id_ = 1;
};

/// Whether the worker that said this is to be replaced.
bool wears_out(const Outcome&);

}  // namespace ako
