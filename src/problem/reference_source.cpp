// SPDX-License-Identifier: Apache-2.0
// The whole of a generated reference: names, arguments, statements in order.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "problem/reference.h"
#include "problem/reference_lowering.h"

namespace ako {
namespace {

/// What a name of the problem must not be called in C++: keywords that look like names, and names the text
/// uses.
constexpr std::string_view kReserved[] = {"alignas",
                                          "alignof",
                                          "and",
                                          "asm",
                                          "auto",
                                          "bitand",
                                          "bitor",
                                          "bool",
                                          "break",
                                          "case",
                                          "catch",
                                          "char",
                                          "class",
                                          "compl",
                                          "concept",
                                          "const",
                                          "constexpr",
                                          "continue",
                                          "decltype",
                                          "default",
                                          "delete",
                                          "do",
                                          "double",
                                          "else",
                                          "enum",
                                          "explicit",
                                          "export",
                                          "extern",
                                          "false",
                                          "float",
                                          "for",
                                          "friend",
                                          "goto",
                                          "if",
                                          "inline",
                                          "int",
                                          "long",
                                          "mutable",
                                          "namespace",
                                          "new",
                                          "noexcept",
                                          "not",
                                          "nullptr",
                                          "operator",
                                          "or",
                                          "private",
                                          "protected",
                                          "public",
                                          "register",
                                          "requires",
                                          "return",
                                          "short",
                                          "signed",
                                          "sizeof",
                                          "static",
                                          "struct",
                                          "switch",
                                          "template",
                                          "this",
                                          "throw",
                                          "true",
                                          "try",
                                          "typedef",
                                          "typeid",
                                          "typename",
                                          "union",
                                          "unsigned",
                                          "using",
                                          "virtual",
                                          "void",
                                          "volatile",
                                          "while",
                                          "xor",
                                          "std",
                                          "i64",
                                          "f64",
                                          "f32",
                                          "tf32",
                                          "f16",
                                          "bf16",
                                          "i32",
                                          "i16",
                                          "i8",
                                          "u8",
                                          "i4",
                                          "i64_array",
                                          "boolean",
                                          "Array",
                                          "Stored",
                                          "Coded",
                                          "Overflow",
                                          "inf",
                                          "nan_value",
                                          "rounded",
                                          "saturated",
                                          "rounded_integer",
                                          "floor_div",
                                          "floor_mod",
                                          "real_mod",
                                          "to_integer",
                                          "integer_power",
                                          "square",
                                          "cube",
                                          "least",
                                          "greatest",
                                          "clamped",
                                          "magnitude",
                                          "sign_of",
                                          "sigmoid",
                                          "inside",
                                          "contract",
                                          "multiply_tile",
                                          "lanes",
                                          "tile_rows",
                                          "tile_columns",
                                          "block_rows",
                                          "block_columns",
                                          "block_depth",
                                          "Vector",
                                          "dims",
                                          "scalars",
                                          "inputs",
                                          "outputs",
                                          "threads",
                                          "result",
                                          "place",
                                          "best",
                                          "found",
                                          "value",
                                          "k_flat",
                                          "batch_flat",
                                          "row_flat",
                                          "column_flat",
                                          "linux",
                                          "unix",
                                          "errno",
                                          "stdin",
                                          "stdout",
                                          "stderr",
                                          "assert",
                                          "NULL",
                                          "EOF",
                                          "NAN",
                                          "INFINITY",
                                          "HUGE_VAL",
                                          "M_PI",
                                          "M_E"};

bool is_table_type(ScalarType type) { return class_of(type) == NumberClass::real && storage_bits(type) <= 8; }

std::string view_type(ScalarType type) {
  if (type == ScalarType::i64) return "i64_array";
  if (type == ScalarType::boolean) return "boolean";
  if (is_table_type(type)) return fmt::format("Coded<{}, values_of_{}>", storage_bits(type), name_of(type));
  return std::string(name_of(type));
}

}  // namespace

void CodeWriter::line(std::string_view text) {
  const std::string margin(static_cast<std::size_t>(2 * depth_), ' ');
  while (true) {
    const std::size_t end = text.find('\n');
    const std::string_view one = text.substr(0, end);
    const bool directive =
        one.find_first_not_of(' ') != std::string_view::npos && one[one.find_first_not_of(' ')] == '#';
    if (directive)
      text_ += one.substr(one.find_first_not_of(' '));
    else if (!one.empty())
      text_ += margin + std::string(one);
    text_ += '\n';
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

CodeNames::CodeNames(const Problem& problem) : taken_(std::begin(kReserved), std::end(kReserved)) {
  for (const Dim& dim : problem.dims) dims_.push_back(fresh(dim.name));
  for (const Scalar& scalar : problem.scalars) scalars_.push_back(fresh(scalar.name));
  for (const Tensor& tensor : problem.tensors) tensors_.push_back(fresh(tensor.name));
  for (const Tensor& tensor : problem.tensors) before_.push_back(fresh(tensor.name + "_before"));
  // Statements are scopes of their own: an index name is used once in each.
  const std::set<std::string> outer = taken_;
  indices_.resize(problem.indices.size());
  std::set<std::string> everywhere = outer;
  for (const Statement& statement : problem.statements) {
    taken_ = outer;
    const auto name = [&](const Range& range) {
      const auto which = static_cast<std::size_t>(range.index);
      if (indices_[which].empty()) indices_[which] = fresh(problem.indices[which].name);
    };
    for (const Range& range : statement.indices) name(range);
    const auto bound = [&](ExprId which) {
      visit(problem, which, [&](ExprId id) {
        for (const Range& range : problem.expr(id).bounds) name(range);
        return true;
      });
    };
    bound(statement.value);
    for (ExprId subscript : statement.subscripts) bound(subscript);
    everywhere.insert(taken_.begin(), taken_.end());
  }
  taken_ = everywhere;
}

std::string CodeNames::fresh(std::string_view wanted) {
  std::string name(wanted);
  for (int n = 2; !taken_.insert(name).second; ++n) name = fmt::format("{}_{}", wanted, n);
  return name;
}

ReferenceLowering::ReferenceLowering(const Problem& problem)
    : problem_(problem),
      names_(problem),
      range_of_index_(problem.indices.size()),
      residence_(problem.tensors.size(), Residence::nowhere),
      has_initial_(problem.tensors.size(), false) {
  const auto note = [&](const Range& range) {
    range_of_index_[static_cast<std::size_t>(range.index)] = range;
  };
  for (const Statement& statement : problem.statements) std::ranges::for_each(statement.indices, note);
  for (const Expr& expr : problem.exprs) std::ranges::for_each(expr.bounds, note);
}

/// Values of all codes of the narrow types that inputs have.
void ReferenceLowering::tables() {
  std::set<ScalarType> types;
  for (const Tensor& tensor : problem_.tensors)
    if (tensor.role != TensorRole::temporary && is_table_type(tensor.type)) types.insert(tensor.type);
  for (ScalarType type : types) {
    out_.line(fmt::format("constexpr double values_of_{}[] = {{", name_of(type)));
    std::string row = " ";
    for (std::uint64_t code = 0; code < std::uint64_t{1} << storage_bits(type); ++code) {
      const double value = decode(type, code);
      row += value != value ? " nan_value,"
                            : fmt::format(" {},", value == std::numeric_limits<double>::infinity() ? "inf"
                                                  : value == -std::numeric_limits<double>::infinity()
                                                      ? "-inf"
                                                      : fmt::format("{:a}", value));
      if (row.size() > 90) {
        out_.line(row);
        row = " ";
      }
    }
    out_.line(row);
    out_.line("};");
    out_.line("");
  }
}

void ReferenceLowering::arguments() {
  out_.line("if (threads <= 0) threads = omp_get_max_threads();");
  for (std::size_t i = 0; i < problem_.dims.size(); ++i)
    out_.line(fmt::format("[[maybe_unused]] const i64 {} = dims[{}];", names_.dim(static_cast<DimId>(i)), i));
  for (std::size_t i = 0; i < problem_.scalars.size(); ++i) {
    const NumberClass number = class_of(problem_.scalars[i].type);
    out_.line(fmt::format("[[maybe_unused]] const {0} {1} = {0}(scalars[{2}]);", reference_type(number),
                          names_.scalar(static_cast<ScalarId>(i)), i));
  }
  std::size_t input = 0, output = 0;
  for (TensorId which : kernel_tensors(problem_)) {
    const Tensor& tensor = problem_.tensor(which);
    if (tensor.role == TensorRole::input || tensor.role == TensorRole::inout) {
      const std::string& name =
          tensor.role == TensorRole::input ? names_.tensor(which) : names_.before(which);
      out_.line(fmt::format("const {} {}(inputs[{}]);", view_type(tensor.type), name, input++));
      residence_[static_cast<std::size_t>(which)] = Residence::storage;
    }
    if (tensor.role == TensorRole::output || tensor.role == TensorRole::inout)
      out_.line(fmt::format("double* const {} = outputs[{}];", names_.tensor(which), output++));
  }
}

std::string ReferenceLowering::source() {
  out_.line(fmt::format("// The fp64 reference of {}, generated from:", problem_.name));
  out_.line("//   " + indented_comment(problem_.math));
  CodeWriter head = std::exchange(out_, CodeWriter());
  tables();
  out_.line("}  // namespace");
  out_.line("");
  out_.open(
      "extern \"C\" int ako_reference([[maybe_unused]] const long* dims, [[maybe_unused]] const double* "
      "scalars,\n"
      "                             const void* const* inputs, double* const* outputs, int threads) {");
  arguments();
  for (std::size_t i = 0; i < problem_.statements.size(); ++i) statement(i);
  out_.line("return 0;");
  out_.close();
  const bool contracts = out_.text().find("contract(") != std::string::npos;
  return head.text() + std::string(reference_basics()) +
         std::string(contracts ? reference_contraction() : "") + out_.text();
}

std::string indented_comment(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  std::string result;
  for (char c : text) {
    result += c;
    if (c == '\n') result += "//   ";
  }
  return result;
}

std::string reference_source(const Problem& problem) { return ReferenceLowering(problem).source(); }

}  // namespace ako
