// SPDX-License-Identifier: Apache-2.0
// The fp64 reference on a device: every statement by plain kernels.
#include <fmt/format.h>

#include <algorithm>

#include "synth/gpu/gpu.h"
#include "synth/gpu/nest.h"

namespace ako {

namespace {

using synth::gpu::Unit;
using synth::gpu::write_nest;

class Binder {
 public:
  Binder(const Problem& problem, const Shape& shape, const Unit& unit)
      : problem_(problem), shape_(shape), unit_(unit), plan_(unit.plan()) {
    for (std::size_t i = 0; i < problem.dims.size(); ++i) dims_[problem.dims[i].name] = shape.dims[i];
  }

  Result<GpuReference> bind(SourceFile source) {
    GpuReference result;
    result.source = std::move(source);
    for (const TensorId id : kernel_tensors(problem_)) {
      const Tensor& tensor = problem_.tensor(id);
      if (tensor.role == TensorRole::output) continue;
      names_[tensor.name] = result.buffers.size();
      result.buffers.push_back(
          {GpuBuffer::Role::input, id, tensor.name, tensor.type, element_count(problem_, tensor, shape_)});
    }
    for (const WorkspaceBuffer& buffer : plan_.workspace) {
      AKO_TRY(const std::int64_t count, evaluate(buffer.shape.at(0), dims_));
      names_[buffer.name] = result.buffers.size();
      result.buffers.push_back({GpuBuffer::Role::temporary, -1, buffer.name, buffer.type, count});
      for (const auto& [name, tensor] : unit_.expected()) {
        if (name != buffer.name) continue;
        result.buffers.back().role = GpuBuffer::Role::expected;
        result.buffers.back().tensor = tensor;
      }
    }
    for (const Launch& launch : plan_.launches) {
      AKO_TRY(GpuStep step, step_of(launch));
      result.steps.push_back(std::move(step));
    }
    return result;
  }

 private:
  Result<GpuStep> step_of(const Launch& launch) {
    GpuStep step;
    step.kernel = launch.kernel;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      AKO_TRY(step.grid[axis], evaluate(launch.grid[axis], dims_));
      AKO_TRY(step.block[axis], evaluate(launch.block[axis], dims_));
    }
    AKO_TRY(step.shared, evaluate(launch.shared, dims_));
    for (const std::string& name : launch.args) step.arguments.push_back(argument(name));
    return step;
  }

  GpuArgument argument(const std::string& name) {
    GpuArgument result;
    if (const auto buffer = names_.find(name); buffer != names_.end()) {
      result.kind = GpuArgument::Kind::buffer;
      result.buffer = buffer->second;
    } else if (const auto dim = dims_.find(name); dim != dims_.end()) {
      result.integer = dim->second;
    } else {
      const auto scalar = std::ranges::find(problem_.scalars, name, &Scalar::name);
      const double value = round_to(scalar->type, scalar->value);
      const bool real = class_of(scalar->type) == NumberClass::real;
      result.kind = real ? GpuArgument::Kind::real : GpuArgument::Kind::integer;
      result.real = value;
      result.integer = real ? 0 : static_cast<std::int64_t>(value);
    }
    return result;
  }

  const Problem& problem_;
  const Shape& shape_;
  const Unit& unit_;
  LaunchPlan plan_;
  Bindings dims_;
  std::map<std::string, std::size_t> names_;
};

}  // namespace

Result<GpuReference> gpu_reference_source(const Problem& problem, const Shape& shape) {
  if (problem.python_reference)
    return fail(ErrorKind::unsupported, "the reference of this problem is a Python file, not its math",
                "evaluate it on the host");
  const synth::Program program = synth::normalize(problem);
  Unit unit(problem, program, {.wide = true, .reference = true});
  std::set<TensorId> assigned;
  for (const Statement& statement : program.statements) {
    const bool first = !assigned.contains(statement.target);
    write_nest(unit, statement, {}, first);
    if (statement.kind != StatementKind::initial) assigned.insert(statement.target);
  }
  const std::string head =
      fmt::format("The fp64 reference of {}, generated from\n\n{}", problem.name, problem.math);
  return Binder(problem, shape, unit).bind({problem.name + "_reference.cu", unit.source(head)});
}

}  // namespace ako
