// SPDX-License-Identifier: Apache-2.0
// The two drivers as one table of functions. CUDA's driver interface (libcuda.so.1) and HIP's module
// interface (libamdhip64.so) agree in everything a judge needs but names, attribute numbers, contexts and
// error texts: those are what cuda/ and hip/ say. The libraries are opened at run time; nothing of either is
// needed to build.
//
// Sources of the declarations: CUDA Driver API reference manual, version 13; HIP runtime API reference,
// ROCm 7.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/units.h"
#include "kernel/artifact.h"
#include "target/gpu/fault.h"

namespace ako::gpu {

enum class Api : std::uint8_t { cuda, hip };
std::string_view name_of(Api);  // "CUDA", "HIP"

/// In the device's memory.
using Address = std::uint64_t;

/// What a device is, as its driver says.
struct DeviceInfo {
  Api api = Api::cuda;
  int ordinal = 0;
  std::string name;  // "NVIDIA H200"
  std::string bus;   // "0000:1b:00.0": names the device across processes and drivers
  TargetId target;   // "sm_90", "gfx942"
  int driver_version = 0;
  Bytes memory, last_level_cache;
  int compute_units = 0;  // SMs, CUs
  int wave = 32;          // threads of a warp or wave
  int threads_per_block = 1024, threads_per_unit = 2048;
  Bytes shared_per_block, shared_per_unit;  // per block: at most, opted in
  int registers_per_unit = 0;               // of 32 bits
  double clock_hz = 0, memory_clock_hz = 0;
  int memory_bus_bits = 0;
  bool error_correction = false;
};

/// The functions of a driver library, by what they do. Statuses: 0 is success, 600 not ready. Handles are
/// opaque.
struct Calls {
  int (*init)(unsigned) = nullptr;
  int (*driver_version)(int*) = nullptr;
  int (*device_count)(int*) = nullptr;
  int (*device_get)(int* device, int ordinal) = nullptr;
  int (*device_name)(char*, int, int device) = nullptr;
  int (*device_memory)(std::size_t*, int device) = nullptr;
  int (*device_attribute)(int* value, int attribute, int device) = nullptr;
  int (*device_bus)(char*, int, int device) = nullptr;
  int (*memory_info)(std::size_t* available, std::size_t* total) = nullptr;
  int (*allocate)(Address*, std::size_t) = nullptr;
  int (*release)(Address) = nullptr;
  int (*upload)(Address, const void*, std::size_t, void* stream) = nullptr;
  int (*download)(void*, Address, std::size_t, void* stream) = nullptr;
  int (*copy)(Address to, Address from, std::size_t, void* stream) = nullptr;
  int (*fill)(Address, unsigned word, std::size_t words, void* stream) = nullptr;
  int (*register_host)(void*, std::size_t, unsigned flags) = nullptr;
  int (*unregister_host)(void*) = nullptr;
  int (*load)(void** module, const void* image) = nullptr;
  int (*unload)(void* module) = nullptr;
  int (*find_kernel)(void** kernel, void* module, const char* name) = nullptr;
  int (*kernel_attribute)(int* value, int attribute, void* kernel) = nullptr;
  int (*launch)(void* kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                unsigned shared, void* stream, void** parameters, void** extra) = nullptr;
  int (*stream_create)(void**, unsigned flags) = nullptr;
  int (*stream_destroy)(void*) = nullptr;
  int (*stream_query)(void*) = nullptr;
  int (*event_create)(void**, unsigned flags) = nullptr;
  int (*event_destroy)(void*) = nullptr;
  int (*event_record)(void* event, void* stream) = nullptr;
  int (*event_elapsed)(float* milliseconds, void* start, void* end) = nullptr;
  // Optional: absent in older drivers or in the other interface.
  int (*set_kernel_attribute)(void* kernel, int attribute, int value) = nullptr;
  int (*parameter_info)(void* kernel, std::size_t index, std::size_t* offset, std::size_t* size) = nullptr;
};

inline constexpr int kNotReady = 600;

/// The numbers under which a driver knows what DeviceInfo holds.
struct AttributeNumbers {
  int compute_units, wave, threads_per_block, threads_per_unit, shared_per_block, shared_per_unit,
      registers_per_unit, clock_khz, memory_clock_khz, memory_bus_bits, last_level_cache, error_correction;
};

/// An opened driver library. Devices opened through it must not outlive it. Thread-safe.
class Driver {
 public:
  /// $AKO_CUDA_LIBRARY or libcuda.so.1; $AKO_HIP_LIBRARY or libamdhip64.so. Errors say what to install.
  static Result<std::unique_ptr<Driver>> open(Api);
  virtual ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  Api api() const { return api_; }
  const std::string& library() const { return library_; }
  const Calls& calls() const { return calls_; }

  Driven<std::vector<DeviceInfo>> devices() const;
  /// Makes a context on the device current for the calling thread.
  virtual Driven<void> enter(int ordinal) const = 0;
  virtual std::string words(int status) const = 0;
  /// The fault a status stands for, or nothing for success.
  Driven<void> check(int status) const;
  std::unexpected<Fault> fault(int status) const;
  /// After a fault that loses the context nothing is released any more: the driver would wait for ever for a
  /// kernel that does not end. The process's end releases everything.
  bool lost() const { return lost_; }
  void lose() const { lost_ = true; }

 protected:
  Driver(Api api, std::string library, void* handle)
      : api_(api), library_(std::move(library)), handle_(handle) {}
  virtual AttributeNumbers attributes() const = 0;
  virtual Driven<TargetId> architecture(int ordinal, int device) const = 0;

  void* symbol(const char* name) const;
  /// Notes the name when it is absent.
  template <class Function>
  void need(Function& function, const char* name) {
    function = reinterpret_cast<Function>(symbol(name));
    if (!function) absent_.push_back(name);
  }
  template <class Function>
  void like(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(symbol(name));
  }
  /// After need(): an error when something is absent; otherwise initializes the driver.
  Result<void> ready();

  Calls calls_;

 private:
  Driven<DeviceInfo> describe(int ordinal) const;

  Api api_;
  std::string library_;
  void* handle_;
  std::vector<std::string> absent_;
  mutable std::atomic<bool> lost_ = false;
};

}  // namespace ako::gpu

namespace ako::cuda {
Result<std::unique_ptr<gpu::Driver>> open_driver(const std::string& library);
}
namespace ako::hip {
Result<std::unique_ptr<gpu::Driver>> open_driver(const std::string& library);
}
