// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_gpu.h"

#include <fmt/format.h>

#include "judge/device_kernels.h"
#include "target/gpu/facts.h"
#include "target/gpu/lease.h"

namespace ako {
namespace {

constexpr const char* kGpus = "GPUs";

Check device_check(const gpu::Found::One& one) {
  const auto& info = one.info;
  Check check{kGpus, info.target, Health::works, "", ""};
  check.found =
      fmt::format("{}, {} units, {}, at {}", info.name, info.compute_units, to_text(info.memory), info.bus);
  auto compilers = find_toolchains();
  if (auto compiler = choose_toolchain(compilers, device_language(info.target), info.target)) {
    check.found += "; compiled by " + (*compiler)->identity().substr(0, 40);
  } else {
    check.health = Health::limited;
    check.advice = compiler.error().what + "; " + compiler.error().advice;
  }
  if (auto holder = gpu::Lease::holder(info); !holder.empty()) {
    check.health = Health::limited;
    check.found += "; in use by " + holder;
    if (check.advice.empty()) check.advice = "judges wait their turn: one at a time on a device";
  }
  return check;
}

}  // namespace

void check_gpus(std::vector<Check>& checks) {
  auto found = gpu::find_devices();
  for (const auto& driver : found.drivers)
    checks.push_back(
        {kGpus, std::string(gpu::name_of(driver->api())) + " driver", Health::works, driver->library(), ""});
  for (const auto& one : found.devices) checks.push_back(device_check(one));
  for (const auto& error : found.missing)
    checks.push_back({kGpus, "driver", Health::absent, error.what, error.advice});
}

}  // namespace ako
