// SPDX-License-Identifier: Apache-2.0
// The judge of the `kernel` contract: loads candidates' code objects itself and launches them by their plans.
// No candidate code runs on the measuring side (trust `device-only`).
#pragma once

#include "judge/device_contest.h"
#include "judge/server.h"
#include "target/gpu/facts.h"

namespace ako {

class DeviceJudge : public JudgeService {
 public:
  /// On the calling thread, which must be the one that judges.
  static Result<std::unique_ptr<DeviceJudge>> create(const gpu::Driver&, const gpu::DeviceInfo&,
                                                     std::vector<std::unique_ptr<Toolchain>>,
                                                     std::vector<std::string> reference_command);
  ~DeviceJudge() override;

  Result<Verdict> judge(const JudgeRequest&, const JudgeClient::Progress&, std::stop_token) override;
  const TargetFacts& facts() const override;
  Trust trust() const override { return Trust::device_only; }

 private:
  struct State;
  explicit DeviceJudge(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

}  // namespace ako
