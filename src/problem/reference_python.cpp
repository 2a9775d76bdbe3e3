// SPDX-License-Identifier: Apache-2.0
#include "problem/reference_python.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/subprocess.h"
#include "problem/inputs.h"
#include "problem/reference_python_program.h"

namespace ako {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr Seconds kStarting{60};  // importing torch takes a while
constexpr Seconds kCalling{300};

/// In memory where there is such a place: arrays are large and read at once.
fs::path exchange_place() {
  std::error_code ignored;
  return fs::is_directory("/dev/shm", ignored) ? "/dev/shm" : fs::path();
}

Result<fs::path> find_python() {
  const char* chosen = std::getenv("AKO_PYTHON");
  std::string name = chosen && *chosen ? chosen : "python3";
  if (auto found = find_program(name)) return *found;
  return fail(ErrorKind::unsupported, fmt::format("no program {} to run the Python reference with", name),
              "install Python and NumPy (Debian: apt install python3-numpy), or set AKO_PYTHON to a Python");
}

Result<void> write_values(const fs::path& path, std::span<const double> values) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
  if (!file.flush())
    return fail(ErrorKind::io, fmt::format("cannot write {}", path.string()),
                "free some memory under /dev/shm");
  return {};
}

Result<std::vector<double>> read_values(const fs::path& path, std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(double)));
  if (!file)
    return fail(ErrorKind::io, fmt::format("the Python reference left no values in {}", path.string()));
  return values;
}

std::string_view kind_of(const Tensor& tensor) {
  return tensor.number == NumberClass::real      ? "real"
         : tensor.number == NumberClass::integer ? "integer"
                                                 : "bool";
}

const Shape& smallest_shape(const Problem& problem) {
  auto elements = [&](const Shape& shape) {
    std::int64_t sum = 0;
    for (TensorId id : kernel_tensors(problem)) sum += element_count(problem, problem.tensor(id), shape);
    return sum;
  };
  return *std::min_element(problem.shapes.begin(), problem.shapes.end(),
                           [&](const Shape& a, const Shape& b) { return elements(a) < elements(b); });
}

}  // namespace

fs::path python_file(const Problem& problem) {
  return problem.path.parent_path() / problem.python_reference.value_or("");
}

struct PythonReference::State {
  std::string name;  // of the file, for messages
  TemporaryFolder exchange;
  LineProcess process;
  std::mutex turn;

  Result<void> ask(const json& request, Seconds wait);
  Result<json> send_inputs(const Problem&, const Shape&, std::span<const std::span<const std::byte>> inputs);
};

Result<void> PythonReference::State::ask(const json& request, Seconds wait) {
  AKO_CHECK(process.send(request.dump()));
  auto line = process.receive(wait);
  if (!line) {
    bool late = line.error().kind == ErrorKind::limit;
    return fail(
        late ? ErrorKind::limit : ErrorKind::invalid_input,
        late ? fmt::format("{} did not answer within {:g} s", name, wait.count())
             : fmt::format("the Python that runs {} ended unexpectedly", name),
        late ? "choose smaller shapes, or a faster reference" : "the file must neither exit nor be killed");
  }
  json answer = json::parse(*line, nullptr, false);
  if (answer.is_object() && answer.contains("done")) return {};
  if (answer.is_object() && answer.contains("no_numpy"))
    return fail(
        ErrorKind::unsupported,
        fmt::format("{} has no NumPy, which the Python reference needs", answer.value("no_numpy", "Python")),
        "install it (Debian: apt install python3-numpy), or set AKO_PYTHON to a Python that has it");
  if (answer.is_object() && answer.contains("what"))
    return fail(ErrorKind::invalid_input, fmt::format("{}: {}", name, answer.value("what", "")),
                answer.value("advice", ""));
  return fail(ErrorKind::internal,
              fmt::format("{} answered what is no answer: {}", name, line->substr(0, 200)));
}

/// Writes the inputs and says where everything is.
Result<json> PythonReference::State::send_inputs(const Problem& problem, const Shape& shape,
                                                 std::span<const std::span<const std::byte>> inputs) {
  json request{{"inputs", json::array()},
               {"outputs", json::array()},
               {"dims", json::object()},
               {"scalars", json::object()}};
  for (std::size_t i = 0; i < problem.dims.size(); ++i) request["dims"][problem.dims[i].name] = shape.dims[i];
  for (const Scalar& scalar : problem.scalars)
    request["scalars"][scalar.name] = round_to(scalar.type, scalar.value);
  std::size_t next = 0;
  for (TensorId id : kernel_tensors(problem)) {
    const Tensor& tensor = problem.tensor(id);
    json entry{{"name", tensor.name}, {"kind", kind_of(tensor)}, {"shape", extents(problem, tensor, shape)}};
    if (tensor.role != TensorRole::output) {
      std::int64_t count = element_count(problem, tensor, shape);
      if (next >= inputs.size() || std::ssize(inputs[next]) < storage_bytes(tensor.type, count).count)
        return fail(ErrorKind::internal, fmt::format("the reference of {} was given too few bytes for {}",
                                                     problem.name, tensor.name));
      std::vector<double> values(static_cast<std::size_t>(count));
      decode_array(tensor.type, inputs[next++], values);
      entry["path"] = (exchange.path() / (tensor.name + ".in")).string();
      AKO_CHECK(write_values(entry["path"].get<std::string>(), values));
      request["inputs"].push_back(entry);
    }
    if (tensor.role != TensorRole::input) {
      entry["path"] = (exchange.path() / (tensor.name + ".out")).string();
      request["outputs"].push_back(entry);
    }
  }
  return request;
}

PythonReference::PythonReference(std::unique_ptr<State> state) : state_(std::move(state)) {}
PythonReference::PythonReference(PythonReference&&) noexcept = default;
PythonReference& PythonReference::operator=(PythonReference&&) noexcept = default;
PythonReference::~PythonReference() = default;

Result<PythonReference> PythonReference::start(const Problem& problem) {
  fs::path file = python_file(problem);
  std::error_code code;
  if (!fs::is_regular_file(file, code))
    return fail(ErrorKind::not_found, fmt::format("the Python reference {} is not there", file.string()),
                "`reference: {python: FILE}` names a file beside the problem file");
  AKO_TRY(fs::path python, find_python());
  AKO_TRY(TemporaryFolder exchange, TemporaryFolder::create("ako-reference", exchange_place()));
  Command command;
  command.argv = {python.string(), "-c", python_reference_program};
  AKO_TRY(LineProcess process, LineProcess::start(command));
  auto state = std::unique_ptr<State>(
      new State{file.filename().string(), std::move(exchange), std::move(process), {}});
  AKO_CHECK(state->ask({{"file", fs::absolute(file, code).string()}, {"function", problem.python_function}},
                       kStarting));
  PythonReference reference(std::move(state));

  const Shape& shape = smallest_shape(problem);
  std::vector<std::vector<std::byte>> storage;
  for (TensorId id : kernel_tensors(problem)) {
    const Tensor& tensor = problem.tensor(id);
    if (tensor.role == TensorRole::output) continue;
    auto bytes =
        static_cast<std::size_t>(storage_bytes(tensor.type, element_count(problem, tensor, shape)).count);
    storage.emplace_back(bytes);
    generate_input(problem, id, shape, InputStyle::declared, 1, 0, storage.back());
  }
  std::vector<std::span<const std::byte>> inputs(storage.begin(), storage.end());
  auto tried = reference.evaluate(problem, shape, inputs);
  if (!tried) return std::unexpected(tried.error());
  return reference;
}

Result<std::vector<std::vector<double>>> PythonReference::evaluate(
    const Problem& problem, const Shape& shape, std::span<const std::span<const std::byte>> inputs) const {
  std::lock_guard lock(state_->turn);
  AKO_TRY(json request, state_->send_inputs(problem, shape, inputs));
  AKO_CHECK(state_->ask(request, kCalling));
  std::vector<std::vector<double>> outputs;
  for (TensorId id : kernel_tensors(problem)) {
    const Tensor& tensor = problem.tensor(id);
    if (tensor.role == TensorRole::input) continue;
    AKO_TRY(auto values, read_values(state_->exchange.path() / (tensor.name + ".out"),
                                     element_count(problem, tensor, shape)));
    outputs.push_back(std::move(values));
  }
  return outputs;
}

}  // namespace ako
