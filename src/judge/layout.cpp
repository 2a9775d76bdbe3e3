// SPDX-License-Identifier: Apache-2.0
#include "judge/layout.h"

#include <algorithm>

namespace ako {
namespace {

using host::Access;
using host::GuestArgument;
using host::GuestLaunch;

Bindings names_of(const Problem& problem, const Shape& shape, const Candidate& candidate) {
  Bindings names = candidate.tunables;
  for (std::size_t i = 0; i < problem.dims.size(); ++i) names[problem.dims[i].name] = shape.dims[i];
  for (const auto& [name, values] : candidate.plan.tunables)
    if (!values.empty()) names.try_emplace(name, values.front());
  return names;
}

Result<std::int64_t> workspace_elements(const WorkspaceBuffer& buffer, const Bindings& names) {
  std::int64_t count = 1;
  for (const auto& extent : buffer.shape) {
    AKO_TRY(std::int64_t size, evaluate(extent, names));
    if (size < 0 || __builtin_mul_overflow(count, size, &count))
      return fail(ErrorKind::invalid_input,
                  "workspace " + buffer.name + " has an impossible size: " + extent.text);
  }
  return count;
}

/// How a scalar travels: in its declared C type (kernel/launch_plan.h).
Result<GuestArgument> scalar_argument(const Scalar& scalar) {
  GuestArgument argument;
  argument.real = scalar.value;
  argument.integer = static_cast<std::int64_t>(scalar.value);
  switch (scalar.type) {
    case ScalarType::f64:
      argument.kind = GuestArgument::Kind::f64;
      return argument;
    case ScalarType::f32:
      argument.kind = GuestArgument::Kind::f32;
      return argument;
    case ScalarType::i64:
      argument.kind = GuestArgument::Kind::integer;
      return argument;
    case ScalarType::i32:
      argument.kind = GuestArgument::Kind::i32;
      return argument;
    case ScalarType::u8:
    case ScalarType::i8:
    case ScalarType::boolean:
      argument.kind = GuestArgument::Kind::bits8;
      return argument;
    case ScalarType::i16:
      argument.kind = GuestArgument::Kind::bits16;
      return argument;
    case ScalarType::f16:
    case ScalarType::bf16:
      argument.kind = GuestArgument::Kind::bits16;
      argument.integer = static_cast<std::int64_t>(encode(scalar.type, scalar.value));
      return argument;
    default:
      return fail(ErrorKind::unsupported,
                  "scalar " + scalar.name + " has type " + std::string(name_of(scalar.type)) +
                      ", which cannot be passed to a host kernel",
                  "declare it f32, f64, f16, bf16 or an integer type");
  }
}

GuestArgument buffer_argument(int group, std::size_t buffer) {
  GuestArgument argument;
  argument.kind = GuestArgument::Kind::buffer;
  argument.group = group;
  argument.buffer = buffer;
  return argument;
}

Result<GuestArgument> guest_argument(const Argument& bound, const Problem& problem, const Layout& layout) {
  switch (bound.kind) {
    case Argument::Kind::tensor: {
      auto found = std::find_if(layout.tensors.begin(), layout.tensors.end(),
                                [&](const TensorBuffer& one) { return one.tensor == bound.ref; });
      if (found == layout.tensors.end())
        return fail(ErrorKind::invalid_input,
                    "the launch plan passes a tensor that is no input or output of the problem");
      return buffer_argument(found->role == TensorRole::input ? 0 : layout.output_group(), found->buffer);
    }
    case Argument::Kind::workspace:
      return buffer_argument(layout.workspace_group(), static_cast<std::size_t>(bound.ref));
    case Argument::Kind::scalar:
      return scalar_argument(problem.scalars[static_cast<std::size_t>(bound.ref)]);
    case Argument::Kind::integer:
      break;
  }
  GuestArgument argument;
  argument.integer = bound.integer;
  return argument;
}

}  // namespace

Layout lay_out(const Problem& problem, const Shape& shape) {
  Layout layout;
  std::size_t inouts = 0;
  for (TensorId id : kernel_tensors(problem)) {
    const Tensor& tensor = problem.tensor(id);
    TensorBuffer one;
    one.tensor = id;
    one.type = tensor.type;
    one.role = tensor.role;
    one.extents = extents(problem, tensor, shape);
    one.count = element_count(problem, tensor, shape);
    one.size = storage_bytes(one.type, one.count);
    bool input = one.role == TensorRole::input;
    auto& group = input ? layout.inputs : layout.outputs;
    one.buffer = group.size();
    if (one.role == TensorRole::inout) one.inout = inouts++;
    group.push_back({tensor.name, one.size, input ? Access::read_only : Access::read_write});
    (input ? layout.slot_inputs : layout.slot_outputs) += one.size;
    layout.tensors.push_back(std::move(one));
  }
  return layout;
}

Result<std::vector<host::BufferSpec>> workspace_specs(const Problem& problem, const Shape& shape,
                                                      const Candidate& candidate) {
  auto names = names_of(problem, shape, candidate);
  std::vector<host::BufferSpec> specs;
  for (const auto& buffer : candidate.plan.workspace) {
    AKO_TRY(std::int64_t count, workspace_elements(buffer, names));
    specs.push_back({buffer.name, storage_bytes(buffer.type, count), Access::read_write});
  }
  return specs;
}

Result<std::vector<GuestLaunch>> guest_launches(const Problem& problem, const Shape& shape,
                                                const Candidate& candidate, const Layout& layout) {
  AKO_TRY(auto bound, bind_arguments(candidate.plan, problem, shape, candidate.tunables));
  std::vector<GuestLaunch> launches;
  for (std::size_t i = 0; i < bound.size(); ++i) {
    GuestLaunch launch{candidate.plan.launches[i].kernel, {}};
    for (const auto& argument : bound[i]) {
      AKO_TRY(auto one, guest_argument(argument, problem, layout));
      launch.arguments.push_back(one);
    }
    launches.push_back(std::move(launch));
  }
  return launches;
}

}  // namespace ako
