// SPDX-License-Identifier: Apache-2.0
#include "judge/device_plan.h"

#include <algorithm>
#include <bit>

namespace ako {
namespace {

Bindings bound_names(const Problem& problem, const Shape& shape, const Candidate& candidate) {
  Bindings names = tunables_in_force(candidate.plan, candidate.tunables);
  for (std::size_t i = 0; i < problem.dims.size(); ++i) names[problem.dims[i].name] = shape.dims[i];
  return names;
}

Result<DeviceBuffer> workspace_of(const WorkspaceBuffer& declared, const Bindings& names) {
  DeviceBuffer buffer{DeviceBuffer::Role::workspace, -1, declared.name, declared.type, 1, {}};
  for (const auto& extent : declared.shape) {
    AKO_TRY(std::int64_t size, evaluate(extent, names));
    if (size < 0 || __builtin_mul_overflow(buffer.count, size, &buffer.count))
      return fail(ErrorKind::invalid_input,
                  "workspace " + declared.name + " has an impossible size: " + extent.text);
  }
  buffer.size = storage_bytes(buffer.type, buffer.count);
  return buffer;
}

/// In its declared C type (kernel/launch_plan.h).
Result<DeviceArgument> scalar_value(const Scalar& scalar) {
  switch (scalar.type) {
    case ScalarType::f64:
      return DeviceArgument{-1, std::bit_cast<std::uint64_t>(scalar.value), 8};
    case ScalarType::f32:
      return DeviceArgument{-1, std::bit_cast<std::uint32_t>(static_cast<float>(scalar.value)), 4};
    case ScalarType::i64:
    case ScalarType::i32:
    case ScalarType::i16:
    case ScalarType::i8:
    case ScalarType::u8:
    case ScalarType::boolean: {
      auto size = static_cast<std::size_t>(storage_bits(scalar.type) / 8);
      return DeviceArgument{-1, static_cast<std::uint64_t>(static_cast<std::int64_t>(scalar.value)), size};
    }
    case ScalarType::f16:
    case ScalarType::bf16:
      return DeviceArgument{-1, encode(scalar.type, scalar.value), 2};
    default:
      return fail(ErrorKind::unsupported,
                  "scalar " + scalar.name + " has type " + std::string(name_of(scalar.type)) +
                      ", which cannot be passed to a kernel",
                  "declare it f32, f64, f16, bf16 or an integer type");
  }
}

Result<DeviceArgument> argument_of(const Argument& bound, const Problem& problem, const DevicePlan& plan,
                                   std::size_t tensors) {
  switch (bound.kind) {
    case Argument::Kind::tensor:
      for (std::size_t i = 0; i < tensors; ++i)
        if (plan.buffers[i].tensor == bound.ref) return DeviceArgument{static_cast<int>(i), 0, 8};
      return fail(ErrorKind::invalid_input,
                  "the launch plan passes a tensor that is no input or output of the problem");
    case Argument::Kind::workspace:
      return DeviceArgument{static_cast<int>(tensors) + bound.ref, 0, 8};
    case Argument::Kind::scalar:
      return scalar_value(problem.scalars[static_cast<std::size_t>(bound.ref)]);
    case Argument::Kind::integer:
      break;
  }
  return DeviceArgument{-1, static_cast<std::uint64_t>(bound.integer), 8};
}

Result<gpu::LaunchSize> size_of(const Launch& launch, const Bindings& names) {
  gpu::LaunchSize size;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    AKO_TRY(size.grid[axis], evaluate(launch.grid[axis], names));
    AKO_TRY(size.block[axis], evaluate(launch.block[axis], names));
  }
  AKO_TRY(size.shared, evaluate(launch.shared, names));
  return size;
}

}  // namespace

Bytes DevicePlan::total() const {
  Bytes sum;
  for (const auto& buffer : buffers) sum += buffer.size;
  return sum;
}

Result<DevicePlan> bind_plan(const Problem& problem, const Shape& shape, const Candidate& candidate) {
  DevicePlan plan;
  for (TensorId id : kernel_tensors(problem)) {
    const Tensor& tensor = problem.tensor(id);
    DeviceBuffer buffer;
    buffer.role = tensor.role == TensorRole::input   ? DeviceBuffer::Role::input
                  : tensor.role == TensorRole::inout ? DeviceBuffer::Role::inout
                                                     : DeviceBuffer::Role::output;
    buffer.tensor = id;
    buffer.name = tensor.name;
    buffer.type = tensor.type;
    buffer.count = element_count(problem, tensor, shape);
    buffer.size = storage_bytes(buffer.type, buffer.count);
    plan.buffers.push_back(std::move(buffer));
  }
  const std::size_t tensors = plan.buffers.size();
  const Bindings names = bound_names(problem, shape, candidate);
  for (const auto& declared : candidate.plan.workspace) {
    AKO_TRY(auto buffer, workspace_of(declared, names));
    plan.buffers.push_back(std::move(buffer));
  }
  AKO_TRY(auto bound, bind_arguments(candidate.plan, problem, shape, candidate.tunables));
  for (std::size_t i = 0; i < bound.size(); ++i) {
    const Launch& declared = candidate.plan.launches[i];
    DeviceLaunch launch;
    launch.kernel = declared.kernel;
    AKO_TRY(launch.size, size_of(declared, names));
    for (const auto& argument : bound[i]) {
      AKO_TRY(auto one, argument_of(argument, problem, plan, tensors));
      launch.arguments.push_back(one);
    }
    plan.launches.push_back(std::move(launch));
  }
  return plan;
}

}  // namespace ako
