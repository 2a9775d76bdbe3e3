// SPDX-License-Identifier: Apache-2.0
#include "synth/gpu_fixture.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <utility>

#include "problem/cost.h"
#include "problem/inputs.h"
#include "problem/reference.h"

namespace ako::testing {

namespace {

/// Bytes that end where unmapped memory begins, up to the alignment that kernels are promised.
class Guard {
 public:
  explicit Guard(std::size_t size) : size_(size) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    length_ = (size + page - 1) / page * page + page;
    base_ = static_cast<std::byte*>(
        mmap(nullptr, length_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base_ == MAP_FAILED) std::abort();
    mprotect(base_ + length_ - page, page, PROT_NONE);
    data_ = base_ + (length_ - page - (size + 15) / 16 * 16);
    std::memset(base_, 0xff, length_ - page);
  }
  Guard(Guard&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)),
        data_(other.data_),
        size_(other.size_),
        length_(other.length_) {}
  Guard& operator=(Guard&&) = delete;
  ~Guard() {
    if (base_ != nullptr) munmap(base_, length_);
  }
  std::span<std::byte> bytes() { return {data_, size_}; }
  void* data() { return data_; }

 private:
  std::byte* base_;
  std::byte* data_;
  std::size_t size_, length_;
};

constexpr const char* kHead = R"(#define AKO_LINKAGE
#include "ako_device.h"
#include <utility>
template <class... A, std::size_t... I>
void call_with(void (*f)(A...), void** a, std::index_sequence<I...>) { f(*static_cast<A*>(a[I])...); }
template <class... A>
void call_with(void (*f)(A...), void** a) { call_with(f, a, std::index_sequence_for<A...>{}); }
template <auto kernel>
void thread_of(void* a) { call_with(kernel, static_cast<void**>(a)); }
)";

double decibels(const std::vector<double>& expected, const std::vector<double>& got) {
  double signal = 0, noise = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] == got[i] || (std::isnan(expected[i]) && std::isnan(got[i]))) {
      if (std::isfinite(expected[i])) signal += expected[i] * expected[i];
      continue;
    }
    signal += expected[i] * expected[i];
    noise += (expected[i] - got[i]) * (expected[i] - got[i]);
  }
  return noise == 0 ? 1000 : 10 * std::log10(signal / noise);
}

std::string compare_emulated(const Problem& problem, const Tensor& tensor,
                             const std::vector<double>& expected, const std::vector<double>& got) {
  const Tolerance& tolerance = problem.tolerance;
  if (tolerance.snr_db && tensor.number == NumberClass::real && expected.size() > 8) {
    const double snr = decibels(expected, got);
    if (snr >= *tolerance.snr_db) return {};
    return fmt::format("{}: {:.1f} dB, less than {}", tensor.name, snr, *tolerance.snr_db);
  }
  const double coarse = std::max(1e-4, 4 * epsilon(tensor.type));
  const double relative = tolerance.rtol.value_or(tolerance.snr_db ? coarse : 1e-4),
               absolute = tolerance.atol.value_or(tolerance.snr_db ? coarse : 1e-6);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double right = round_to(tensor.type, expected[i]);
    if (got[i] == right || (std::isnan(got[i]) && std::isnan(right))) continue;
    if (std::fabs(got[i] - right) <= absolute + relative * std::fabs(right)) continue;
    return fmt::format("{}[{}]: {} for {}", tensor.name, i, got[i], right);
  }
  return {};
}

struct Data {
  std::vector<std::vector<std::byte>> inputs;  // of inputs and inouts
  std::vector<std::vector<double>> expected;   // of outputs and inouts
};

using Value = std::array<std::byte, 8>;
Value value_of(const void* bytes, std::size_t size) {
  Value value{};
  std::memcpy(value.data(), bytes, size);
  return value;
}

}  // namespace

struct Emulated::State {
  std::string text = kHead;
  std::vector<std::vector<std::string>> kernels;
  void* library = nullptr;
  int wave = 32;
  std::map<std::string, std::unique_ptr<Reference>> references;
  std::map<std::pair<std::string, std::string>, Data> data;

  std::size_t add(std::string source, const std::vector<std::string>& names) {
    const std::size_t number = kernels.size();
    const std::string include = "#include \"ako_device.h\"\n";
    if (const auto at = source.find(include); at != std::string::npos) source.erase(at, include.size());
    text += fmt::format("namespace unit_{} {{\n{}}}\n", number, source);
    for (const std::string& name : std::set<std::string>(names.begin(), names.end())) {
      text += fmt::format(
          "extern \"C\" void launch_{0}_{1}(const int* grid, const int* block, std::size_t shared, int "
          "order, void** a) "
          "{{\n  ako::emulation::launch(grid, block, shared, order, &thread_of<&unit_{0}::{1}>, a);\n}}\n",
          number, name);
    }
    kernels.push_back(names);
    return number;
  }

  void launch(std::size_t which, const std::string& kernel, const std::array<std::int64_t, 3>& grid,
              const std::array<std::int64_t, 3>& block, std::int64_t shared, int order,
              std::vector<Value>& values) {
    using Launcher = void (*)(const int*, const int*, std::size_t, int, void**);
    auto* call =
        reinterpret_cast<Launcher>(dlsym(library, fmt::format("launch_{}_{}", which, kernel).c_str()));
    std::vector<void*> pointers;
    for (Value& value : values) pointers.push_back(value.data());
    int blocks[3], threads[3];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      blocks[axis] = static_cast<int>(grid[axis]);
      threads[axis] = static_cast<int>(block[axis]);
    }
    call(blocks, threads, static_cast<std::size_t>(shared), order, pointers.data());
  }

  const Data& data_of(const Problem& problem, const Shape& shape) {
    Data& made = data[{problem.name, shape.label}];
    if (!made.inputs.empty() || !made.expected.empty()) return made;
    std::vector<std::span<const std::byte>> views;
    for (const TensorId id : kernel_tensors(problem)) {
      const Tensor& tensor = problem.tensor(id);
      if (tensor.role == TensorRole::output) continue;
      const Bytes size = storage_bytes(tensor.type, element_count(problem, tensor, shape));
      made.inputs.emplace_back(static_cast<std::size_t>(size.count));
      generate_input(problem, id, shape, InputStyle::declared, 7, static_cast<std::uint64_t>(id),
                     made.inputs.back());
    }
    for (const auto& input : made.inputs) views.emplace_back(input);
    auto& reference = references[problem.name];
    if (!reference) {
      auto loaded = Reference::load(problem);
      if (!loaded) {
        fmt::print(stderr, "{}\n", to_text(loaded.error()));
        std::abort();
      }
      reference = std::make_unique<Reference>(*std::move(loaded));
    }
    auto expected = reference->evaluate(shape, views, 1);
    if (!expected) std::abort();
    made.expected = *std::move(expected);
    return made;
  }
};

std::vector<Problem> shipped_problems() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(AKO_SOURCE_DIR) + "/problems"))
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<Problem> problems;
  for (const auto& path : paths) {
    auto problem = load_problem(path);
    if (problem && !problem->python_reference) problems.push_back(*std::move(problem));
  }
  return problems;
}

TargetFacts gpu_target(const std::string& id) {
  TargetFacts target;
  target.id = id;
  target.compute_units = 4;
  return target;
}

std::vector<Shape> small_shapes(const Problem& problem, double most_operations) {
  std::vector<Shape> result;
  for (const Shape& shape : problem.shapes) {
    const Cost cost = cost_of(problem, shape);
    if (cost.flops + static_cast<double>(cost.compulsory.count) / 4 < most_operations)
      result.push_back(shape);
  }
  return result;
}

Emulated::Emulated(int wave) : state_(std::make_unique<State>()) { state_->wave = wave; }
Emulated::~Emulated() {
  if (state_->library != nullptr) dlclose(state_->library);
}

std::size_t Emulated::add(const std::string& source, const LaunchPlan& plan) {
  std::vector<std::string> names;
  for (const Launch& launch : plan.launches) names.push_back(launch.kernel);
  return state_->add(source, names);
}

std::size_t Emulated::add(const GpuReference& reference) {
  std::vector<std::string> names;
  for (const GpuStep& step : reference.steps) names.push_back(step.kernel);
  return state_->add(reference.source.text, names);
}

std::string Emulated::compile() {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("ako-emulated-{}", getpid());
  std::filesystem::create_directories(folder);
  const auto source = folder / "kernels.cpp", object = folder / "kernels.so", log = folder / "log";
  std::ofstream(source) << state_->text;
  const std::string command = fmt::format(
      "g++ -O1 -std=c++20 -Wno-unknown-pragmas -shared -fPIC -DAKO_WAVE={} -I{}/guest/device {} -o {} 2> {}",
      state_->wave, AKO_SOURCE_DIR, source.string(), object.string(), log.string());
  std::string trouble;
  if (std::system(command.c_str()) == 0) state_->library = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (state_->library == nullptr) {
    std::ifstream in(log);
    trouble =
        std::string(std::istreambuf_iterator<char>(in), {}).substr(0, 6000) + "\n(" + source.string() + ")";
    if (const char* why = dlerror()) trouble += why;
  } else if (std::getenv("AKO_KEEP") == nullptr) {
    std::filesystem::remove_all(folder);
  }
  return trouble;
}

std::string Emulated::check(std::size_t which, const Problem& problem, const Shape& shape,
                            const Candidate& candidate, int order) {
  const Data& data = state_->data_of(problem, shape);
  const std::vector<TensorId> tensors = kernel_tensors(problem);
  std::vector<Guard> buffers, workspace;
  std::size_t input = 0;
  for (const TensorId id : tensors) {
    const Tensor& tensor = problem.tensor(id);
    buffers.emplace_back(
        static_cast<std::size_t>(storage_bytes(tensor.type, element_count(problem, tensor, shape)).count));
    if (tensor.role == TensorRole::output) continue;
    std::memcpy(buffers.back().data(), data.inputs[input].data(), data.inputs[input].size());
    ++input;
  }
  Bindings names = tunables_in_force(candidate.plan, candidate.tunables);
  for (std::size_t i = 0; i < problem.dims.size(); ++i) names[problem.dims[i].name] = shape.dims[i];
  for (const WorkspaceBuffer& buffer : candidate.plan.workspace) {
    std::int64_t count = 1;
    for (const IntegerExpression& extent : buffer.shape) count *= evaluate(extent, names).value();
    workspace.emplace_back(static_cast<std::size_t>(storage_bytes(buffer.type, count).count));
  }
  const auto arguments = bind_arguments(candidate.plan, problem, shape, candidate.tunables);
  if (!arguments) return to_text(arguments.error());
  for (std::size_t step = 0; step < candidate.plan.launches.size(); ++step) {
    const Launch& launch = candidate.plan.launches[step];
    std::vector<Value> values;
    for (const Argument& argument : (*arguments)[step]) {
      void* address = nullptr;
      Value value{};
      switch (argument.kind) {
        case Argument::Kind::tensor:
          address =
              buffers[static_cast<std::size_t>(std::ranges::find(tensors, argument.ref) - tensors.begin())]
                  .data();
          value = value_of(&address, 8);
          break;
        case Argument::Kind::workspace:
          address = workspace[static_cast<std::size_t>(argument.ref)].data();
          value = value_of(&address, 8);
          break;
        case Argument::Kind::scalar: {
          const Scalar& scalar = problem.scalars[static_cast<std::size_t>(argument.ref)];
          encode_array(scalar.type, {&scalar.value, 1}, value);
          break;
        }
        case Argument::Kind::integer:
          value = value_of(&argument.integer, 8);
          break;
      }
      values.push_back(value);
    }
    std::array<std::int64_t, 3> grid{}, block{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      grid[axis] = evaluate(launch.grid[axis], names).value();
      block[axis] = evaluate(launch.block[axis], names).value();
    }
    state_->launch(which, launch.kernel, grid, block, evaluate(launch.shared, names).value(), order, values);
  }
  std::size_t output = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = problem.tensor(tensors[i]);
    if (tensor.role == TensorRole::input) continue;
    const auto& expected = data.expected[output++];
    std::vector<double> got(expected.size());
    decode_array(tensor.type, buffers[i].bytes(), got);
    if (std::string wrong = compare_emulated(problem, tensor, expected, got); !wrong.empty()) return wrong;
  }
  return {};
}

std::string Emulated::check(std::size_t which, const Problem& problem, const Shape& shape,
                            const GpuReference& reference) {
  const Data& data = state_->data_of(problem, shape);
  std::vector<Guard> buffers;
  std::map<TensorId, std::size_t> results;
  std::size_t input = 0;
  for (std::size_t i = 0; i < reference.buffers.size(); ++i) {
    const GpuBuffer& buffer = reference.buffers[i];
    buffers.emplace_back(static_cast<std::size_t>(storage_bytes(buffer.type, buffer.elements).count));
    if (buffer.role == GpuBuffer::Role::expected) results[buffer.tensor] = i;
    if (buffer.role != GpuBuffer::Role::input) continue;
    std::memcpy(buffers.back().data(), data.inputs[input].data(), data.inputs[input].size());
    ++input;
  }
  for (const GpuStep& step : reference.steps) {
    std::vector<Value> values;
    for (const GpuArgument& argument : step.arguments) {
      if (argument.kind == GpuArgument::Kind::buffer) {
        void* address = buffers[argument.buffer].data();
        values.push_back(value_of(&address, 8));
      } else if (argument.kind == GpuArgument::Kind::real) {
        values.push_back(value_of(&argument.real, 8));
      } else {
        values.push_back(value_of(&argument.integer, 8));
      }
    }
    state_->launch(which, step.kernel, step.grid, step.block, step.shared, 1, values);
  }
  std::size_t output = 0;
  for (const TensorId id : kernel_tensors(problem)) {
    const Tensor& tensor = problem.tensor(id);
    if (tensor.role == TensorRole::input) continue;
    const std::vector<double>& expected = data.expected[output++];
    if (!results.contains(id)) return tensor.name + " is not among the results";
    std::vector<double> got(expected.size());
    decode_array(ScalarType::f64, buffers[results[id]].bytes(), got);
    const double snr = decibels(expected, got);
    if (!(snr > 200)) return fmt::format("{}: {:.1f} dB from the host's reference", tensor.name, snr);
  }
  return {};
}

}  // namespace ako::testing
