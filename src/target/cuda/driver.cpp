// SPDX-License-Identifier: Apache-2.0
// What is CUDA's own: names with their versions, attribute numbers, primary contexts.
#include "target/gpu/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace ako::cuda {
namespace {

using gpu::Api;
using gpu::Driven;
using gpu::Driver;

// CUdevice_attribute and CUlimit, CUDA Driver API 6.1 "Data types".
constexpr int kMajor = 75, kMinor = 76;
constexpr int kLimitPrintf = 1, kLimitHeap = 2;
// printf and malloc of device code are no part of the contract; what they are given is the least there is.
constexpr std::size_t kPrintfBuffer = 64 << 10, kHeap = 64 << 10;

class CudaDriver : public Driver {
 public:
  CudaDriver(std::string library, void* handle) : Driver(Api::cuda, std::move(library), handle) {
    need(calls_.init, "cuInit");
    need(calls_.driver_version, "cuDriverGetVersion");
    need(calls_.device_count, "cuDeviceGetCount");
    need(calls_.device_get, "cuDeviceGet");
    need(calls_.device_name, "cuDeviceGetName");
    need(calls_.device_memory, "cuDeviceTotalMem_v2");
    need(calls_.device_attribute, "cuDeviceGetAttribute");
    need(calls_.device_bus, "cuDeviceGetPCIBusId");
    need(calls_.memory_info, "cuMemGetInfo_v2");
    need(calls_.allocate, "cuMemAlloc_v2");
    need(calls_.release, "cuMemFree_v2");
    need(calls_.upload, "cuMemcpyHtoDAsync_v2");
    need(calls_.download, "cuMemcpyDtoHAsync_v2");
    need(calls_.copy, "cuMemcpyDtoDAsync_v2");
    need(calls_.fill, "cuMemsetD32Async");
    need(calls_.register_host, "cuMemHostRegister_v2");
    need(calls_.unregister_host, "cuMemHostUnregister");
    need(calls_.load, "cuModuleLoadData");
    need(calls_.unload, "cuModuleUnload");
    need(calls_.find_kernel, "cuModuleGetFunction");
    need(calls_.kernel_attribute, "cuFuncGetAttribute");
    need(calls_.launch, "cuLaunchKernel");
    need(calls_.stream_create, "cuStreamCreate");
    need(calls_.stream_destroy, "cuStreamDestroy_v2");
    need(calls_.stream_query, "cuStreamQuery");
    need(calls_.event_create, "cuEventCreate");
    need(calls_.event_destroy, "cuEventDestroy_v2");
    need(calls_.event_record, "cuEventRecord");
    need(calls_.event_elapsed, "cuEventElapsedTime");
    need(retain_, "cuDevicePrimaryCtxRetain");
    need(set_current_, "cuCtxSetCurrent");
    need(set_limit_, "cuCtxSetLimit");
    need(error_name_, "cuGetErrorName");
    need(error_text_, "cuGetErrorString");
    like(calls_.set_kernel_attribute, "cuFuncSetAttribute");
    like(calls_.parameter_info, "cuFuncGetParamInfo");  // CUDA 12.4
  }
  using Driver::ready;

  Driven<void> enter(int ordinal) const override {
    int device = 0;
    void* context = nullptr;
    if (int status = calls_.device_get(&device, ordinal)) return fault(status);
    if (int status = retain_(&context, device)) return fault(status);
    if (int status = set_current_(context)) return fault(status);
    if (int status = set_limit_(kLimitPrintf, kPrintfBuffer)) return fault(status);
    // May be refused once the heap exists: then it is as small as it was made.
    set_limit_(kLimitHeap, kHeap);
    return {};
  }

  std::string words(int status) const override {
    const char *name = nullptr, *text = nullptr;
    if (error_name_(status, &name) != 0 || !name) return fmt::format("CUDA status {}", status);
    error_text_(status, &text);
    return text ? fmt::format("{}: {}", name, text) : name;
  }

 protected:
  gpu::AttributeNumbers attributes() const override {
    return {.compute_units = 16,
            .wave = 10,
            .threads_per_block = 1,
            .threads_per_unit = 39,
            .shared_per_block = 97,
            .shared_per_unit = 81,
            .registers_per_unit = 82,
            .clock_khz = 13,
            .memory_clock_khz = 36,
            .memory_bus_bits = 37,
            .last_level_cache = 38,
            .error_correction = 32};
  }

  Driven<TargetId> architecture(int, int device) const override {
    int major = 0, minor = 0;
    if (int status = calls_.device_attribute(&major, kMajor, device)) return fault(status);
    if (int status = calls_.device_attribute(&minor, kMinor, device)) return fault(status);
    return fmt::format("sm_{}{}", major, minor);
  }

 private:
  int (*retain_)(void** context, int device) = nullptr;
  int (*set_current_)(void* context) = nullptr;
  int (*set_limit_)(int limit, std::size_t value) = nullptr;
  int (*error_name_)(int, const char**) = nullptr;
  int (*error_text_)(int, const char**) = nullptr;
};

}  // namespace

Result<std::unique_ptr<Driver>> open_driver(const std::string& library) {
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return fail(ErrorKind::not_found, fmt::format("no CUDA driver: {}", ::dlerror()),
                "install NVIDIA's driver (it brings libcuda.so.1), or set AKO_CUDA_LIBRARY to the library");
  auto driver = std::make_unique<CudaDriver>(library, handle);
  AKO_CHECK(driver->ready());
  return driver;
}

}  // namespace ako::cuda
