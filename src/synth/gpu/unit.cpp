// SPDX-License-Identifier: Apache-2.0
#include "synth/gpu/unit.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include "synth/gpu/support.h"

namespace ako::synth::gpu {

std::string plan_expression(const Program& program, ExprId id) {
  const Expr& expr = program.expr(id);
  if (expr.kind == ExprKind::int_literal) return std::to_string(expr.integer);
  if (expr.kind == ExprKind::dim) return program.dims[static_cast<std::size_t>(expr.ref)].name;
  const auto operand = [&](std::size_t which) { return plan_expression(program, expr.args[which]); };
  if (expr.kind == ExprKind::unary) return "(0 - " + operand(0) + ")";
  switch (expr.op) {
    case Op::sub:
      return "(" + operand(0) + " - " + operand(1) + ")";
    case Op::mul:
      return "(" + operand(0) + " * " + operand(1) + ")";
    case Op::div:
      return "(" + operand(0) + " / " + operand(1) + ")";
    case Op::mod:
      return "(" + operand(0) + " % " + operand(1) + ")";
    case Op::min:
      return "min(" + operand(0) + ", " + operand(1) + ")";
    case Op::max:
      return "max(" + operand(0) + ", " + operand(1) + ")";
    default:
      return "(" + operand(0) + " + " + operand(1) + ")";
  }
}

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::set<std::string> words_of(const std::string& text) {
  std::set<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_word(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    words.insert(text.substr(at, end - at));
    at = end;
  }
  return words;
}

/// No tensor has as many elements as half of what an int counts: room for the last block to overshoot.
bool counts_fit(const Program& program) {
  for (const Shape& shape : program.shapes) {
    for (const Tensor& tensor : program.tensors) {
      std::int64_t count = 1;
      for (const ExprId extent : tensor.shape) {
        const std::int64_t size = std::max<std::int64_t>(1, evaluate_integer(program, extent, shape));
        if (count > (std::int64_t{1} << 30) / size) return false;
        count *= size;
      }
    }
  }
  return true;
}

std::string scalar_type(ScalarType declared, bool reference) {
  if (reference) return class_of(declared) == NumberClass::real ? "double" : "i64";
  return stored_type(declared);
}

}  // namespace

Unit::Unit(const Problem& problem, const Program& program, Numbers numbers)
    : problem_(problem), program_(program), expressions_(program, numbers), small_(counts_fit(program)) {
  for (const TensorId id : kernel_tensors(problem_)) {
    const Tensor& tensor = program_.tensor(id);
    has_memory_.insert(id);
    const bool written = tensor.role != TensorRole::input && !numbers.reference;
    if (tensor.role == TensorRole::output && numbers.reference) continue;
    parameters_.push_back(
        {expressions_.tensor(id),
         fmt::format("{}{}* AKO_RESTRICT", written ? "" : "const ", stored_type(tensor.type)), tensor.name});
  }
  for (std::size_t i = 0; i < problem_.scalars.size(); ++i) {
    const Scalar& scalar = problem_.scalars[i];
    parameters_.push_back({expressions_.scalar(static_cast<ScalarId>(i)),
                           scalar_type(scalar.type, numbers.reference), scalar.name});
  }
  for (std::size_t i = 0; i < problem_.dims.size(); ++i)
    parameters_.push_back({expressions_.dim(static_cast<DimId>(i)), "i64", problem_.dims[i].name, small_});
}

Kernel Unit::begin(std::string_view name, std::string comment) {
  Kernel kernel;
  kernel.name = expressions_.take(name);
  kernel.comment = std::move(comment);
  kernel.body.indent();
  kernel.before = expressions_.names();
  return kernel;
}

void Unit::end(Kernel kernel) {
  const std::set<std::string> words = words_of(kernel.body.text() + " " + kernel.vector_when);
  Launch launch;
  launch.kernel = kernel.name;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    launch.grid[axis].text = kernel.grid[axis];
    launch.block[axis].text = kernel.block[axis];
  }
  launch.shared.text = kernel.shared;
  std::string outer, inner, names;
  Code prologue;
  prologue.indent();
  for (const Parameter& parameter : parameters_) {
    if (!words.contains(parameter.name)) continue;
    const std::string name = parameter.narrow ? parameter.name + "_64" : parameter.name;
    if (parameter.narrow) prologue.line("const index_t {} = (index_t){};", parameter.name, name);
    const char* comma = outer.empty() ? "" : ", ";
    outer += comma + parameter.declaration + " " + name;
    inner += comma + (parameter.narrow ? "index_t" : parameter.declaration) + " " + parameter.name;
    names += comma + parameter.name;
    launch.args.push_back(parameter.argument);
  }
  Code text;
  text.line("");
  text.comment(kernel.comment);
  const std::string kind = kernel.at_least > 0
                               ? fmt::format("AKO_KERNEL_AT_LEAST({}, {})", kernel.threads, kernel.at_least)
                               : fmt::format("AKO_KERNEL({})", kernel.threads);
  std::string body = kernel.body.text();
  if (!kernel.vector_when.empty()) {
    text.line("template <int V>");
    text.line("AKO_DEVICE void {}_by({}) {{", kernel.name, inner);
    text.raw(body);
    text.line("}");
    const std::string call = kernel.name + "_by<";
    body = fmt::format("  if ({}) {{\n    {}{}>({});\n  }} else {{\n    {}1>({});\n  }}\n",
                       kernel.vector_when, call, kernel.vector, names, call, names);
    if (kernel.vector == 1) body = fmt::format("  {}1>({});\n", call, names);
  }
  text.line("{} {}({}) {{", kind, kernel.name, outer);
  expressions_.restore(std::move(kernel.before));
  kernels_ += text.text() + prologue.text() + body + "}\n";
  plan_.launches.push_back(std::move(launch));
}

std::string Unit::workspace(std::string_view name, ScalarType type, const std::string& elements) {
  const std::string taken = expressions_.take(name);
  plan_.workspace.push_back({taken, type, {IntegerExpression{elements}}});
  parameters_.push_back({taken, stored_type(type) + "* AKO_RESTRICT", taken});
  return taken;
}

bool Unit::has_memory(TensorId id) const { return has_memory_.contains(id); }

void Unit::workspace_for(TensorId id) {
  if (!has_memory_.insert(id).second) return;
  const Tensor& tensor = program_.tensor(id);
  const Numbers& numbers = expressions_.numbers();
  ScalarType type = tensor.type;
  Place& place = expressions_.place(id);
  if (tensor.exact || numbers.reference) {
    place.form = Place::Form::exact;
    type = tensor.number == NumberClass::real
               ? (numbers.wide || numbers.reference ? ScalarType::f64 : ScalarType::f32)
           : tensor.number == NumberClass::integer ? ScalarType::i64
                                                   : ScalarType::boolean;
  }
  place.pointer = workspace(expressions_.tensor(id) + "_values", type, elements(id));
}

std::string Unit::extent(const Range& range) const {
  if (is_literal(program_, range.lower, 0)) return plan_expression(program_, range.upper);
  return fmt::format("({} - {})", plan_expression(program_, range.upper),
                     plan_expression(program_, range.lower));
}

std::string Unit::extents(const std::vector<Range>& ranges) const {
  std::string text;
  for (const Range& range : ranges) text += (text.empty() ? "" : " * ") + extent(range);
  return text.empty() ? "1" : text;
}

std::string Unit::elements(TensorId id) const {
  std::string text;
  for (const ExprId size : program_.tensor(id).shape)
    text += (text.empty() ? "" : " * ") + plan_expression(program_, size);
  return text.empty() ? "1" : text;
}

void Unit::expect(TensorId id) {
  Place& place = expressions_.place(id);
  if (place.form == Place::Form::real) return;
  place.form = Place::Form::real;
  place.pointer = workspace("expected_" + expressions_.tensor(id), ScalarType::f64, elements(id));
  expected_.emplace_back(place.pointer, id);
}

std::string Unit::source(const std::string& head) const {
  Code code;
  code.comment(head);
  code.directive("#include \"ako_device.h\"");
  code.line("");
  code.line("using namespace ako;");
  code.line("typedef {} index_t;", small_ ? "int" : "i64");
  const std::string support = support_source(expressions_.needs());
  const std::string rest = functions_.text() + kernels_;
  if ((support + rest).find("infinity") != std::string::npos)
    code.line("constexpr double infinity = __builtin_bit_cast(double, 0x7ff0000000000000ull);");
  if ((support + rest).find("not_a_number") != std::string::npos)
    code.line("constexpr double not_a_number = __builtin_bit_cast(double, 0x7ff8000000000000ull);");
  if (!support.empty()) {
    code.line("");
    code.raw(support);
  }
  code.raw(rest);
  return code.text();
}

}  // namespace ako::synth::gpu
