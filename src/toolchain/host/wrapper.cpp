// SPDX-License-Identifier: Apache-2.0
#include "toolchain/host/wrapper.h"

#include <fmt/format.h>

#include <algorithm>

namespace ako {
namespace {

/// How an element is stored: the narrow floats travel as their bits.
std::string_view storage_type(ScalarType type) {
  switch (type) {
    case ScalarType::f64:
      return "double";
    case ScalarType::f32:
    case ScalarType::tf32:
      return "float";
    case ScalarType::f16:
    case ScalarType::bf16:
      return "uint16_t";
    case ScalarType::i64:
      return "int64_t";
    case ScalarType::i32:
      return "int32_t";
    case ScalarType::i16:
      return "int16_t";
    case ScalarType::i8:
      return "int8_t";
    default:
      return "uint8_t";
  }
}

std::string passed_type(const Argument& argument, const Problem& problem) {
  switch (argument.kind) {
    case Argument::Kind::tensor:
    case Argument::Kind::workspace:
      return "void*";
    case Argument::Kind::scalar:
      return std::string(storage_type(problem.scalars[static_cast<std::size_t>(argument.ref)].type));
    case Argument::Kind::integer:
      break;
  }
  return "int64_t";
}

std::string declared_type(const Argument& argument, const LaunchPlan& plan, const Problem& problem) {
  if (argument.kind == Argument::Kind::workspace)
    return fmt::format("{}*", storage_type(plan.workspace[static_cast<std::size_t>(argument.ref)].type));
  if (argument.kind != Argument::Kind::tensor) return passed_type(argument, problem);
  const Tensor& tensor = problem.tensor(argument.ref);
  return fmt::format("{}{}*", tensor.role == TensorRole::input ? "const " : "", storage_type(tensor.type));
}

KernelSignature signature(const Launch& launch, const std::vector<Argument>& arguments,
                          const LaunchPlan& plan, const Problem& problem) {
  KernelSignature out{launch.kernel, {}, {}, {}};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    out.types.push_back(passed_type(arguments[i], problem));
    out.names.push_back(is_symbol(launch.args[i]) ? launch.args[i] : fmt::format("n{}", i));
    out.declared.push_back(declared_type(arguments[i], plan, problem));
  }
  return out;
}

}  // namespace

Result<std::vector<KernelSignature>> signatures(const LaunchPlan& plan, const Problem& problem) {
  AKO_TRY(auto arguments, argument_kinds(plan, problem));
  std::vector<KernelSignature> all;
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    KernelSignature next = signature(plan.launches[i], arguments[i], plan, problem);
    auto same =
        std::find_if(all.begin(), all.end(), [&](const auto& known) { return known.symbol == next.symbol; });
    if (same == all.end())
      all.push_back(std::move(next));
    else if (same->types != next.types)
      return fail(ErrorKind::invalid_input,
                  fmt::format("the plan launches '{}' twice with different types: ({}), then ({})",
                              next.symbol, fmt::join(same->types, ", "), fmt::join(next.types, ", ")),
                  "give the launches the same kinds of arguments, or use two kernels");
  }
  return all;
}

std::string declaration(const KernelSignature& signature) {
  std::vector<std::string> parameters;
  for (std::size_t i = 0; i < signature.names.size(); ++i)
    parameters.push_back(fmt::format("{} {}", signature.declared[i], signature.names[i]));
  return fmt::format("extern \"C\" void {}({})", signature.symbol, fmt::join(parameters, ", "));
}

std::string wrapper_source(const std::vector<KernelSignature>& signatures) {
  // No header: including <stdint.h> would cost more than compiling the rest.
  std::string out =
      "typedef __INT64_TYPE__ int64_t; typedef __INT32_TYPE__ int32_t; typedef __INT16_TYPE__ int16_t;\n"
      "typedef __INT8_TYPE__ int8_t; typedef __UINT16_TYPE__ uint16_t; typedef __UINT8_TYPE__ uint8_t;\n"
      "#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
  for (const KernelSignature& kernel : signatures) {
    std::vector<std::string> values;
    for (std::size_t i = 0; i < kernel.types.size(); ++i)
      values.push_back(fmt::format("*({}*)args[{}]", kernel.types[i], i));
    out += fmt::format(
        "extern void {0}({1});\n"
        "__attribute__((visibility(\"default\"))) void ako_call_{0}(void** args) {{ {0}({2}); }}\n",
        kernel.symbol, fmt::join(kernel.types, ", "), fmt::join(values, ", "));
  }
  return out + "#ifdef __cplusplus\n}\n#endif\n";
}

}  // namespace ako
