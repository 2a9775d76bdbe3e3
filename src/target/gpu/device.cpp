// SPDX-License-Identifier: Apache-2.0
#include "target/gpu/device.h"

#include <fmt/format.h>

#include <thread>

#include "base/clock.h"

namespace ako::gpu {
namespace {

constexpr unsigned kNonBlocking = 1;  // of a stream: apart from the default stream
// A kernel may declare more parameters than a plan passes: the driver then reads on in this space, which
// holds zeros. 32 764 bytes is the most that any kernel takes (CUDA 12.1), 4096 pointers more than fit in
// them by four bytes each, so nothing outside is ever read.
constexpr std::size_t kParameterBytes = 64 << 10, kParameters = 8192;
// CUfunction_attribute; hipFunction_attribute has the same numbers.
constexpr int kThreadsPerBlock = 0, kSharedBytes = 1, kLocalBytes = 3, kRegisters = 4, kDynamicShared = 8;
constexpr std::int64_t kSharedWithoutAsking = 48 << 10;  // CUDA: more must be opted in

std::unexpected<Fault> refused(std::string reason) {
  return std::unexpected(Fault{Fault::Kind::refused, std::move(reason), false});
}

}  // namespace

void Memory::release() {
  if (driver_ && !driver_->lost() && address_) driver_->calls().release(address_);
  driver_ = nullptr;
}
Memory& Memory::operator=(Memory&& other) noexcept {
  if (this != &other) {
    release();
    driver_ = std::exchange(other.driver_, nullptr);
    address_ = other.address_;
    size_ = other.size_;
  }
  return *this;
}

void Pinned::release() {
  if (driver_ && !driver_->lost() && memory_) driver_->calls().unregister_host(memory_);
  driver_ = nullptr;
}
Pinned& Pinned::operator=(Pinned&& other) noexcept {
  if (this != &other) {
    release();
    driver_ = std::exchange(other.driver_, nullptr);
    memory_ = std::exchange(other.memory_, nullptr);
  }
  return *this;
}

void Module::unload() {
  if (driver_ && !driver_->lost() && handle_) driver_->calls().unload(handle_);
  driver_ = nullptr;
}
Module& Module::operator=(Module&& other) noexcept {
  if (this != &other) {
    unload();
    driver_ = std::exchange(other.driver_, nullptr);
    handle_ = std::exchange(other.handle_, nullptr);
  }
  return *this;
}

Driven<Kernel> Module::kernel(const std::string& name) const {
  Kernel kernel;
  kernel.name_ = name;
  if (int status = driver_->calls().find_kernel(&kernel.handle_, handle_, name.c_str())) {
    auto fault = driver_->fault(status).error();
    if (fault.kind == Fault::Kind::no_such_kernel)
      fault.reason = "the code object has no kernel named " + name;
    return std::unexpected(std::move(fault));
  }
  return kernel;
}

void Event::destroy() {
  if (driver_ && !driver_->lost() && handle_) driver_->calls().event_destroy(handle_);
  driver_ = nullptr;
}
Event& Event::operator=(Event&& other) noexcept {
  if (this != &other) {
    destroy();
    driver_ = std::exchange(other.driver_, nullptr);
    handle_ = std::exchange(other.handle_, nullptr);
  }
  return *this;
}

Driven<Microseconds> Event::since(const Event& start) const {
  float milliseconds = 0;
  if (int status = driver_->calls().event_elapsed(&milliseconds, start.handle_, handle_))
    return driver_->fault(status);
  return Microseconds(1e3 * static_cast<double>(milliseconds));
}

Driven<std::unique_ptr<Device>> Device::open(const Driver& driver, const DeviceInfo& info) {
  AKO_CHECK(driver.enter(info.ordinal));
  std::unique_ptr<Device> device(new Device(driver, info));
  if (int status = driver.calls().stream_create(&device->stream_, kNonBlocking)) return driver.fault(status);
  device->parameter_space_.resize(kParameterBytes / 8);
  device->parameters_.assign(kParameters, &device->parameter_space_[kParameterBytes / 16]);
  return device;
}

Device::~Device() {
  if (stream_ && !driver_.lost()) calls().stream_destroy(stream_);
}

Driven<Memory> Device::allocate(Bytes size) {
  Address address = 0;
  if (int status =
          calls().allocate(&address, static_cast<std::size_t>(std::max<std::int64_t>(size.count, 4))))
    return driver_.fault(status);
  return Memory(&driver_, address, size);
}

Driven<Bytes> Device::available() const {
  std::size_t available = 0, total = 0;
  if (int status = calls().memory_info(&available, &total)) return driver_.fault(status);
  return Bytes{static_cast<std::int64_t>(available)};
}

Driven<Pinned> Device::pin(std::span<std::byte> memory) {
  if (int status = calls().register_host(memory.data(), memory.size(), 0)) return driver_.fault(status);
  return Pinned(&driver_, memory.data());
}

Driven<void> Device::upload(Address to, std::span<const std::byte> from) {
  return from.empty() ? Driven<void>() : driver_.check(calls().upload(to, from.data(), from.size(), stream_));
}

Driven<void> Device::download(std::span<std::byte> to, Address from) {
  return to.empty() ? Driven<void>() : driver_.check(calls().download(to.data(), from, to.size(), stream_));
}

Driven<void> Device::copy(Address to, Address from, Bytes size) {
  if (size.count == 0) return {};
  return driver_.check(calls().copy(to, from, static_cast<std::size_t>(size.count), stream_));
}

Driven<void> Device::fill(Address at, Bytes size, std::uint32_t word) {
  if (size.count == 0) return {};
  return driver_.check(calls().fill(at, word, static_cast<std::size_t>(size.count) / 4, stream_));
}

Driven<Module> Device::load(std::span<const std::byte> image) {
  void* module = nullptr;
  if (int status = calls().load(&module, image.data())) return driver_.fault(status);
  return Module(&driver_, module);
}

Driven<KernelInfo> Device::describe(const Kernel& kernel) const {
  auto read = [&](int attribute) {
    int value = 0;
    return calls().kernel_attribute(&value, attribute, kernel.handle_) == 0 ? value : 0;
  };
  return KernelInfo{read(kThreadsPerBlock), read(kRegisters), {read(kSharedBytes)}, {read(kLocalBytes)}};
}

Driven<void> Device::check_arguments(const Kernel& kernel, const Arguments& arguments) const {
  if (!calls().parameter_info) return {};
  std::size_t offset = 0, size = 0;
  for (std::size_t i = 0; i < arguments.count(); ++i) {
    if (calls().parameter_info(kernel.handle_, i, &offset, &size) != 0)
      return refused(fmt::format("{} takes {} arguments, the launch plan passes {}", kernel.name(), i,
                                 arguments.count()));
    if (size != arguments.sizes_[i])
      return refused(fmt::format("argument {} of {} has {} bytes, the launch plan passes {}", i + 1,
                                 kernel.name(), size, arguments.sizes_[i]));
  }
  if (calls().parameter_info(kernel.handle_, arguments.count(), &offset, &size) == 0)
    return refused(fmt::format("{} takes more than the {} arguments that the launch plan passes",
                               kernel.name(), arguments.count()));
  return {};
}

Driven<void> Device::check_size(const Kernel& kernel, const LaunchSize& size) const {
  std::int64_t threads = 1;
  for (int axis = 0; axis < 3; ++axis) {
    std::int64_t grid = size.grid[static_cast<std::size_t>(axis)],
                 block = size.block[static_cast<std::size_t>(axis)];
    // Grids: 2^31 - 1 along x, 65535 along y and z (both interfaces' least common bounds).
    std::int64_t most = axis == 0 ? 0x7FFFFFFF : 65535;
    if (grid < 1 || grid > most)
      return refused(fmt::format("{}: a grid of {} blocks along {} is not possible, 1 to {} are",
                                 kernel.name(), grid, "xyz"[axis], most));
    if (block < 1 || block > info_.threads_per_block || (threads *= block) > info_.threads_per_block)
      return refused(fmt::format("{}: a block of {}×{}×{} threads is not possible, a block has 1 to {}",
                                 kernel.name(), size.block[0], size.block[1], size.block[2],
                                 info_.threads_per_block));
  }
  if (size.shared < 0 || size.shared > info_.shared_per_block.count)
    return refused(fmt::format("{}: {} bytes of dynamic shared memory, a block has {} at most", kernel.name(),
                               size.shared, info_.shared_per_block.count));
  return {};
}

Driven<void> Device::launch(const Kernel& kernel, const LaunchSize& size, const Arguments& arguments) {
  AKO_CHECK(check_size(kernel, size));
  AKO_CHECK(check_arguments(kernel, arguments));
  if (arguments.count() > kParameterBytes / 16) return refused(kernel.name() + ": too many arguments");
  // What a longer launch left behind goes; slots beyond the arguments all show the upper half, which stays
  // zero.
  std::copy(arguments.bits_.begin(), arguments.bits_.end(), parameter_space_.begin());
  for (std::size_t i = arguments.count(); i < used_; ++i) {
    parameter_space_[i] = 0;
    parameters_[i] = &parameter_space_[parameter_space_.size() / 2];
  }
  for (std::size_t i = 0; i < arguments.count(); ++i) parameters_[i] = &parameter_space_[i];
  used_ = arguments.count();
  if (size.shared > kSharedWithoutAsking && info_.api == Api::cuda && calls().set_kernel_attribute)
    if (int status =
            calls().set_kernel_attribute(kernel.handle_, kDynamicShared, static_cast<int>(size.shared))) {
      auto fault = driver_.fault(status).error();
      return fault.context_lost
                 ? driver_.fault(status)
                 : refused(fmt::format("{}: {} bytes of dynamic shared memory are too much beside its "
                                       "static ones",
                                       kernel.name(), size.shared));
    }
  auto u = [](std::int64_t value) { return static_cast<unsigned>(value); };
  return driver_.check(calls().launch(kernel.handle_, u(size.grid[0]), u(size.grid[1]), u(size.grid[2]),
                                      u(size.block[0]), u(size.block[1]), u(size.block[2]), u(size.shared),
                                      stream_, parameters_.data(), nullptr));
}

Driven<Event> Device::event() {
  void* event = nullptr;
  if (int status = calls().event_create(&event, 0)) return driver_.fault(status);
  return Event(&driver_, event);
}

Driven<void> Device::record(Event& event) {
  return driver_.check(calls().event_record(event.handle_, stream_));
}

Driven<void> Device::wait(Seconds limit) {
  Stopwatch watch;
  while (true) {
    int status = calls().stream_query(stream_);
    if (status == 0) return {};
    if (status != kNotReady) return driver_.fault(status);
    Seconds waited = watch.elapsed();
    if (waited > limit) {
      driver_.lose();
      return std::unexpected(
          Fault{Fault::Kind::endless, fmt::format("still running after {:.3g} s", limit.count()), true});
    }
    // Spinning keeps short waits short; nobody else needs this core for the first two milliseconds.
    if (waited > Seconds(2e-3)) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

}  // namespace ako::gpu
