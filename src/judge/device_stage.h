// SPDX-License-Identifier: Apache-2.0
// One launch of a candidate on a device, with everything round it.
//
// All memory that a candidate is given lies in one arena. Before every launch the arena is filled with a byte
// of chance, its buffers are put at places of chance with wide gaps between them, inputs are made anew,
// outputs and workspace are poisoned. Afterwards every byte of the arena outside the buffers is looked at,
// and the inputs' hashes are compared: nothing a launch leaves behind outlives it, and nothing that it writes
// where it should not stays unseen. Outputs leave the device (whole, or as secret projections) and are
// overwritten before the other side's launch. Expected values are never in this process's device memory at
// all.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "base/random.h"
#include "judge/device_kernels.h"
#include "judge/device_plan.h"

namespace ako {

/// A candidate's code on the device and its launches on one shape.
struct DeviceProgram {
  gpu::Module module;
  std::vector<gpu::Kernel> kernels;  // one per launch of the plan
  DevicePlan plan;
};

/// Which inputs: what generate_input makes of these.
struct InputsWanted {
  InputStyle style = InputStyle::declared;
  std::uint64_t seed = 0, stream = 0;
};

/// What one output looked like after a launch.
struct SeenOutput {
  std::span<const std::byte>
      bytes;  // its storage, when asked for or when it is small; until the batch after the next
  std::optional<Sketch> sketch;  // else
};

struct Launched {
  Microseconds duration{0};
  std::vector<SeenOutput> outputs;  // outputs and inouts, in the plan's order
  std::optional<std::string>
      damage;  // words for what was changed outside of the buffers, or among the inputs
};

/// Where outputs and projections arrive: host memory known to the device, which takes longer to make known
/// than a copy into it, so that one serves all stages of a judge, one stage at a time. Two take turns: the
/// sides of a pair are compared.
class DeviceLandings {
 public:
  DeviceLandings() = default;
  DeviceLandings(const DeviceLandings&) = delete;
  DeviceLandings& operator=(const DeviceLandings&) = delete;
  ~DeviceLandings();
  /// The next one, with room for `size` bytes; what stood in it is gone.
  gpu::Driven<std::span<std::byte>> next(gpu::Device&, std::size_t size);

 private:
  struct Landing {
    std::span<std::byte> memory;
    gpu::Pinned pinned;
  };
  static void release(Landing&);
  Landing landings_[2];
  std::size_t turn_ = 0;
};

class DeviceStage {
 public:
  /// Memory for the largest of the plans, `launches` of which are queued at a time. Fault: out of memory.
  static gpu::Driven<DeviceStage> create(gpu::Device&, DeviceKernels&, DeviceLandings&, const Problem&,
                                         const Shape&, Bytes largest_plan, int launches, std::uint64_t seed);

  struct Batch {
    const DeviceProgram& program;
    std::vector<InputsWanted> inputs;  // one launch for each
    std::uint64_t sketch_key = 0;      // the two sides of a pair share it; 0: outputs come whole
    bool flush = true;  // the last-level cache holds nothing of the inputs when a launch starts
    Seconds limit{5};
  };
  /// Runs the batch to its end. A fault is the program's unless its kind says otherwise.
  gpu::Driven<std::vector<Launched>> run(const Batch&);
  /// What an empty kernel takes, measured like a launch.
  gpu::Driven<Microseconds> empty_launch();

 private:
  struct Placed {
    std::vector<gpu::Address> at;  // by buffer
    std::uint8_t filling = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> gaps;  // offsets in the arena
  };
  explicit DeviceStage(gpu::Device& device, DeviceKernels& kernels, DeviceLandings& landings,
                       const Problem& problem, const Shape& shape, std::uint64_t seed)
      : device_(&device),
        kernels_(&kernels),
        landings_(&landings),
        problem_(&problem),
        shape_(&shape),
        random_(seed, 0x7374616765) {}

  Placed place(const DevicePlan&);
  gpu::Driven<void> make_inputs(const DevicePlan&, const Placed&, const InputsWanted&);
  gpu::Driven<void> prepare(const Batch&, const Placed&, const InputsWanted&);
  gpu::Driven<void> launch(const DeviceProgram&, const Placed&);
  gpu::Driven<void> make_landing(const Batch&);
  std::span<std::byte> land(std::size_t size);
  gpu::Driven<void> look_after(const Batch&, const Placed&, int slot, std::uint64_t hash_key, Launched&);
  gpu::Driven<void> hash_inputs(const DevicePlan&, const Placed&, std::uint64_t key, gpu::Address result);
  std::string describe_damage(const DevicePlan&, const Placed&, std::int64_t offset,
                              std::uint64_t count) const;
  gpu::Address notes_of(int slot) const;

  gpu::Device* device_;
  DeviceKernels* kernels_;
  DeviceLandings* landings_;
  const Problem* problem_;
  const Shape* shape_;
  Random random_;
  gpu::Memory arena_, flush_, notes_, sketches_;
  Bytes sketch_size_;
  std::span<std::byte> landing_;  // of the batch
  std::size_t landed_ = 0;
  std::vector<gpu::Event> starts_, ends_;
  struct HostInput {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0;
  };
  std::map<std::pair<TensorId, std::uint64_t>, HostInput> host_inputs_;  // of the latest streams
};

}  // namespace ako
