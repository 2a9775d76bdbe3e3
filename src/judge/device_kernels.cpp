// SPDX-License-Identifier: Apache-2.0
#include "judge/device_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/files.h"
#include "base/random.h"
#include "judge/device_source.h"
#include "problem/normal_table.h"
#include "problem/scalar_format.h"

namespace ako {
namespace {

using gpu::Address;
using gpu::Arguments;
using gpu::Driven;

constexpr std::int64_t kThreads = 256;
constexpr std::int64_t kSketchChunks = 4096;

/// As the kernels are told of a type: enum Kind and the packed Format of device_source.cpp.
struct DeviceType {
  std::int32_t kind = 0, bytes = 4, is_signed = 1;
  std::uint64_t format = 0;
};

DeviceType device_type(ScalarType type) {
  enum { kFloat, kF32, kF64, kInteger, kBoolean };
  DeviceType result;
  result.bytes = storage_bits(type) / 8;
  if (type == ScalarType::f32) {
    result.kind = kF32;
  } else if (type == ScalarType::f64) {
    result.kind = kF64;
  } else if (class_of(type) == NumberClass::real) {
    auto format = format_of(type);
    result.kind = kFloat;
    result.format = static_cast<std::uint64_t>(format.exponent_bits) |
                    static_cast<std::uint64_t>(format.mantissa_bits) << 8 |
                    static_cast<std::uint64_t>(format.specials) << 16 |
                    static_cast<std::uint64_t>(format.padding) << 24 |
                    static_cast<std::uint64_t>(format.bias) << 32;
  } else {
    result.kind = class_of(type) == NumberClass::boolean ? kBoolean : kInteger;
    result.is_signed = type != ScalarType::u8;
  }
  return result;
}

bool whole_bytes(ScalarType type) { return storage_bits(type) >= 8 && type != ScalarType::e8m0; }

/// Without launches: toolchains compile it as it is.
Candidate own_candidate(const TargetId& target) {
  Candidate candidate;
  candidate.language = device_language(target);
  candidate.sources = {{candidate.language == Language::cuda ? "ako_judge.cu" : "ako_judge.hip",
                        std::string(device_judge_source())}};
  return candidate;
}

// What the generator is tested on, and what toolchains are told the judge's kernels are of.
constexpr std::string_view kTestProblem = R"yaml(problem: generator_test
dims: {N: elements}
tensors:
  a: {type: f32, shape: [N], values: "normal(0.25, 3)"}
  b: {type: bf16, shape: [N], values: "uniform(-2, 5)"}
  c: {type: f64, shape: [N], values: "uniform(-1, 1)"}
  d: {type: i32, shape: [N], values: "integers(-5, 1000)"}
  e: {type: f8e4m3, shape: [N], values: "normal(0, 1)"}
  f: {type: f16, shape: [N], values: "normal(0, 20000)"}
  y: {type: f32, shape: [N]}
math: |
  y[n] = a[n] + b[n] + c[n] + d[n] + e[n] + f[n]
shapes:
  - {N: 4099}
tolerance: {snr_db: 80}
)yaml";

}  // namespace

Language device_language(const TargetId& target) {
  return target.starts_with("sm_") ? Language::cuda : Language::hip;
}

Result<DeviceKernels> DeviceKernels::load(gpu::Device& device,
                                          std::span<const std::unique_ptr<Toolchain>> toolchains,
                                          const TargetFacts& facts) {
  auto problem = parse_problem(kTestProblem, "generator_test.yaml");
  if (!problem) return std::unexpected(problem.error().front());
  Candidate candidate = own_candidate(facts.id);
  AKO_TRY(auto* toolchain, choose_toolchain(toolchains, candidate.language, facts.id));
  AKO_TRY(auto built, toolchain->build(candidate, *problem, facts));
  if (auto* failure = std::get_if<CompileFailure>(&built))
    return fail(
        ErrorKind::internal,
        fmt::format("{} does not compile the judge's own kernels: {}", toolchain->identity(), failure->log),
        "please report it with the compiler's version");
  AKO_TRY(auto image, read_file(std::get<Artifact>(built).code));
  return load(device, std::as_bytes(std::span(image)));
}

Result<DeviceKernels> DeviceKernels::load(gpu::Device& device, std::span<const std::byte> image) {
  DeviceKernels kernels(device);
  AKO_RESULT(kernels.module_, device.load(image));
  AKO_RESULT(kernels.generate_, kernels.module_.kernel("ako_generate"));
  AKO_RESULT(kernels.set_, kernels.module_.kernel("ako_set"));
  AKO_RESULT(kernels.guard_, kernels.module_.kernel("ako_guard"));
  AKO_RESULT(kernels.hash_, kernels.module_.kernel("ako_hash"));
  AKO_RESULT(kernels.scrub_, kernels.module_.kernel("ako_scrub_shared"));
  AKO_RESULT(kernels.nothing_, kernels.module_.kernel("ako_nothing"));
  AKO_RESULT(kernels.sketch_, kernels.module_.kernel("ako_sketch"));
  AKO_RESULT(kernels.table_, device.allocate({sizeof(NormalTable)}));
  AKO_CHECK_RESULT(kernels.refresh());
  AKO_CHECK(kernels.test_generator());
  return kernels;
}

Result<void> DeviceKernels::test_generator() const {
  auto problem = parse_problem(kTestProblem, "generator_test.yaml");
  if (!problem) return std::unexpected(problem.error().front());
  const Shape& shape = problem->shapes.front();
  const std::uint64_t seed = 0x1234567890ABCDEF, stream = 77;
  for (TensorId tensor : kernel_tensors(*problem)) {
    if (problem->tensor(tensor).role == TensorRole::output) continue;
    auto size =
        storage_bytes(problem->tensor(tensor).type, element_count(*problem, problem->tensor(tensor), shape));
    std::vector<std::byte> here(static_cast<std::size_t>(size.count)), there(here.size());
    generate_input(*problem, tensor, shape, InputStyle::declared, seed, stream, here, 1);
    AKO_RESULT(auto memory, device_->allocate(size));
    AKO_CHECK_RESULT(generate(*problem, tensor, shape, seed, stream, memory.address()));
    AKO_CHECK_RESULT(device_->download(there, memory.address()));
    AKO_CHECK_RESULT(device_->wait(Seconds(10)));
    if (here != there)
      return fail(ErrorKind::internal,
                  fmt::format("the device does not make the host's input values ({})",
                              problem->tensor(tensor).values->text),
                  "please report it with the compiler's version and the device's name");
  }
  return {};
}

Driven<void> DeviceKernels::run(const gpu::Kernel& kernel, std::int64_t threads,
                                const Arguments& arguments) const {
  gpu::LaunchSize size;
  size.block[0] = kThreads;
  // Loops with a grid's stride: enough blocks to fill the device is enough.
  size.grid[0] =
      std::clamp<std::int64_t>((threads + kThreads - 1) / kThreads, 1, 32LL * device_->info().compute_units);
  return device_->launch(kernel, size, arguments);
}

bool DeviceKernels::makes(const Problem& problem, TensorId which) {
  const Tensor& tensor = problem.tensor(which);
  if (!whole_bytes(tensor.type)) return false;
  switch (tensor.values.value_or(ValueSpec{}).distribution) {
    case Distribution::normal:
    case Distribution::uniform:
      return class_of(tensor.type) == NumberClass::real;
    case Distribution::integers:
      return true;
    default:
      return false;
  }
}

Driven<void> DeviceKernels::generate(const Problem& problem, TensorId which, const Shape& shape,
                                     std::uint64_t seed, std::uint64_t stream, Address out) const {
  const Tensor& tensor = problem.tensor(which);
  const ValueSpec spec = tensor.values.value_or(ValueSpec{});
  auto argument = [&](std::size_t i, double otherwise) {
    return i < spec.args.size() ? evaluate_constant(problem, spec.args[i], shape) : otherwise;
  };
  const double a = argument(0, 0), b = argument(1, 1);
  const std::int32_t distribution = spec.distribution == Distribution::normal    ? 0
                                    : spec.distribution == Distribution::uniform ? 1
                                                                                 : 2;
  const auto type = device_type(tensor.type);
  const std::int64_t count = element_count(problem, tensor, shape);
  Arguments arguments;
  arguments.add(out).add(count).add(seed).add(stream).add(static_cast<std::int32_t>(which)).add(distribution);
  arguments.add(static_cast<std::int32_t>(tensor.type == ScalarType::f64)).add(a).add(b);
  arguments.add(type.kind).add(type.bytes).add(type.format).add(table_.address());
  return count == 0 ? Driven<void>() : run(generate_, (count + 3) / 4, arguments);
}

Driven<void> DeviceKernels::refresh() {
  return device_->upload(table_.address(), std::as_bytes(std::span(&normal_table(), 1)));
}

Driven<void> DeviceKernels::set(Address at, Bytes size, std::uint8_t value) const {
  if (size.count == 0) return {};
  return run(set_, (size.count + 3) / 4, Arguments().add(at).add(size.count).add(std::uint32_t{value}));
}

Driven<void> DeviceKernels::guard(Address base, std::int64_t begin, std::int64_t end, std::uint8_t value,
                                  Address result) const {
  if (end <= begin) return {};
  return run(guard_, (end - begin + 3) / 4,
             Arguments().add(base).add(begin).add(end).add(std::uint32_t{value}).add(result));
}

Driven<void> DeviceKernels::hash(Address at, Bytes size, std::uint64_t key, Address result) const {
  if (size.count == 0) return {};
  return run(hash_, (size.count + 7) / 8, Arguments().add(at).add(size.count).add(key).add(result));
}

Driven<void> DeviceKernels::scrub_shared() const {
  gpu::LaunchSize size;
  size.block[0] = kThreads;
  size.shared = device_->info().shared_per_block.count;
  size.grid[0] = 2LL * device_->info().compute_units;  // one block has a unit's shared memory to itself
  return device_->launch(scrub_, size, Arguments().add(static_cast<std::int32_t>(size.shared / 4)));
}

Driven<void> DeviceKernels::nothing() const { return run(nothing_, 1, Arguments().add(std::int32_t{0})); }

std::int64_t DeviceKernels::sketch_chunks(std::int64_t count) {
  return std::clamp<std::int64_t>((count + kThreads - 1) / kThreads, 1, kSketchChunks);
}
bool DeviceKernels::sketches(ScalarType type) { return whole_bytes(type); }

Driven<void> DeviceKernels::sketch(Address in, ScalarType scalar, std::int64_t count, std::uint64_t key,
                                   Address out) const {
  const auto type = device_type(scalar);
  const std::int64_t chunks = sketch_chunks(count);
  const auto step = static_cast<Address>(8 * chunks);
  Arguments arguments;
  arguments.add(in).add(count).add(chunks).add(key).add(type.kind).add(type.bytes).add(type.format);
  arguments.add(type.is_signed).add(out).add(out + step).add(out + 2 * step);
  return run(sketch_, chunks * kThreads, arguments);
}

Sketch DeviceKernels::read_sketch(std::int64_t count, std::span<const std::byte> bytes) {
  const auto chunks = static_cast<std::size_t>(sketch_chunks(count));
  Sketch sketch{std::vector<double>(chunks), std::vector<double>(chunks), std::vector<std::uint64_t>(chunks)};
  std::memcpy(sketch.sums.data(), bytes.data(), 8 * chunks);
  std::memcpy(sketch.squares.data(), bytes.data() + 8 * chunks, 8 * chunks);
  std::memcpy(sketch.specials.data(), bytes.data() + 16 * chunks, 8 * chunks);
  return sketch;
}

}  // namespace ako
