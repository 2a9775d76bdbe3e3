// SPDX-License-Identifier: Apache-2.0
#include "judge/device_stage.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace ako {
namespace {

using gpu::Address;
using gpu::Driven;

constexpr std::int64_t kAlignment = 256;          // what allocators of both interfaces give
constexpr std::int64_t kLeastGap = 4096;          // between buffers, and at both ends of the arena
constexpr std::int64_t kSmallOutput = 256 << 10;  // comes whole rather than as a projection
constexpr std::size_t kHostInputsKept = 32;
constexpr std::uint8_t kPoison = 0xFF;  // NaN in every floating type
// Words of a launch's notes: hash of the inputs before and after, damaged bytes, 1 + the first one's offset.
constexpr std::int64_t kNotes = 4;

std::int64_t align_up(std::int64_t value) { return (value + kAlignment - 1) / kAlignment * kAlignment; }

bool is_output(const DeviceBuffer& buffer) {
  return buffer.role == DeviceBuffer::Role::output || buffer.role == DeviceBuffer::Role::inout;
}
bool is_given(const DeviceBuffer& buffer) {
  return buffer.role == DeviceBuffer::Role::input || buffer.role == DeviceBuffer::Role::inout;
}
bool comes_whole(const DeviceBuffer& buffer, std::uint64_t sketch_key) {
  return sketch_key == 0 || buffer.size.count <= kSmallOutput || !DeviceKernels::sketches(buffer.type);
}

}  // namespace

gpu::Address DeviceStage::notes_of(int slot) const {
  return notes_.address() + static_cast<Address>(8 * kNotes * slot);
}

Driven<std::span<std::byte>> DeviceLandings::next(gpu::Device& device, std::size_t size) {
  turn_ ^= 1;
  Landing& landing = landings_[turn_];
  if (size > landing.memory.size()) {
    release(landing);
    void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return std::unexpected(
          gpu::Fault{gpu::Fault::Kind::device, fmt::format("no host memory for {} bytes of outputs", size)});
    // A fork copies memory that a device knows page by page at once (Linux, copy_present_page): compilers
    // would start a third of a second later.
    ::madvise(memory, size, MADV_DONTFORK);
    landing.memory = {static_cast<std::byte*>(memory), size};
    // Without it copies work, too, only slower.
    if (auto pinned = device.pin(landing.memory)) landing.pinned = std::move(*pinned);
  }
  return landing.memory.first(size);
}

void DeviceLandings::release(Landing& landing) {
  landing.pinned = {};
  if (!landing.memory.empty()) ::munmap(landing.memory.data(), landing.memory.size());
  landing.memory = {};
}

DeviceLandings::~DeviceLandings() {
  for (auto& landing : landings_) release(landing);
}

Driven<DeviceStage> DeviceStage::create(gpu::Device& device, DeviceKernels& kernels, DeviceLandings& landings,
                                        const Problem& problem, const Shape& shape, Bytes largest_plan,
                                        int launches, std::uint64_t seed) {
  DeviceStage stage(device, kernels, landings, problem, shape, seed);
  // Room for gaps: a quarter again, and what alignment costs.
  Bytes size{align_up(largest_plan.count + std::max<std::int64_t>(largest_plan.count / 4, 1 << 20))};
  AKO_DRIVEN(stage.arena_, device.allocate(size));
  AKO_DRIVEN(stage.flush_,
             device.allocate({std::max<std::int64_t>(2 * device.info().last_level_cache.count, 64 << 20)}));
  AKO_DRIVEN(stage.notes_, device.allocate({8 * kNotes * launches}));
  for (TensorId id : kernel_tensors(problem))
    if (problem.tensor(id).role != TensorRole::input)
      stage.sketch_size_ += DeviceKernels::sketch_bytes(element_count(problem, problem.tensor(id), shape));
  AKO_DRIVEN(stage.sketches_, device.allocate(stage.sketch_size_));
  AKO_CHECK(device.fill(stage.sketches_.address(), stage.sketch_size_, 0));
  for (int i = 0; i < launches; ++i) {
    AKO_DRIVEN(auto start, device.event());
    AKO_DRIVEN(auto end, device.event());
    stage.starts_.push_back(std::move(start));
    stage.ends_.push_back(std::move(end));
  }
  return stage;
}

DeviceStage::Placed DeviceStage::place(const DevicePlan& plan) {
  Placed placed;
  placed.filling = static_cast<std::uint8_t>(random_.below(255));  // never the poison
  placed.at.resize(plan.buffers.size());
  std::vector<std::size_t> order(plan.buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random_);
  std::int64_t used = kLeastGap;
  for (const auto& buffer : plan.buffers) used += align_up(buffer.size.count) + kLeastGap;
  std::int64_t spare = arena_.size().count - used, at = 0;
  for (std::size_t i : order) {
    auto extra = static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(spare) + 1)) /
                 kAlignment * kAlignment;
    spare -= extra;
    std::int64_t begin = at + kLeastGap + extra, end = begin + plan.buffers[i].size.count;
    placed.gaps.emplace_back(at, begin);
    placed.at[i] = arena_.address() + static_cast<Address>(begin);
    placed.gaps.emplace_back(end, align_up(end));
    at = align_up(end);
  }
  placed.gaps.emplace_back(at, arena_.size().count);
  // Neighbouring gaps (a buffer's rounding and the one behind it) are one.
  std::vector<std::pair<std::int64_t, std::int64_t>> joined;
  for (auto gap : placed.gaps)
    if (!joined.empty() && joined.back().second == gap.first)
      joined.back().second = gap.second;
    else if (gap.second > gap.first)
      joined.push_back(gap);
  placed.gaps = std::move(joined);
  return placed;
}

Driven<void> DeviceStage::make_inputs(const DevicePlan& plan, const Placed& placed,
                                      const InputsWanted& wanted) {
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const auto& buffer = plan.buffers[i];
    if (!is_given(buffer)) continue;
    if (wanted.style == InputStyle::declared && DeviceKernels::makes(*problem_, buffer.tensor)) {
      AKO_CHECK(
          kernels_->generate(*problem_, buffer.tensor, *shape_, wanted.seed, wanted.stream, placed.at[i]));
      continue;
    }
    // The style is part of the stream: no stream is asked for in two styles.
    if (host_inputs_.size() > kHostInputsKept) host_inputs_.clear();
    auto& input = host_inputs_[{buffer.tensor, wanted.stream}];
    if (!input.bytes) {
      input.size = static_cast<std::size_t>(buffer.size.count);
      input.bytes = std::make_unique_for_overwrite<std::byte[]>(input.size);
      generate_input(*problem_, buffer.tensor, *shape_, wanted.style, wanted.seed, wanted.stream,
                     {input.bytes.get(), input.size});
    }
    AKO_CHECK(device_->upload(placed.at[i], {input.bytes.get(), input.size}));
  }
  return {};
}

Driven<void> DeviceStage::hash_inputs(const DevicePlan& plan, const Placed& placed, std::uint64_t key,
                                      Address result) {
  for (std::size_t i = 0; i < plan.buffers.size(); ++i)
    if (plan.buffers[i].role == DeviceBuffer::Role::input)
      AKO_CHECK(kernels_->hash(placed.at[i], plan.buffers[i].size, key + i, result));
  return {};
}

Driven<void> DeviceStage::prepare(const Batch& batch, const Placed& placed, const InputsWanted& wanted) {
  const auto& plan = batch.program.plan;
  AKO_CHECK(device_->fill(arena_.address(), arena_.size(), placed.filling * 0x01010101u));
  AKO_CHECK(make_inputs(plan, placed, wanted));
  for (std::size_t i = 0; i < plan.buffers.size(); ++i)
    if (!is_given(plan.buffers[i])) AKO_CHECK(kernels_->set(placed.at[i], plan.buffers[i].size, kPoison));
  return {};
}

Driven<void> DeviceStage::launch(const DeviceProgram& program, const Placed& placed) {
  for (std::size_t i = 0; i < program.plan.launches.size(); ++i) {
    const auto& one = program.plan.launches[i];
    gpu::Arguments arguments;
    for (const auto& argument : one.arguments)
      if (argument.buffer >= 0)
        arguments.add(placed.at[static_cast<std::size_t>(argument.buffer)]);
      else
        arguments.add_bits(argument.bits, argument.size);
    AKO_CHECK(device_->launch(program.kernels[i], one.size, arguments));
  }
  return {};
}

/// The next `size` bytes of where outputs arrive.
std::span<std::byte> DeviceStage::land(std::size_t size) {
  auto piece = landing_.subspan(landed_, size);
  landed_ += (size + 63) / 64 * 64;
  return piece;
}

/// Queues what is to be known of a launch; small things are read when the batch has ended.
Driven<void> DeviceStage::look_after(const Batch& batch, const Placed& placed, int slot,
                                     std::uint64_t hash_key, Launched& launched) {
  const auto& plan = batch.program.plan;
  const Address notes = notes_of(slot);
  AKO_CHECK(device_->fill(notes + 8, {8 * (kNotes - 1)}, 0));
  AKO_CHECK(hash_inputs(plan, placed, hash_key, notes + 8));
  for (auto [begin, end] : placed.gaps)
    AKO_CHECK(kernels_->guard(arena_.address(), begin, end, placed.filling, notes + 16));
  Address sketch_at = sketches_.address();
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const auto& buffer = plan.buffers[i];
    if (!is_output(buffer)) continue;
    auto& seen = launched.outputs.emplace_back();
    if (comes_whole(buffer, batch.sketch_key)) {
      auto bytes = land(static_cast<std::size_t>(buffer.size.count));
      seen.bytes = bytes;
      AKO_CHECK(device_->download(bytes, placed.at[i]));
      continue;
    }
    Bytes size = DeviceKernels::sketch_bytes(buffer.count);
    AKO_CHECK(kernels_->sketch(placed.at[i], buffer.type, buffer.count, batch.sketch_key + i, sketch_at));
    auto bytes = land(static_cast<std::size_t>(size.count));
    seen.bytes = bytes;  // a sketch's, until the batch has ended
    seen.sketch.emplace();
    AKO_CHECK(device_->download(bytes, sketch_at));
    sketch_at += static_cast<Address>(size.count);
  }
  // Nothing of the answer stays for whoever comes next.
  return device_->fill(sketches_.address(), {sketches_.size().count / 4 * 4}, 0);
}

std::string DeviceStage::describe_damage(const DevicePlan& plan, const Placed& placed, std::int64_t offset,
                                         std::uint64_t count) const {
  const Address at = arena_.address() + static_cast<Address>(offset);
  std::string nearest = "the memory given";
  std::int64_t distance = arena_.size().count;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const auto begin = static_cast<std::int64_t>(placed.at[i]), end = begin + plan.buffers[i].size.count,
               here = static_cast<std::int64_t>(at);
    if (here >= end && here - end < distance)
      distance = here - end, nearest = fmt::format("{} bytes after {}", here - end + 1, plan.buffers[i].name);
    if (here < begin && begin - here < distance)
      distance = begin - here,
      nearest = fmt::format("{} bytes before {}", begin - here, plan.buffers[i].name);
  }
  return fmt::format("{} bytes were changed, the first of them {}", count, nearest);
}

/// Room for what a batch brings back.
Driven<void> DeviceStage::make_landing(const Batch& batch) {
  std::size_t size = 0;
  for (const auto& buffer : batch.program.plan.buffers)
    if (is_output(buffer)) {
      Bytes one =
          comes_whole(buffer, batch.sketch_key) ? buffer.size : DeviceKernels::sketch_bytes(buffer.count);
      size += (static_cast<std::size_t>(one.count) + 63) / 64 * 64;
    }
  landed_ = 0;
  AKO_DRIVEN(landing_, landings_->next(*device_, size * batch.inputs.size()));
  return {};
}

Driven<std::vector<Launched>> DeviceStage::run(const Batch& batch) {
  const auto& plan = batch.program.plan;
  AKO_CHECK(make_landing(batch));
  std::vector<Launched> launched(batch.inputs.size());
  std::vector<Placed> places;
  AKO_CHECK(kernels_->refresh());
  for (std::size_t i = 0; i < batch.inputs.size(); ++i) {
    const auto slot = static_cast<int>(i);
    const std::uint64_t key = random_();
    places.push_back(place(plan));
    AKO_CHECK(prepare(batch, places[i], batch.inputs[i]));
    AKO_CHECK(device_->fill(notes_of(slot), {8}, 0));
    AKO_CHECK(hash_inputs(plan, places[i], key, notes_of(slot)));
    if (batch.flush)
      AKO_CHECK(device_->fill(flush_.address(), flush_.size(), static_cast<std::uint32_t>(random_())));
    else
      AKO_CHECK(kernels_->scrub_shared());
    AKO_CHECK(device_->record(starts_[i]));
    AKO_CHECK(launch(batch.program, places[i]));
    AKO_CHECK(device_->record(ends_[i]));
    // Copies to memory that the device does not know wait inside of the driver, for ever behind a kernel that
    // does not end: nothing else is queued before this one has.
    AKO_CHECK(device_->wait(batch.limit));
    AKO_CHECK(look_after(batch, places[i], slot, key, launched[i]));
  }
  std::vector<std::uint64_t> notes(batch.inputs.size() * kNotes);
  AKO_CHECK(device_->download(std::as_writable_bytes(std::span(notes)), notes_.address()));
  AKO_CHECK(device_->wait(batch.limit));
  for (std::size_t i = 0; i < launched.size(); ++i) {
    const std::uint64_t* note = &notes[i * kNotes];
    AKO_DRIVEN(launched[i].duration, ends_[i].since(starts_[i]));
    if (note[0] != note[1]) launched[i].damage = "the inputs were changed";
    if (note[2] != 0)
      launched[i].damage = describe_damage(plan, places[i], static_cast<std::int64_t>(note[3]) - 1, note[2]);
    std::size_t output = 0;
    for (const auto& buffer : plan.buffers) {
      if (!is_output(buffer)) continue;
      auto& seen = launched[i].outputs[output++];
      if (seen.sketch) seen.sketch = DeviceKernels::read_sketch(buffer.count, seen.bytes), seen.bytes = {};
    }
  }
  return launched;
}

Driven<Microseconds> DeviceStage::empty_launch() {
  AKO_CHECK(device_->fill(flush_.address(), flush_.size(), 0));
  AKO_CHECK(device_->record(starts_[0]));
  AKO_CHECK(kernels_->nothing());
  AKO_CHECK(device_->record(ends_[0]));
  AKO_CHECK(device_->wait(Seconds(5)));
  return ends_[0].since(starts_[0]);
}

}  // namespace ako
