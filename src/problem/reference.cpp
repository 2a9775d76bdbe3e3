// SPDX-License-Identifier: Apache-2.0
// Compiling, caching and calling references.
#include "problem/reference.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <system_error>

#include "base/files.h"
#include "base/hash.h"
#include "base/subprocess.h"
#include "problem/reference_python.h"

namespace ako {
namespace fs = std::filesystem;
namespace {

// No -ffast-math: values that are not finite must survive, and rounding relies on the order of operations.
// Sums are reassociated where the source says so (omp simd reduction). errno and floating-point traps are not
// looked at.
const std::vector<std::string> kFlags = {
    "-std=c++20",         "-O3",   "-march=native", "-fopenmp", "-ffp-contract=off", "-fno-math-errno",
    "-fno-trapping-math", "-fPIC", "-shared",       "-w"};

Result<fs::path> find_compiler() {
  if (const char* chosen = std::getenv("AKO_CXX"); chosen && *chosen) {
    if (auto found = find_program(chosen)) return *found;
    return fail(ErrorKind::not_found, fmt::format("AKO_CXX names {}, which is not a program", chosen),
                "set AKO_CXX to a C++20 compiler, or unset it");
  }
  for (const char* name : {"g++", "clang++-19", "clang++"})
    if (auto found = find_program(name)) return *found;
  return fail(ErrorKind::unsupported, "no C++ compiler to build the fp64 reference with",
              "install one (Debian: apt install g++), or set AKO_CXX to its path");
}

/// The lines of /proc/cpuinfo that -march=native depends on.
std::string processor() {
  const auto text = read_file("/proc/cpuinfo");
  if (!text) return "unknown";
  std::string facts;
  for (std::string_view field : {"model name", "flags", "Features", "CPU part"}) {
    const std::size_t at = text->find("\n" + std::string(field));
    if (at != std::string::npos) facts += text->substr(at, text->find('\n', at + 1) - at);
  }
  return facts;
}

Result<std::string> identity_of(const fs::path& compiler) {
  Command command;
  command.argv = {compiler.string(), "--version"};
  AKO_TRY(Exit answer, run(command));
  if (!answer.ok())
    return fail(ErrorKind::unsupported, fmt::format("{} --version failed", compiler.string()),
                "check the compiler's installation, or set AKO_CXX to another one");
  return answer.output;
}

Result<void> compile(const fs::path& compiler, const std::string& source, const fs::path& library) {
  AKO_CHECK(create_folders(library.parent_path()));
  AKO_TRY(TemporaryFolder work, TemporaryFolder::create("building", library.parent_path()));
  const fs::path source_file = work.path() / "reference.cpp", made = work.path() / "reference.so";
  AKO_CHECK(write_file(source_file, source));
  Command command;
  command.argv = {compiler.string()};
  command.wall_limit = Seconds(120);
  command.argv.insert(command.argv.end(), kFlags.begin(), kFlags.end());
  command.argv.insert(command.argv.end(), {source_file.string(), "-o", made.string()});
  AKO_TRY(Exit answer, run(command));
  if (answer.timed_out)
    return fail(ErrorKind::limit, "compiling the fp64 reference took more than 120 s", "simplify the math");
  if (!answer.ok())
    return fail(
        ErrorKind::internal,
        fmt::format("{} does not compile the fp64 reference:\n{}", compiler.string(), answer.errors),
        "if the compiler lacks OpenMP or C++20, set AKO_CXX to a g++ of version 11 or later; otherwise "
        "please report the problem file");
  // The source stays beside the library for people to read. Who comes second replaces equal files by equal
  // ones.
  std::error_code error;
  fs::path kept = library;
  fs::rename(source_file, kept.replace_extension(".cpp"), error);
  fs::rename(made, library, error);
  if (error)
    return fail(ErrorKind::io,
                fmt::format("cannot rename {} to {}: {}", made.string(), library.string(), error.message()),
                "check the cache folder ($AKO_CACHE_DIR)");
  return {};
}

Result<fs::path> library_for(const std::string& source) {
  AKO_TRY(fs::path compiler, find_compiler());
  AKO_TRY(std::string identity, identity_of(compiler));
  Hasher hasher("reference/1");
  hasher.add(source).add(identity).add(processor());
  for (const std::string& flag : kFlags) hasher.add(flag);
  const fs::path library = cache_folder() / "reference" / (hasher.finish().hex() + ".so");
  std::error_code error;
  if (!fs::exists(library, error)) AKO_CHECK(compile(compiler, source, library));
  return library;
}

}  // namespace

struct Reference::Library {
  using Function = int (*)(const long*, const double*, const void* const*, double* const*, int);
  Problem problem;
  Function function = nullptr;
  std::optional<PythonReference> python;
};

Reference::Reference(std::unique_ptr<Library> library) : library_(std::move(library)) {}
Reference::Reference(Reference&&) noexcept = default;
Reference& Reference::operator=(Reference&&) noexcept = default;
Reference::~Reference() = default;

Result<Hash> reference_key(const Problem& problem) {
  if (!problem.python_reference) return problem.id;
  auto text = read_file(python_file(problem));
  if (!text) {
    AKO_CHECK(PythonReference::start(problem));  // its error says more
    return std::unexpected(text.error());
  }
  return Hasher("python-reference/1").add(problem.id).add(python_file(problem).string()).add(*text).finish();
}

Result<Reference> Reference::load(const Problem& problem) {
  if (problem.python_reference) {
    auto python = std::make_unique<Library>();
    python->problem = problem;
    AKO_TRY(python->python, PythonReference::start(problem));
    return Reference(std::move(python));
  }
  AKO_TRY(fs::path path, library_for(reference_source(problem)));
  // The library stays mapped for the life of the process: its OpenMP runtime keeps threads that outlive any
  // call.
  void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!handle) {
    const char* const why = ::dlerror();
    std::error_code error;
    fs::remove(path, error);  // damaged: the next attempt builds it anew
    return fail(ErrorKind::corrupt,
                fmt::format("cannot load the fp64 reference {}: {}", path.string(), why ? why : ""),
                "it was removed from the cache; try again");
  }
  auto library = std::make_unique<Library>();
  library->problem = problem;
  library->function = reinterpret_cast<Library::Function>(::dlsym(handle, "ako_reference"));
  ::dlclose(handle);
  if (!library->function)
    return fail(ErrorKind::corrupt, fmt::format("{} has no ako_reference", path.string()));
  return Reference(std::move(library));
}

Result<std::vector<std::vector<double>>> Reference::evaluate(
    const Shape& shape, std::span<const std::span<const std::byte>> inputs, int threads) const {
  const Problem& problem = library_->problem;
  if (library_->python) return library_->python->evaluate(problem, shape, inputs);
  std::vector<const void*> input_pointers;
  std::vector<double*> output_pointers;
  std::vector<std::vector<double>> outputs;
  for (TensorId which : kernel_tensors(problem)) {
    const Tensor& tensor = problem.tensor(which);
    const std::int64_t count = element_count(problem, tensor, shape);
    if (tensor.role != TensorRole::output) {
      const std::size_t at = input_pointers.size();
      if (at >= inputs.size() || std::ssize(inputs[at]) < storage_bytes(tensor.type, count).count)
        return fail(ErrorKind::internal, fmt::format("the reference of {} was given too few bytes for {}",
                                                     problem.name, tensor.name));
      input_pointers.push_back(inputs[at].data());
    }
    if (tensor.role != TensorRole::input) outputs.emplace_back(static_cast<std::size_t>(count));
  }
  for (std::vector<double>& output : outputs) output_pointers.push_back(output.data());
  std::vector<double> scalars;
  for (const Scalar& scalar : problem.scalars) scalars.push_back(round_to(scalar.type, scalar.value));
  const std::vector<long> dims(shape.dims.begin(), shape.dims.end());
  if (library_->function(dims.data(), scalars.data(), input_pointers.data(), output_pointers.data(),
                         threads) != 0)
    return fail(
        ErrorKind::limit,
        fmt::format("not enough memory for the fp64 reference of {} at {}", problem.name, shape.label),
        "choose a smaller shape, or a machine with more memory");
  return outputs;
}

}  // namespace ako
