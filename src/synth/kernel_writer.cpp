// SPDX-License-Identifier: Apache-2.0
#include "synth/kernel_writer.h"

#include <algorithm>

#include "synth/attention.h"
#include "synth/contraction.h"
#include "synth/element.h"
#include "synth/loops.h"
#include "synth/polynomials.h"

namespace ako::synth {

std::string plan_text(const Program& program, ExprId id) {
  const Expr& expr = program.expr(id);
  switch (expr.kind) {
    case ExprKind::int_literal:
      return std::to_string(expr.integer);
    case ExprKind::dim:
      return program.dims[static_cast<std::size_t>(expr.ref)].name;
    default:
      break;
  }
  static const std::map<Op, std::string> symbols = {
      {Op::add, "+"}, {Op::sub, "-"}, {Op::mul, "*"}, {Op::div, "/"}, {Op::mod, "%"}};
  const auto symbol = symbols.find(expr.op);
  return fmt::format("({} {} {})", plan_text(program, expr.args[0]),
                     symbol == symbols.end() ? "+" : symbol->second, plan_text(program, expr.args[1]));
}

namespace {

std::string scalar_c_type(ScalarType type) { return element_of(type).storage; }

std::string plan_extent(const Program& program, const Tensor& tensor, int dropped) {
  std::string text;
  for (std::size_t axis = static_cast<std::size_t>(dropped); axis < tensor.shape.size(); ++axis) {
    text += (text.empty() ? "" : " * ") + plan_text(program, tensor.shape[axis]);
  }
  return text.empty() ? "1" : text;
}

ScalarType scratch_type(const Printer& printer, const Tensor& tensor) {
  if (!tensor.exact) return tensor.type;
  switch (tensor.number) {
    case NumberClass::real:
      return printer.wide() ? ScalarType::f64 : ScalarType::f32;
    case NumberClass::integer:
      return ScalarType::i64;
    case NumberClass::boolean:
      return ScalarType::boolean;
  }
  return ScalarType::f32;
}

class Writer {
 public:
  Writer(const Problem& problem, Program program, const Layout& layout, const Choices& choices)
      : problem_(problem),
        program_(std::move(program)),
        layout_(layout),
        choices_(choices),
        printer_(program_, layout_, choices_) {}

  Candidate write(const std::string& head) {
    symbol_ = printer_.take(problem_.name);
    Code body;
    body.indent();
    printer_.write_to(body);
    Loops loops(layout_, printer_);
    for (const Group& group : layout_.groups) {
      if (auto contraction = choices_.tiled ? match_contraction(program_, layout_, group) : std::nullopt) {
        emit_contraction(*contraction, printer_, functions_, workspace_);
      } else if (auto attention = choices_.tiled ? match_attention(program_, layout_, group) : std::nullopt) {
        emit_attention(*attention, program_, printer_, functions_, workspace_);
      } else {
        loops.group(group);
      }
    }
    Candidate candidate;
    candidate.language = Language::cpp;
    candidate.plan = plan(loops.scratch());
    candidate.sources.push_back({problem_.name + ".cpp", source(head, body)});
    return candidate;
  }

 private:
  void parameter(const std::string& type, const std::string& name, const std::string& argument) {
    parameters_ += (parameters_.empty() ? "" : ", ") + type + " " + name;
    launch_.args.push_back(argument);
  }

  LaunchPlan plan(const std::vector<Scratch>& scratch) {
    launch_.kernel = symbol_;
    for (const TensorId id : kernel_tensors(problem_)) {
      const Tensor& tensor = program_.tensor(id);
      const std::string constness = tensor.role == TensorRole::input ? "const " : "";
      parameter(constness + element_of(tensor.type).storage + "* __restrict", printer_.tensor_name(id),
                tensor.name);
    }
    for (std::size_t i = 0; i < problem_.scalars.size(); ++i) {
      parameter(scalar_c_type(problem_.scalars[i].type), printer_.scalar_name(static_cast<ScalarId>(i)),
                problem_.scalars[i].name);
    }
    for (std::size_t i = 0; i < problem_.dims.size(); ++i) {
      parameter("int64_t", printer_.dim_name(static_cast<DimId>(i)), problem_.dims[i].name);
    }
    LaunchPlan result;
    for (const Scratch& need : scratch) add_scratch(result, need);
    for (const Workspace& need : workspace_) {
      result.workspace.push_back({need.name, need.type, {IntegerExpression{need.elements}}});
      parameter(element_of(need.type).storage + "* __restrict", need.name, need.name);
    }
    result.launches.push_back(launch_);
    return result;
  }

  void add_scratch(LaunchPlan& plan, const Scratch& need) {
    const Tensor& tensor = program_.tensor(need.tensor);
    const std::string name = printer_.tensor_name(need.tensor) + (need.row ? "_rows" : "");
    std::string extent = plan_extent(program_, tensor, printer_.storage(need.tensor).dropped);
    if (need.row) extent = fmt::format("{} * (({} + 63) / 64 * 64)", choices_.threads, extent);
    const ScalarType type = scratch_type(printer_, tensor);
    plan.workspace.push_back({name, type, {IntegerExpression{extent}}});
    parameter(element_of(type).storage + "* __restrict", name, name);
  }

  /// Some functions have a form with fewer terms.
  std::string chosen(const std::string& name) const {
    return choices_.short_polynomial && (name == "v_exp" || name == "v_exp2") ? name + "_short" : name;
  }

  void support(const std::string& wanted, Code& code, std::set<std::string>& written) {
    const std::string name = chosen(wanted);
    if (!written.insert(name).second) return;
    for (const std::string& below : support_needs(name, printer_.real())) support(below, code, written);
    if (name == "ako_thread") return;
    code.raw(support_source(name, printer_.real(), choices_.lanes));
  }

  std::string source(const std::string& head, const Code& body) {
    Code code;
    code.comment(head);
    code.directive("#include <cstdint>");
    code.line("");
    // Declared here: the C library's headers take longer to parse than the kernel takes to compile.
    std::set<std::string> library, rest, written;
    std::function<void(const std::string&)> sort = [&](const std::string& name) {
      (name.starts_with("libm") ? library : rest).insert(name);
      for (const std::string& below : support_needs(chosen(name), printer_.real())) sort(below);
    };
    for (const std::string& name : printer_.needs()) sort(name);
    if (rest.contains("ako_thread")) code.line("extern \"C\" int omp_get_thread_num() noexcept;");
    for (const std::string& name : library) support(name, code, written);
    const bool types = choices_.lanes > 1;
    if (types || !rest.empty() || !functions_.text().empty()) {
      code.line("namespace {");
      code.line("");
      if (types) code.raw(vector_types_source(printer_.real(), choices_.lanes) + "\n");
      for (const std::string& name : rest) support(name, code, written);
      code.raw(functions_.text());
      code.line("");
      code.line("}  // namespace");
      code.line("");
    }
    code.line("extern \"C\" void {}({}) {{", symbol_, parameters_);
    code.raw(body.text());
    code.line("}");
    return code.text();
  }

  const Problem& problem_;
  Program program_;
  const Layout& layout_;
  const Choices& choices_;
  Printer printer_;
  std::string symbol_, parameters_;
  Launch launch_;
  Code functions_;
  std::vector<Workspace> workspace_;
};

}  // namespace

Candidate write_kernel(const Problem& problem, Program program, const Layout& layout, const Choices& choices,
                       const std::string& head) {
  return Writer(problem, std::move(program), layout, choices).write(head);
}

}  // namespace ako::synth
