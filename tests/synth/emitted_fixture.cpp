// SPDX-License-Identifier: Apache-2.0
#include "synth/emitted_fixture.h"

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
#include <random>
#include <set>
#include <utility>

#include "problem/inputs.h"
#include "problem/reference.h"

namespace ako::testing {

namespace {

/// `size` bytes that end where unmapped memory begins (up to the alignment that kernels are promised).
class Guarded {
 public:
  explicit Guarded(std::size_t size) : size_(size) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    length_ = (size + page - 1) / page * page + page;
    base_ = static_cast<std::byte*>(
        mmap(nullptr, length_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base_ == MAP_FAILED) std::abort();
    mprotect(base_ + length_ - page, page, PROT_NONE);
    data_ = base_ + (length_ - page - (size + 63) / 64 * 64);
    std::memset(base_, 0xff, length_ - page);
  }
  Guarded(Guarded&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)),
        data_(other.data_),
        size_(other.size_),
        length_(other.length_) {}
  Guarded& operator=(Guarded&&) = delete;
  ~Guarded() {
    if (base_ != nullptr) munmap(base_, length_);
  }
  std::span<std::byte> bytes() { return {data_, size_}; }

 private:
  std::byte* base_;
  std::byte* data_;
  std::size_t size_, length_;
};

std::string combined_source(const std::vector<Sample>& samples) {
  std::string text = "#include <cstdint>\n#include <utility>\n";
  text += R"(template <class... A, std::size_t... I>
void call_with(void (*f)(A...), void** a, std::index_sequence<I...>) { f(*static_cast<A*>(a[I])...); }
template <class... A>
void call_with(void (*f)(A...), void** a) { call_with(f, a, std::index_sequence_for<A...>{}); }
)";
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::string source = samples[i].candidate.sources.at(0).text;
    const std::string include = "#include <cstdint>\n";
    source.replace(source.find(include), include.size(), "");
    const std::string kernel = samples[i].candidate.plan.launches.at(0).kernel;
    const std::string head = "extern \"C\" void " + kernel + "(";
    source.replace(source.find(head), head.size(), "void " + kernel + "(");
    text += fmt::format(
        "namespace sample_{0} {{\n{1}}}\nextern \"C\" void call_{0}(void** a) {{ call_with(sample_{0}::{2}, "
        "a); }}\n",
        i, source, kernel);
  }
  return text;
}

void* compile(const Problem& problem, const std::vector<Sample>& samples, const std::string& march,
              std::string& trouble) {
  const auto folder = std::filesystem::temp_directory_path() /
                      fmt::format("ako-synth-{}-{}-{}", problem.name, march, getpid());
  std::filesystem::create_directories(folder);
  const auto source = folder / "kernels.cpp", object = folder / "kernels.so", log = folder / "log";
  std::ofstream(source) << combined_source(samples);
  const std::string command = fmt::format(
      "g++ -O1 -march={} -fopenmp -std=c++20 -fno-math-errno -fno-trapping-math -shared -fPIC {} -o {} "
      "2> {}",
      march, source.string(), object.string(), log.string());
  void* library = nullptr;
  if (std::system(command.c_str()) == 0) {
    library = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) {
    std::ifstream in(log);
    trouble = std::string(std::istreambuf_iterator<char>(in), {}) + "\n(" + source.string() + ")";
    if (const char* why = dlerror()) trouble += why;
  } else if (std::getenv("AKO_KEEP") == nullptr) {
    std::filesystem::remove_all(folder);
  }
  return library;
}

double signal_to_noise(const std::vector<double>& expected, const std::vector<double>& got) {
  double signal = 0, noise = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::isinf(expected[i]) && expected[i] == got[i]) continue;
    signal += expected[i] * expected[i];
    noise += (expected[i] - got[i]) * (expected[i] - got[i]);
  }
  return noise == 0 ? 1000 : 10 * std::log10(signal / noise);
}

std::string compare(const Problem& problem, const Tensor& tensor, const std::vector<double>& expected,
                    const std::vector<double>& got) {
  const Tolerance& tolerance = problem.tolerance;
  if (tolerance.snr_db && tensor.number == NumberClass::real && expected.size() > 1) {
    const double snr = signal_to_noise(expected, got);
    if (snr >= *tolerance.snr_db) return {};
    std::size_t worst = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (!(std::fabs(expected[i] - got[i]) <= std::fabs(expected[worst] - got[worst]))) worst = i;
    }
    return fmt::format("{}: {:.1f} dB, less than {} (at {}: {} for {})", tensor.name, snr, *tolerance.snr_db,
                       worst, got[worst], expected[worst]);
  }
  const double relative = tolerance.rtol.value_or(1e-4), absolute = tolerance.atol.value_or(1e-6);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double rounded = round_to(tensor.type, expected[i]);
    if (std::fabs(got[i] - rounded) <= absolute + relative * std::fabs(rounded) || got[i] == rounded)
      continue;
    return fmt::format("{}[{}]: {} for {}", tensor.name, i, got[i], rounded);
  }
  return {};
}

struct Run {
  const Problem& problem;
  const Shape& shape;
  std::vector<std::vector<std::byte>> inputs;  // of inputs and inouts
  std::vector<std::vector<double>> expected;   // of outputs and inouts
};

std::string run_one(const Run& run, const Candidate& candidate, void (*call)(void**)) {
  std::vector<Guarded> buffers;
  std::size_t input = 0;
  const std::vector<TensorId> tensors = kernel_tensors(run.problem);
  for (const TensorId id : tensors) {
    const Tensor& tensor = run.problem.tensor(id);
    const auto size = static_cast<std::size_t>(
        storage_bytes(tensor.type, element_count(run.problem, tensor, run.shape)).count);
    buffers.emplace_back(size);
    if (tensor.role == TensorRole::output) continue;
    std::memcpy(buffers.back().bytes().data(), run.inputs[input].data(), size);
    ++input;
  }
  Bindings bindings;
  for (std::size_t i = 0; i < run.problem.dims.size(); ++i)
    bindings[run.problem.dims[i].name] = run.shape.dims[i];
  std::vector<Guarded> workspace;
  for (const WorkspaceBuffer& buffer : candidate.plan.workspace) {
    std::int64_t count = 1;
    for (const IntegerExpression& extent : buffer.shape) {
      const auto value = evaluate(extent, bindings);
      if (!value) return "workspace: " + to_text(value.error());
      count *= *value;
    }
    workspace.emplace_back(static_cast<std::size_t>(storage_bytes(buffer.type, count).count));
  }
  const auto arguments = bind_arguments(candidate.plan, run.problem, run.shape, {});
  if (!arguments) return to_text(arguments.error());
  std::vector<std::array<std::byte, 8>> values((*arguments)[0].size());
  std::vector<void*> pointers;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Argument& argument = (*arguments)[0][i];
    void* address = nullptr;
    switch (argument.kind) {
      case Argument::Kind::tensor: {
        const auto at = static_cast<std::size_t>(std::ranges::find(tensors, argument.ref) - tensors.begin());
        address = buffers[at].bytes().data();
        std::memcpy(values[i].data(), &address, 8);
        break;
      }
      case Argument::Kind::workspace:
        address = workspace[static_cast<std::size_t>(argument.ref)].bytes().data();
        std::memcpy(values[i].data(), &address, 8);
        break;
      case Argument::Kind::scalar: {
        const Scalar& scalar = run.problem.scalars[static_cast<std::size_t>(argument.ref)];
        const double value = scalar.value;
        encode_array(scalar.type, {&value, 1}, values[i]);
        break;
      }
      case Argument::Kind::integer:
        std::memcpy(values[i].data(), &argument.integer, 8);
        break;
    }
    pointers.push_back(values[i].data());
  }
  call(pointers.data());
  std::size_t output = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = run.problem.tensor(tensors[i]);
    if (tensor.role == TensorRole::input) continue;
    const auto& expected = run.expected[output++];
    std::vector<double> got(expected.size());
    decode_array(tensor.type, buffers[i].bytes(), got);
    if (const std::string wrong = compare(run.problem, tensor, expected, got); !wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace

TargetFacts test_target() {
  TargetFacts target;
  target.id = "host";
  target.compute_units = 2;
  target.vector_bits = __builtin_cpu_supports("avx512f") ? 512 : 256;
  if (__builtin_cpu_supports("avx512bf16")) target.features.push_back("avx512_bf16");
  return target;
}

TargetFacts narrow_target(int vector_bits) {
  TargetFacts target = test_target();
  target.vector_bits = vector_bits;
  target.features.clear();
  return target;
}

Problem shipped(const std::string& name, const std::string& shapes) {
  auto problem = load_problem(std::filesystem::path(AKO_SOURCE_DIR) / "problems" / (name + ".yaml"));
  if (!problem) {
    fmt::print(stderr, "{}\n", to_text(problem.error()));
    std::abort();
  }
  auto small = with_shapes(*problem, shapes);
  if (!small) {
    fmt::print(stderr, "{}\n", to_text(small.error()));
    std::abort();
  }
  return *std::move(small);
}

std::vector<Sample> sample_schedules(const Problem& problem, int more, unsigned seed,
                                     const TargetFacts& target) {
  const auto space = schedule_space(problem, target, Language::cpp);
  std::vector<Schedule> schedules{space->naive, space->start};
  std::mt19937 random(seed);
  for (int tries = 0; static_cast<int>(schedules.size()) < more + 2 && tries < 1000; ++tries) {
    Schedule schedule;
    for (const Knob& knob : space->knobs)
      schedule.knobs[knob.name] = knob.values[random() % knob.values.size()];
    if (!space->invalid(schedule).empty()) continue;
    if (std::ranges::find(schedules, schedule) == schedules.end()) schedules.push_back(schedule);
  }
  std::vector<Sample> samples;
  for (const Schedule& schedule : schedules) {
    auto candidate = synthesize(problem, schedule, target, Language::cpp);
    if (!candidate) {
      fmt::print(stderr, "{}\n", to_text(candidate.error()));
      std::abort();
    }
    samples.push_back({schedule.text(), *std::move(candidate)});
  }
  return samples;
}

std::string check_samples(const Problem& problem, const std::vector<Sample>& samples,
                          const std::string& march) {
  std::string trouble;
  void* library = compile(problem, samples, march, trouble);
  if (library == nullptr) return trouble;
  const auto reference = Reference::load(problem);
  if (!reference) return to_text(reference.error());
  std::string report;
  for (const Shape& shape : problem.shapes) {
    Run run{problem, shape, {}, {}};
    std::vector<std::span<const std::byte>> views;
    for (const TensorId id : kernel_tensors(problem)) {
      const Tensor& tensor = problem.tensor(id);
      if (tensor.role == TensorRole::output) continue;
      const Bytes size = storage_bytes(tensor.type, element_count(problem, tensor, shape));
      run.inputs.emplace_back(static_cast<std::size_t>(size.count));
      generate_input(problem, id, shape, InputStyle::declared, 7, static_cast<std::uint64_t>(id),
                     run.inputs.back());
    }
    for (const auto& input : run.inputs) views.emplace_back(input);
    auto expected = reference->evaluate(shape, views, 1);
    if (!expected) return to_text(expected.error());
    run.expected = *std::move(expected);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      auto* call = reinterpret_cast<void (*)(void**)>(dlsym(library, fmt::format("call_{}", i).c_str()));
      const std::string wrong = run_one(run, samples[i].candidate, call);
      if (!wrong.empty())
        report += fmt::format("{} {} [{}]: {}\n", problem.name, shape.label, samples[i].label, wrong);
    }
  }
  dlclose(library);
  return report;
}

}  // namespace ako::testing
