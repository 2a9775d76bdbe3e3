// SPDX-License-Identifier: Apache-2.0
#include "report/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/files.h"
#include "base/text.h"
#include "judge/compare.h"
#include "problem/reference.h"
#include "report/export_test_source.h"
#include "toolchain/host/flags.h"
#include "toolchain/host/wrapper.h"

namespace ako {
namespace {

constexpr Bytes kLargestData = mebibytes(256);

/// A comment's content: nothing that could end it.
std::string commented(std::string_view text) {
  std::string out = printable(text);
  for (std::size_t at = 0; (at = out.find("*/", at)) != std::string::npos;) out.replace(at, 2, "* /");
  return out;
}

struct Parameter {
  std::string type, name, meaning;
};

/// What a caller passes: every kernel tensor, scalar and dim of the problem, whatever the plan's order.
Result<std::vector<Parameter>> parameters(const Problem& problem) {
  AKO_TRY(const auto all, signatures(default_plan(problem), problem));
  const KernelSignature& whole = all.at(0);
  std::vector<Parameter> out;
  for (std::size_t i = 0; i < whole.names.size(); ++i) {
    std::string meaning;
    if (const auto id = problem.find_tensor(whole.names[i])) {
      const Tensor& tensor = problem.tensor(*id);
      std::vector<std::string> extents;
      for (const ExprId extent : tensor.shape) extents.push_back(to_text(problem, extent));
      meaning = fmt::format("{} [{}], {}", name_of(tensor.type), fmt::join(extents, ", "),
                            tensor.role == TensorRole::input    ? "read"
                            : tensor.role == TensorRole::output ? "written"
                                                                : "read and written");
    }
    for (const Dim& dim : problem.dims)
      if (dim.name == whole.names[i]) meaning = dim.meaning.empty() ? "extent" : dim.meaning;
    for (const Scalar& scalar : problem.scalars)
      if (scalar.name == whole.names[i])
        meaning = fmt::format("{}, {} in the problem", name_of(scalar.type), scalar.value);
    out.push_back({whole.declared[i], whole.names[i], meaning});
  }
  return out;
}

std::string prototype(const Problem& problem, const std::vector<Parameter>& all) {
  std::vector<std::string> words;
  for (const Parameter& one : all) words.push_back(one.type + " " + one.name);
  return fmt::format("int {}_run({})", problem.name, fmt::join(words, ", "));
}

std::string header(const Problem& problem, const std::vector<Parameter>& all, const ExportOptions& options) {
  std::string out = fmt::format("/* {}: {}\n   From ako: {}.\n\n", problem.name, commented(problem.summary),
                                commented(options.origin));
  std::istringstream math(problem.math);
  for (std::string line; std::getline(math, line);)
    if (!line.empty()) out += fmt::format("     {}\n", commented(line));
  out += "\n   Tensors are dense, the last axis contiguous; narrow floats travel as their bits.\n";
  for (const Parameter& one : all) out += fmt::format("     {:<8} {}\n", one.name, commented(one.meaning));
  return out +
         fmt::format(
             "\n   Returns 0, or 1 when memory for its workspace ran out (then nothing was written). */\n"
             "#pragma once\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n{};\n"
             "#ifdef __cplusplus\n}}\n#endif\n",
             prototype(problem, all));
}

/// A plan's integer expression as C. Division floors there; extents and sizes are not negative, so that C's
/// division agrees.
std::string as_c(const std::string& expression) { return "(int64_t)(" + expression + ")"; }

/// What a plan's expressions may call.
std::string glue_prelude() {
  return "namespace {\n"
         "[[maybe_unused]] int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }\n"
         "[[maybe_unused]] int64_t min(int64_t a, int64_t b) { return a < b ? a : b; }\n"
         "[[maybe_unused]] int64_t max(int64_t a, int64_t b) { return a > b ? a : b; }\n"
         "}  // namespace\n";
}

std::string workspace_allocation(const WorkspaceBuffer& buffer) {
  std::string count = "1";
  for (const IntegerExpression& extent : buffer.shape) count += " * " + as_c(extent.text);
  return fmt::format("  void* {0} = take((({1}) * {2} + 7) / 8);\n  if (!{0}) return 1;\n", buffer.name,
                     count, storage_bits(buffer.type));
}

Result<std::string> glue(const Candidate& candidate, const Problem& problem,
                         const std::vector<Parameter>& all) {
  AKO_TRY(const auto kernels, signatures(candidate.plan, problem));
  std::string out = fmt::format(
      "// The kernel's launches in order, with the workspace that they ask for.\n"
      "#include \"{}.h\"\n\n#include <cstdlib>\n\n",
      problem.name);
  for (const KernelSignature& kernel : kernels)
    out += fmt::format("extern \"C\" void {}({});\n", kernel.symbol, fmt::join(kernel.types, ", "));
  out += "\n" + glue_prelude();
  if (!candidate.plan.workspace.empty())
    out +=
        "namespace {\nstruct Memory {  // freed on every way out\n"
        "  void* taken[64] = {};\n  int count = 0;\n"
        "  ~Memory() { for (int i = 0; i < count; ++i) std::free(taken[i]); }\n"
        "  void* take(int64_t bytes) {  // whole cache lines, one at least\n"
        "    void* block = std::aligned_alloc(64, (size_t)(bytes < 64 ? 64 : (bytes + 63) / 64 * 64));\n"
        "    return block ? taken[count++] = block : nullptr;\n  }\n};\n}  // namespace\n";
  out += fmt::format("\nextern \"C\" {} {{\n", prototype(problem, all));
  for (const Parameter& one : all) out += fmt::format("  (void){};\n", one.name);
  for (const auto& [name, value] : tunables_in_force(candidate.plan, candidate.tunables))
    out += fmt::format("  [[maybe_unused]] const int64_t {} = {};\n", name, value);
  if (!candidate.plan.workspace.empty())
    out += "  Memory memory;\n  auto take = [&memory](int64_t bytes) { return memory.take(bytes); };\n";
  for (const WorkspaceBuffer& buffer : candidate.plan.workspace) out += workspace_allocation(buffer);
  for (const Launch& launch : candidate.plan.launches) {
    const auto kernel = std::find_if(kernels.begin(), kernels.end(),
                                     [&](const KernelSignature& one) { return one.symbol == launch.kernel; });
    std::vector<std::string> values;
    for (std::size_t i = 0; i < launch.args.size(); ++i)
      values.push_back(fmt::format("({})({})", kernel->types[i], launch.args[i]));
    out += fmt::format("  {}({});\n", launch.kernel, fmt::join(values, ", "));
  }
  return out + "  return 0;\n}\n";
}

std::string makefile(const Candidate& candidate, const Problem& problem) {
  std::vector<std::string> sources;
  for (const SourceFile& source : candidate.sources)
    if (language_of_file(source.path)) sources.push_back("kernel/" + source.path);
  std::vector<std::string> flags = base_flags(false);
  std::erase_if(flags,
                [](const std::string& flag) { return flag == "-Wall" || flag == "-x" || flag == "c++"; });
  flags.insert(flags.end(), candidate.flags.begin(), candidate.flags.end());
  for (const auto& [name, value] : tunables_in_force(candidate.plan, candidate.tunables))
    flags.push_back(fmt::format("-D{}={}", name, value));
  return fmt::format(
      "# make test builds the kernel with the flags that it was judged with, and runs it once.\n"
      "CXX ?= g++\nFLAGS = {0}\nSOURCES = {1}\n\n"
      "test: {2}_test\n\t./{2}_test\n\n"
      "{2}_test: $(SOURCES) {2}_run.cpp test.cpp {2}.h\n"
      "\t$(foreach source,$(SOURCES),$(CXX) $(FLAGS) -Iinclude -c $(source) -o $(source).o &&) \\\n"
      "\t$(CXX) -std=c++17 -O2 -fopenmp $(SOURCES:%=%.o) {2}_run.cpp test.cpp -o $@\n\n"
      "clean:\n\trm -f {2}_test $(SOURCES:%=%.o)\n.PHONY: test clean\n",
      fmt::join(flags, " "), fmt::join(sources, " "), problem.name);
}

Result<std::vector<std::vector<std::byte>>> test_inputs(const Problem& problem, const Shape& shape,
                                                        std::uint64_t seed) {
  std::vector<std::vector<std::byte>> out;
  std::uint64_t stream = 0;
  for (const TensorId id : kernel_tensors(problem)) {
    const Tensor& tensor = problem.tensor(id);
    ++stream;
    if (tensor.role != TensorRole::input && tensor.role != TensorRole::inout) continue;
    const auto bytes = storage_bytes(tensor.type, element_count(problem, tensor, shape)).count;
    out.emplace_back(static_cast<std::size_t>(bytes));
    generate_input(problem, id, shape, InputStyle::declared, seed, stream, out.back());
  }
  return out;
}

void append(std::string& out, const void* data, std::size_t bytes) {
  out.append(static_cast<const char*>(data), bytes);
}

/// A tolerance of nothing asks for what rounding fp64 to the output's type gives.
void round_where_exact(const Problem& problem, std::vector<std::vector<double>>& expected) {
  std::size_t at = 0;
  for (const TensorId id : kernel_tensors(problem)) {
    const Tensor& tensor = problem.tensor(id);
    if (tensor.role == TensorRole::input) continue;
    std::vector<double>& values = expected.at(at++);
    const Tolerance bound = bounds_for(problem, tensor, InputStyle::declared, 0).tolerance;
    if (class_of(tensor.type) != NumberClass::real || bound.snr_db) continue;
    if (bound.rtol.value_or(1) == 0 && bound.atol.value_or(1) == 0)
      for (double& value : values) value = round_to(tensor.type, value);
  }
}

/// Inputs as stored, then fp64 expectations, each in kernel_tensors order.
Result<std::string> test_data(const Problem& problem, const Shape& shape, std::uint64_t seed) {
  double total = 0;
  for (const TensorId id : kernel_tensors(problem))
    total += static_cast<double>(element_count(problem, problem.tensor(id), shape)) * 16;
  if (total > static_cast<double>(kLargestData.count) * 2)
    return fail(ErrorKind::invalid_input,
                fmt::format("the test's data for {} would be too large", shape.label),
                "give a smaller one with --shape");
  AKO_TRY(const auto inputs, test_inputs(problem, shape, seed));
  std::vector<std::span<const std::byte>> views(inputs.begin(), inputs.end());
  AKO_TRY(const Reference reference, Reference::load(problem));
  AKO_TRY(auto expected, reference.evaluate(shape, views));
  round_where_exact(problem, expected);
  std::string out;
  for (const auto& input : inputs) append(out, input.data(), input.size());
  for (const auto& values : expected) append(out, values.data(), values.size() * sizeof(double));
  return out;
}

std::vector<TestTensor> test_tensors(const Problem& problem, const Shape& shape) {
  std::vector<TestTensor> out;
  for (const TensorId id : kernel_tensors(problem)) {
    const Tensor& tensor = problem.tensor(id);
    const Bounds bounds = bounds_for(problem, tensor, InputStyle::declared, 0);
    out.push_back(
        {tensor.name, tensor.type, tensor.role, element_count(problem, tensor, shape), bounds.tolerance});
  }
  return out;
}

}  // namespace

const Shape& shape_to_test(const Problem& problem) {
  constexpr double enough = 500;
  const auto size = [&problem](const Shape& shape) {
    double sum = 0;
    for (const TensorId id : kernel_tensors(problem))
      sum += static_cast<double>(element_count(problem, problem.tensor(id), shape));
    return sum;
  };
  const auto better = [&](const Shape& a, const Shape& b) {
    const bool a_is_enough = size(a) >= enough, b_is_enough = size(b) >= enough;
    if (a_is_enough != b_is_enough) return a_is_enough;
    return a_is_enough ? size(a) < size(b) : size(a) > size(b);
  };
  return *std::min_element(problem.shapes.begin(), problem.shapes.end(), better);
}

Result<std::vector<ExportFile>> export_candidate(const Candidate& candidate, const Problem& problem,
                                                 const Shape& shape, const ExportOptions& options) {
  if (candidate.language != Language::cpp)
    return fail(ErrorKind::unsupported,
                fmt::format("only C++ kernels can be exported, this one is {}", name_of(candidate.language)),
                "copy its sources and its plan from the campaign's folder");
  AKO_TRY(const auto arguments, parameters(problem));
  AKO_TRY(std::string run, glue(candidate, problem, arguments));
  AKO_TRY(std::string data, test_data(problem, shape, options.seed));
  std::vector<ExportFile> files;
  bool uses_header = false;
  for (const SourceFile& source : candidate.sources) {
    files.push_back({"kernel/" + source.path, source.text});
    uses_header = uses_header || source.text.find("ako/kernel.h") != std::string::npos;
  }
  if (uses_header) {
    AKO_TRY(const auto path, find_resource("guest/include/ako/kernel.h"));
    AKO_TRY(std::string text, read_file(path));
    files.push_back({"include/ako/kernel.h", std::move(text)});
  }
  std::vector<std::string> passed;
  for (const Parameter& one : arguments) passed.push_back(fmt::format("({}){}", one.type, one.name));
  files.push_back({problem.name + ".h", header(problem, arguments, options)});
  files.push_back({problem.name + "_run.cpp", std::move(run)});
  files.push_back({"test.cpp", export_test_source(problem, shape, test_tensors(problem, shape), passed)});
  files.push_back({"test_data.bin", std::move(data)});
  files.push_back({"Makefile", makefile(candidate, problem)});
  return files;
}

}  // namespace ako
