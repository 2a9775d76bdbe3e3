// SPDX-License-Identifier: Apache-2.0
#include "target/run_guest_fixture.h"

#include <gtest/gtest.h>

#include <cstring>

namespace ako::host {
namespace {

SharedBuffers one_buffer(const char* name, std::int64_t floats, Access access, int slots) {
  auto buffers = SharedBuffers::create({{name, Bytes{floats * 4}, access}}, slots);
  if (!buffers) throw std::runtime_error(to_text(buffers.error()));
  return std::move(*buffers);
}

float value_of(std::int64_t i, int slot) {
  return static_cast<float>(i % 1000) + 0.5f * static_cast<float>(slot);
}

}  // namespace

Result<Artifact> guest_artifact(const std::string& name) {
  Artifact artifact;
  artifact.code = std::filesystem::path(AKO_BINARY_DIR) / "bin/guests" / (name + ".so");
  AKO_TRY(std::string code, read_file(artifact.code));
  artifact.code_hash = hash_text(code);
  artifact.target = "host";
  artifact.symbols = {"twice"};
  return artifact;
}

GuestRun::GuestRun(std::int64_t length, int slot_count)
    : n(length),
      slots(slot_count),
      inputs(one_buffer("x", length, Access::read_only, slot_count)),
      outputs(one_buffer("y", length, Access::read_write, slot_count)) {
  for (int slot = 0; slot < slots; ++slot) {
    auto* x = reinterpret_cast<float*>(inputs.bytes(slot, 0).data());
    for (std::int64_t i = 0; i < n; ++i) x[i] = value_of(i, slot);
  }
}

bool GuestRun::start(const std::string& name, const GuestOptions& options) {
  auto artifact = guest_artifact(name);
  if (!artifact) throw std::runtime_error(to_text(artifact.error()));
  auto started = RunGuest::start(*artifact, options);
  if (!started) throw std::runtime_error(to_text(started.error()));
  if (auto* early = std::get_if<GuestFault>(&*started)) return fault = *early, false;
  guest = std::move(std::get<RunGuest>(*started));
  GuestLaunch launch{"twice",
                     {{GuestArgument::Kind::buffer, 0, 0, 0, 0},
                      {GuestArgument::Kind::buffer, 1, 0, 0, 0},
                      {GuestArgument::Kind::integer, 0, 0, n, 0}}};
  SharedBuffers* groups[] = {&inputs, &outputs};
  auto attached = guest->attach(groups, {&launch, 1});
  if (!attached) throw std::runtime_error(to_text(attached.error()));
  if (auto* early = std::get_if<GuestFault>(&*attached)) return fault = *early, false;
  return true;
}

bool GuestRun::run(const std::vector<int>& which) {
  for (int slot : which) outputs.poison(slot, 0);
  auto result = guest->run(which);
  if (!result) throw std::runtime_error(to_text(result.error()));
  if (auto* late = std::get_if<GuestFault>(&*result)) return fault = *late, false;
  time = std::get<BatchTime>(*result);
  return true;
}

bool GuestRun::complete(const std::string& name, const GuestOptions& options) {
  return start(name, options) && run({0, 1});
}

bool GuestRun::doubled(int slot) {
  const auto* y = reinterpret_cast<const float*>(outputs.bytes(slot, 0).data());
  for (std::int64_t i = 0; i < n; ++i)
    if (y[i] != 2 * value_of(i, slot)) return false;
  return true;
}

}  // namespace ako::host
