// SPDX-License-Identifier: Apache-2.0
// One device and a context on it: memory, modules, launches, events. Work is queued on one stream in the
// order of the calls and runs in that order; only wait() and the calls that say so wait for it.
//
// A Device belongs to the thread that opened it. Memory, Module, Event and Pinned belong to their Device and
// must not outlive it. After a Fault with context_lost every further call fails: the process is to be
// replaced.
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "target/gpu/driver.h"

namespace ako::gpu {

class Device;

/// Device memory, released on destruction; aligned to 256 bytes at least.
class Memory {
 public:
  Memory() = default;
  Memory(Memory&& other) noexcept
      : driver_(std::exchange(other.driver_, nullptr)), address_(other.address_), size_(other.size_) {}
  Memory& operator=(Memory&&) noexcept;
  ~Memory() { release(); }
  Address address() const { return address_; }
  Bytes size() const { return size_; }

 private:
  friend class Device;
  Memory(const Driver* driver, Address address, Bytes size)
      : driver_(driver), address_(address), size_(size) {}
  void release();

  const Driver* driver_ = nullptr;
  Address address_ = 0;
  Bytes size_;
};

/// Host memory known to the device, so that copies run at the bus's speed; the memory itself is the caller's.
class Pinned {
 public:
  Pinned() = default;
  Pinned(Pinned&& other) noexcept
      : driver_(std::exchange(other.driver_, nullptr)), memory_(std::exchange(other.memory_, nullptr)) {}
  Pinned& operator=(Pinned&&) noexcept;
  ~Pinned() { release(); }

 private:
  friend class Device;
  Pinned(const Driver* driver, void* memory) : driver_(driver), memory_(memory) {}
  void release();

  const Driver* driver_ = nullptr;
  void* memory_ = nullptr;
};

struct KernelInfo {
  int threads_per_block = 0;  // at most
  int registers = 0;
  Bytes shared, local;  // static shared memory of a block, spilled memory of a thread
};

class Kernel {
 public:
  const std::string& name() const { return name_; }

 private:
  friend class Device;
  friend class Module;
  void* handle_ = nullptr;
  std::string name_;
};

/// A loaded code object. Loading it again gives its device variables their initial values again.
class Module {
 public:
  Module() = default;
  Module(Module&& other) noexcept
      : driver_(std::exchange(other.driver_, nullptr)), handle_(std::exchange(other.handle_, nullptr)) {}
  Module& operator=(Module&&) noexcept;
  ~Module() { unload(); }
  Driven<Kernel> kernel(const std::string& name) const;

 private:
  friend class Device;
  Module(const Driver* driver, void* handle) : driver_(driver), handle_(handle) {}
  void unload();

  const Driver* driver_ = nullptr;
  void* handle_ = nullptr;
};

class Event {
 public:
  Event(Event&& other) noexcept
      : driver_(std::exchange(other.driver_, nullptr)), handle_(std::exchange(other.handle_, nullptr)) {}
  Event& operator=(Event&&) noexcept;
  ~Event() { destroy(); }
  /// From `start` to this one; both must have happened.
  Driven<Microseconds> since(const Event& start) const;

 private:
  friend class Device;
  Event(const Driver* driver, void* handle) : driver_(driver), handle_(handle) {}
  void destroy();

  const Driver* driver_ = nullptr;
  void* handle_ = nullptr;
};

struct LaunchSize {
  std::array<std::int64_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::int64_t shared = 0;  // bytes of dynamic shared memory
};

/// Arguments of a launch, each in its C type.
class Arguments {
 public:
  template <class T>
  Arguments& add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return add_bits(bits, sizeof value);
  }
  Arguments& add_bits(std::uint64_t bits, std::size_t size) {
    bits_.push_back(bits);
    sizes_.push_back(size);
    return *this;
  }
  std::size_t count() const { return bits_.size(); }

 private:
  friend class Device;
  std::vector<std::uint64_t> bits_;
  std::vector<std::size_t> sizes_;
};

class Device {
 public:
  static Driven<std::unique_ptr<Device>> open(const Driver&, const DeviceInfo&);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceInfo& info() const { return info_; }

  Driven<Memory> allocate(Bytes);
  Driven<Bytes> available() const;
  Driven<Pinned> pin(std::span<std::byte>);
  /// Queued; `from` must stay until wait() has returned.
  Driven<void> upload(Address to, std::span<const std::byte> from);
  Driven<void> download(std::span<std::byte> to, Address from);
  Driven<void> copy(Address to, Address from, Bytes);
  /// Queued; both must be multiples of 4.
  Driven<void> fill(Address, Bytes, std::uint32_t word);

  Driven<Module> load(std::span<const std::byte> image);
  Driven<KernelInfo> describe(const Kernel&) const;
  /// Queued. Refuses sizes beyond the device's, and arguments that are not those of the kernel as far as the
  /// driver tells.
  Driven<void> launch(const Kernel&, const LaunchSize&, const Arguments&);

  Driven<Event> event();
  Driven<void> record(Event&);
  /// Until everything queued has ended; Fault::Kind::endless when it takes longer than `limit`.
  Driven<void> wait(Seconds limit);

 private:
  Device(const Driver& driver, const DeviceInfo& info) : driver_(driver), info_(info) {}
  Driven<void> check_arguments(const Kernel&, const Arguments&) const;
  Driven<void> check_size(const Kernel&, const LaunchSize&) const;
  const Calls& calls() const { return driver_.calls(); }

  const Driver& driver_;
  DeviceInfo info_;
  void* stream_ = nullptr;
  std::vector<std::uint64_t> parameter_space_;
  std::vector<void*> parameters_;
  std::size_t used_ = 0;  // of them, by the latest launch
};

}  // namespace ako::gpu
