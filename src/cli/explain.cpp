// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/cli.h"
#include "problem/cost.h"
#include "target/host/host.h"

namespace ako {
namespace {

struct ExplainOptions {
  std::string problem, shapes;
};

std::string_view role_name(TensorRole role) {
  switch (role) {
    case TensorRole::input:
      return "input";
    case TensorRole::output:
      return "output";
    case TensorRole::inout:
      return "in and out";
    case TensorRole::temporary:
      return "temporary";
  }
  return "temporary";
}

std::string shape_text(const Problem& problem, const Tensor& tensor) {
  std::string text;
  for (ExprId extent : tensor.shape) text += (text.empty() ? "" : ", ") + to_text(problem, extent);
  return "[" + text + "]";
}

/// A problem without math costs what its `cost:` says, and nobody knows what that leaves out.
struct KnownCost {
  Cost cost;
  bool flops = true, bytes = true;

  KnownCost(const Problem& problem, const Shape& shape)
      : cost(cost_of(problem, shape)),
        flops(!problem.statements.empty() || problem.declared_flops),
        bytes(!problem.statements.empty() || problem.declared_bytes) {}
};

std::string_view pattern_text(const Problem& problem) {
  return problem.statements.empty() ? "unknown" : name_of(pattern_of(problem));
}

template <class Value>
nlohmann::json known_or_null(bool known, Value value) {
  return known ? nlohmann::json(value) : nlohmann::json();
}

nlohmann::json explain_json(const Problem& problem, const TargetFacts& facts) {
  nlohmann::json dims = nlohmann::json::object(), tensors = nlohmann::json::array(),
                 shapes = nlohmann::json::array();
  for (const Dim& dim : problem.dims) dims[dim.name] = dim.meaning;
  for (const Tensor& tensor : problem.tensors)
    tensors.push_back({{"name", tensor.name},
                       {"type", tensor.exact ? "exact" : name_of(tensor.type)},
                       {"shape", shape_text(problem, tensor)},
                       {"role", role_name(tensor.role)},
                       {"values", tensor.values ? tensor.values->text : ""}});
  for (const Shape& shape : problem.shapes) {
    KnownCost known(problem, shape);
    const Cost& cost = known.cost;
    Roofline roof = roofline(cost, facts, arithmetic_type(problem));
    bool bounded = roof.duration > Microseconds(0);
    shapes.push_back(
        {{"label", shape.label},
         {"core", shape.core},
         {"representative", shape.representative},
         {"flops", known_or_null(known.flops, cost.flops)},
         {"transcendental", known_or_null(!problem.statements.empty(), cost.transcendental)},
         {"contraction_flops", known_or_null(!problem.statements.empty(), cost.contraction_flops)},
         {"bytes", known_or_null(known.bytes, cost.compulsory.count)},
         {"intensity", known_or_null(known.flops && known.bytes, cost.intensity())},
         {"roof_us", roof.duration.count()},
         {"bound", bounded ? roof.bound : "unknown"}});
  }
  return {{"problem", problem.name},
          {"summary", problem.summary},
          {"id", problem.id.hex()},
          {"pattern", pattern_text(problem)},
          {"dims", dims},
          {"tensors", tensors},
          {"math", problem.math},
          {"device", facts.device},
          {"shapes", shapes}};
}

std::string count_text(double count) {
  for (auto [scale, unit] : {std::pair{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}})
    if (count >= scale) return fmt::format("{:.2f}{}", count / scale, unit);
  return fmt::format("{:.0f}", count);
}

std::string tensor_table(const Problem& problem) {
  std::vector<std::vector<std::string>> rows{{"  tensor", "type", "shape", "role", "values"}};
  for (const Tensor& tensor : problem.tensors)
    rows.push_back({"  " + tensor.name, tensor.exact ? "exact" : std::string(name_of(tensor.type)),
                    shape_text(problem, tensor), std::string(role_name(tensor.role)),
                    tensor.values ? tensor.values->text : ""});
  return aligned_table(rows, {});
}

std::string shape_table(const Problem& problem, const TargetFacts& facts) {
  std::vector<std::vector<std::string>> rows{
      {"  shape", "", "FLOPs", "bytes", "FLOP/byte", "roofline", "bound"}};
  for (const Shape& shape : problem.shapes) {
    KnownCost known(problem, shape);
    const Cost& cost = known.cost;
    Roofline roof = roofline(cost, facts, arithmetic_type(problem));
    bool bounded = roof.duration > Microseconds(0);
    std::string kind = std::string(shape.core ? "core" : "") +
                       (shape.core && shape.representative ? ", " : "") +
                       (shape.representative ? "representative" : "");
    rows.push_back({"  " + shape.label, kind, known.flops ? count_text(cost.flops) : "unknown",
                    known.bytes ? to_text(cost.compulsory) : "unknown",
                    known.flops && known.bytes ? fmt::format("{:.2f}", cost.intensity()) : "unknown",
                    bounded ? to_text(roof.duration) : "unknown", bounded ? roof.bound : "-"});
  }
  return aligned_table(rows, {false, false, true, true, true, true, false});
}

int explain(const ExplainOptions& options, const Context& context) {
  auto problem = problem_argument(options.problem, options.shapes);
  if (!problem) return complain(context, problem.error());
  TargetFacts facts = host::look_up();
  if (context.json) {
    print_json(explain_json(*problem, facts));
    return exit_code::fine;
  }
  Style style(context.color);
  fmt::print("{}: {}\n  pattern: {}\n\n", style.bold(printable(problem->name)), printable(problem->summary),
             pattern_text(*problem));
  for (const Dim& dim : problem->dims)
    fmt::print("  {}  {}\n", printable(dim.name), style.dim(printable(dim.meaning)));
  fmt::print("\n{}\n", printable(tensor_table(*problem), true));
  for (const Statement& statement : problem->statements)
    fmt::print("  {}\n", printable(to_text(*problem, statement), true));
  fmt::print("\n{}", printable(shape_table(*problem, facts), true));
  if (!facts.fact("copy_bandwidth_bytes_per_s"))
    fmt::print(
        "\nThe roofline is unknown: this machine was never measured. 'ako doctor --measure' does it once.\n");
  else
    fmt::print("\nRoofline of {}.\n", printable(facts.device));
  return exit_code::fine;
}

}  // namespace

void add_explain(CLI::App& app, Context& context) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command =
      app.add_subcommand("explain", "Show a problem's tensors, cost and roofline on this machine.");
  command->add_option("problem", options->problem, "A problem file, or the name of a shipped problem")
      ->required();
  command->add_option("--shape", options->shapes, "Instead of the problem's shapes: 'T=128,D=64; T=1,D=64'");
  command->footer("Examples:\n  ako explain softmax\n  ako explain my_op.yaml --shape 'T=1,D=64' --json");
  command->callback([options, &context] { context.exit_code = explain(*options, context); });
}

}  // namespace ako
