// SPDX-License-Identifier: Apache-2.0
#include "target/gpu/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdlib>
#include <functional>

namespace ako::gpu {
namespace {

std::string library_name(const char* variable, const char* otherwise) {
  const char* chosen = std::getenv(variable);
  return chosen && *chosen ? chosen : otherwise;
}

}  // namespace

std::string_view name_of(Api api) { return api == Api::cuda ? "CUDA" : "HIP"; }

Result<std::unique_ptr<Driver>> Driver::open(Api api) {
  return api == Api::cuda ? cuda::open_driver(library_name("AKO_CUDA_LIBRARY", "libcuda.so.1"))
                          : hip::open_driver(library_name("AKO_HIP_LIBRARY", "libamdhip64.so"));
}

// The library stays mapped: drivers keep threads and exit handlers of their own.
Driver::~Driver() = default;

void* Driver::symbol(const char* name) const { return ::dlsym(handle_, name); }

Result<void> Driver::ready() {
  if (!absent_.empty())
    return fail(ErrorKind::unsupported, fmt::format("{} lacks {}", library_, fmt::join(absent_, ", ")),
                fmt::format("install a newer {} driver", name_of(api_)));
  if (auto begun = check(calls_.init(0)); !begun)
    return fail(ErrorKind::unavailable,
                fmt::format("{} is here but does not start: {}", library_, begun.error().reason),
                api_ == Api::cuda
                    ? "check that a GPU is visible (nvidia-smi, CUDA_VISIBLE_DEVICES) and that the "
                      "kernel module and the library are of one version"
                    : "check that a GPU is visible (rocminfo, HIP_VISIBLE_DEVICES) and that you may "
                      "open /dev/kfd");
  return {};
}

std::unexpected<Fault> Driver::fault(int status) const {
  if (loses_context(status)) lose();
  return std::unexpected(Fault{kind_of_status(status), words(status), loses_context(status)});
}

Driven<void> Driver::check(int status) const {
  if (status == 0) return {};
  return fault(status);
}

Driven<DeviceInfo> Driver::describe(int ordinal) const {
  DeviceInfo info;
  info.api = api_;
  info.ordinal = ordinal;
  int device = 0;
  std::array<char, 256> text{};
  std::size_t memory = 0;
  if (int status = calls_.device_get(&device, ordinal)) return fault(status);
  if (int status = calls_.device_name(text.data(), static_cast<int>(text.size()) - 1, device))
    return fault(status);
  info.name = text.data();
  text = {};
  if (int status = calls_.device_bus(text.data(), static_cast<int>(text.size()) - 1, device))
    return fault(status);
  info.bus = text.data();
  if (int status = calls_.device_memory(&memory, device)) return fault(status);
  info.memory = {static_cast<std::int64_t>(memory)};
  if (int status = calls_.driver_version(&info.driver_version)) return fault(status);
  const AttributeNumbers numbers = attributes();
  // An attribute that this driver does not know stays 0.
  auto read = [&](int number) {
    int value = 0;
    return number >= 0 && calls_.device_attribute(&value, number, device) == 0 ? value : 0;
  };
  info.compute_units = read(numbers.compute_units);
  info.wave = read(numbers.wave);
  info.threads_per_block = read(numbers.threads_per_block);
  info.threads_per_unit = read(numbers.threads_per_unit);
  info.shared_per_block = {read(numbers.shared_per_block)};
  info.shared_per_unit = {read(numbers.shared_per_unit)};
  info.registers_per_unit = read(numbers.registers_per_unit);
  info.clock_hz = 1e3 * read(numbers.clock_khz);
  info.memory_clock_hz = 1e3 * read(numbers.memory_clock_khz);
  info.memory_bus_bits = read(numbers.memory_bus_bits);
  info.last_level_cache = {read(numbers.last_level_cache)};
  info.error_correction = read(numbers.error_correction) != 0;
  AKO_DRIVEN(info.target, architecture(ordinal, device));
  return info;
}

Driven<std::vector<DeviceInfo>> Driver::devices() const {
  int count = 0;
  if (int status = calls_.device_count(&count); status != 0 && status != 100) return fault(status);
  std::vector<DeviceInfo> found;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    AKO_DRIVEN(auto info, describe(ordinal));
    found.push_back(std::move(info));
  }
  return found;
}

}  // namespace ako::gpu
