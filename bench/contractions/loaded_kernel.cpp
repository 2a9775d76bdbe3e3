// SPDX-License-Identifier: Apache-2.0
#include "loaded_kernel.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "problem/inputs.h"

namespace ako::bench {

Buffer::Buffer(std::size_t size)
    : data_(static_cast<std::byte*>(std::aligned_alloc(4096, (size + 8191) / 4096 * 4096))), size_(size) {
  std::memset(data_.get(), 0, size);
}

void Buffer::Free::operator()(std::byte* p) const { std::free(p); }

std::vector<Buffer> make_tensors(const Problem& problem, const Shape& shape) {
  std::vector<Buffer> buffers;
  for (const TensorId id : kernel_tensors(problem)) {
    const Tensor& tensor = problem.tensor(id);
    buffers.emplace_back(
        static_cast<std::size_t>(storage_bytes(tensor.type, element_count(problem, tensor, shape)).count));
    if (tensor.role == TensorRole::output) continue;
    generate_input(problem, id, shape, InputStyle::declared, 1, static_cast<std::uint64_t>(id),
                   buffers.back().bytes());
  }
  return buffers;
}

namespace {

Result<std::vector<Buffer>> make_workspace(const Candidate& candidate, const Problem& problem,
                                           const Shape& shape) {
  Bindings bindings = tunables_in_force(candidate.plan, candidate.tunables);
  for (std::size_t i = 0; i < problem.dims.size(); ++i) bindings[problem.dims[i].name] = shape.dims[i];
  std::vector<Buffer> buffers;
  for (const WorkspaceBuffer& buffer : candidate.plan.workspace) {
    std::int64_t count = 1;
    for (const IntegerExpression& extent : buffer.shape) {
      AKO_TRY(const std::int64_t value, evaluate(extent, bindings));
      count *= value;
    }
    buffers.emplace_back(static_cast<std::size_t>(storage_bytes(buffer.type, count).count));
  }
  return buffers;
}

}  // namespace

Result<LoadedKernel> LoadedKernel::load(Toolchain& toolchain, const Candidate& candidate,
                                        const Problem& problem, const Shape& shape, const TargetFacts& facts,
                                        std::vector<Buffer>& tensors) {
  AKO_TRY(const BuildResult built, toolchain.build(candidate, problem, facts));
  if (const auto* failure = std::get_if<CompileFailure>(&built))
    return fail(ErrorKind::invalid_input, "it does not compile: " + failure->log);
  LoadedKernel kernel;
  // Not unloaded: the OpenMP library that comes with it has threads which outlive the last launch.
  void* library = dlopen(std::get<Artifact>(built).code.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) return fail(ErrorKind::unavailable, dlerror());
  AKO_TRY(kernel.workspace_, make_workspace(candidate, problem, shape));
  AKO_TRY(const auto launches, bind_arguments(candidate.plan, problem, shape, candidate.tunables));
  const std::vector<TensorId> ids = kernel_tensors(problem);
  for (std::size_t i = 0; i < launches.size(); ++i) {
    Call call;
    const std::string symbol = "ako_call_" + candidate.plan.launches[i].kernel;
    call.function = reinterpret_cast<void (*)(void**)>(dlsym(library, symbol.c_str()));
    if (call.function == nullptr) return fail(ErrorKind::unavailable, "no symbol " + symbol);
    for (const Argument& argument : launches[i]) {
      std::array<std::byte, 8> value{};
      void* address = nullptr;
      switch (argument.kind) {
        case Argument::Kind::tensor:
          address = tensors[static_cast<std::size_t>(std::ranges::find(ids, argument.ref) - ids.begin())]
                        .bytes()
                        .data();
          break;
        case Argument::Kind::workspace:
          address = kernel.workspace_[static_cast<std::size_t>(argument.ref)].bytes().data();
          break;
        case Argument::Kind::scalar: {
          const Scalar& scalar = problem.scalars[static_cast<std::size_t>(argument.ref)];
          encode_array(scalar.type, {&scalar.value, 1}, value);
          break;
        }
        case Argument::Kind::integer:
          std::memcpy(value.data(), &argument.integer, 8);
          break;
      }
      if (address != nullptr) std::memcpy(value.data(), &address, 8);
      call.values.push_back(value);
    }
    for (auto& value : call.values) call.pointers.push_back(value.data());
    kernel.calls_.push_back(std::move(call));
  }
  return kernel;
}

}  // namespace ako::bench
