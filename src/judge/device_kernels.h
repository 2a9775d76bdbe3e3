// SPDX-License-Identifier: Apache-2.0
// The judge's own kernels, loaded on a device: device_source.cpp has their text and says what each does.
#pragma once

#include <span>

#include "problem/inputs.h"
#include "target/gpu/device.h"
#include "toolchain/toolchain.h"

namespace ako {

/// Languages a target's kernels are written in: CUDA for sm_…, HIP for gfx….
Language device_language(const TargetId&);

/// A projection of one output (device_source.cpp, ako_sketch).
struct Sketch {
  std::vector<double> sums, squares;
  std::vector<std::uint64_t> specials;
};

class DeviceKernels {
 public:
  /// Compiles the source (or finds it in the cache), loads it, and holds its generator to the host's.
  static Result<DeviceKernels> load(gpu::Device&, std::span<const std::unique_ptr<Toolchain>>,
                                    const TargetFacts&);
  static Result<DeviceKernels> load(gpu::Device&, std::span<const std::byte> image);

  /// Whether generate() makes this tensor's values; others are made on the host and uploaded.
  static bool makes(const Problem&, TensorId);
  /// As generate_input with InputStyle::declared, bit for bit.
  gpu::Driven<void> generate(const Problem&, TensorId, const Shape&, std::uint64_t seed, std::uint64_t stream,
                             gpu::Address) const;
  /// Puts the generator's table back in place, whoever may have written there.
  gpu::Driven<void> refresh();
  gpu::Driven<void> set(gpu::Address, Bytes, std::uint8_t value) const;
  /// Adds to result[0], result[1]: bytes of [begin, end) that are not `value`, and 1 + the offset of the
  /// first.
  gpu::Driven<void> guard(gpu::Address base, std::int64_t begin, std::int64_t end, std::uint8_t value,
                          gpu::Address result) const;
  gpu::Driven<void> hash(gpu::Address, Bytes, std::uint64_t key, gpu::Address result) const;
  gpu::Driven<void> scrub_shared() const;
  gpu::Driven<void> nothing() const;

  static std::int64_t sketch_chunks(std::int64_t count);
  static Bytes sketch_bytes(std::int64_t count) { return {24 * sketch_chunks(count)}; }
  /// Queues a projection of `count` elements into `out`, which holds zeros.
  gpu::Driven<void> sketch(gpu::Address, ScalarType, std::int64_t count, std::uint64_t key,
                           gpu::Address out) const;
  static Sketch read_sketch(std::int64_t count, std::span<const std::byte>);
  /// Types that a sketch can read: whole bytes.
  static bool sketches(ScalarType);

 private:
  explicit DeviceKernels(gpu::Device& device) : device_(&device) {}
  gpu::Driven<void> run(const gpu::Kernel&, std::int64_t threads, const gpu::Arguments&) const;
  Result<void> test_generator() const;

  gpu::Device* device_;
  gpu::Module module_;
  gpu::Kernel generate_, set_, guard_, hash_, scrub_, nothing_, sketch_;
  gpu::Memory table_;
};

}  // namespace ako
