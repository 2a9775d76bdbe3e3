// SPDX-License-Identifier: Apache-2.0
// What is HIP's own: names, attribute numbers, contexts that hang on the device, architectures by name.
#include "target/gpu/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cctype>

namespace ako::hip {
namespace {

using gpu::Api;
using gpu::Driven;
using gpu::Driver;

/// "gfx942" from "gfx942:sramecc+:xnack-", wherever it stands in the bytes of hipDeviceProp_t: the
/// structure's layout differs between releases, the form of the name does not.
std::string architecture_in(std::string_view bytes) {
  for (std::size_t at = bytes.find("gfx"); at != std::string_view::npos; at = bytes.find("gfx", at + 1)) {
    std::size_t end = at + 3;
    while (end < bytes.size() && std::isxdigit(static_cast<unsigned char>(bytes[end]))) ++end;
    if (end >= at + 6) return std::string(bytes.substr(at, end - at));
  }
  return {};
}

class HipDriver : public Driver {
 public:
  HipDriver(std::string library, void* handle) : Driver(Api::hip, std::move(library), handle) {
    need(calls_.init, "hipInit");
    need(calls_.driver_version, "hipDriverGetVersion");
    need(calls_.device_count, "hipGetDeviceCount");
    need(calls_.device_get, "hipDeviceGet");
    need(calls_.device_name, "hipDeviceGetName");
    need(calls_.device_memory, "hipDeviceTotalMem");
    need(calls_.device_attribute, "hipDeviceGetAttribute");
    need(calls_.device_bus, "hipDeviceGetPCIBusId");
    need(calls_.memory_info, "hipMemGetInfo");
    need(calls_.allocate, "hipMalloc");
    need(calls_.release, "hipFree");
    need(calls_.upload, "hipMemcpyHtoDAsync");
    need(calls_.download, "hipMemcpyDtoHAsync");
    need(calls_.copy, "hipMemcpyDtoDAsync");
    need(calls_.fill, "hipMemsetD32Async");
    need(calls_.register_host, "hipHostRegister");
    need(calls_.unregister_host, "hipHostUnregister");
    need(calls_.load, "hipModuleLoadData");
    need(calls_.unload, "hipModuleUnload");
    need(calls_.find_kernel, "hipModuleGetFunction");
    need(calls_.kernel_attribute, "hipFuncGetAttribute");
    need(calls_.launch, "hipModuleLaunchKernel");
    need(calls_.stream_create, "hipStreamCreateWithFlags");
    need(calls_.stream_destroy, "hipStreamDestroy");
    need(calls_.stream_query, "hipStreamQuery");
    need(calls_.event_create, "hipEventCreateWithFlags");
    need(calls_.event_destroy, "hipEventDestroy");
    need(calls_.event_record, "hipEventRecord");
    need(calls_.event_elapsed, "hipEventElapsedTime");
    need(set_device_, "hipSetDevice");
    need(error_name_, "hipGetErrorName");
    need(error_text_, "hipGetErrorString");
    like(properties_, "hipGetDevicePropertiesR0600");  // since ROCm 6; its plain name before
    if (!properties_) need(properties_, "hipGetDeviceProperties");
  }
  using Driver::ready;

  Driven<void> enter(int ordinal) const override { return check(set_device_(ordinal)); }

  std::string words(int status) const override {
    const char *name = error_name_(status), *text = error_text_(status);
    if (!name) return fmt::format("HIP status {}", status);
    return text ? fmt::format("{}: {}", name, text) : name;
  }

 protected:
  // hipDeviceAttribute_t, ROCm 5 to 7.
  gpu::AttributeNumbers attributes() const override {
    return {.compute_units = 63,
            .wave = 87,
            .threads_per_block = 56,
            .threads_per_unit = 57,
            .shared_per_block = 74,
            .shared_per_unit = 10002,
            .registers_per_unit = 72,
            .clock_khz = 5,
            .memory_clock_khz = 60,
            .memory_bus_bits = 59,
            .last_level_cache = 19,
            .error_correction = 0};
  }

  Driven<TargetId> architecture(int ordinal, int) const override {
    alignas(16) std::array<char, 8192> properties{};  // hipDeviceProp_t is 1472 bytes in ROCm 7
    if (int status = properties_(properties.data(), ordinal)) return fault(status);
    auto name = architecture_in({properties.data(), properties.size()});
    return name.empty() ? "gfx" : name;
  }

 private:
  int (*set_device_)(int) = nullptr;
  int (*properties_)(void*, int) = nullptr;
  const char* (*error_name_)(int) = nullptr;
  const char* (*error_text_)(int) = nullptr;
};

}  // namespace

Result<std::unique_ptr<Driver>> open_driver(const std::string& library) {
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return fail(ErrorKind::not_found, fmt::format("no HIP runtime: {}", ::dlerror()),
                "install ROCm's HIP runtime, or set AKO_HIP_LIBRARY to libamdhip64.so (often "
                "/opt/rocm/lib/libamdhip64.so)");
  auto driver = std::make_unique<HipDriver>(library, handle);
  AKO_CHECK(driver->ready());
  return driver;
}

}  // namespace ako::hip
