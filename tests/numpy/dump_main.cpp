// SPDX-License-Identifier: Apache-2.0
// Writes what the reference of a problem computes, and from what, for check_references.py to compare:
//   reference_dump PROBLEM.yaml SHAPE SEED STYLE FOLDER [--source]
// FOLDER/NAME.f64 holds a tensor as little-endian fp64, whatever its type; FOLDER/shape.json the dims, the
// extents, and the scalars as the reference sees them.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "problem/inputs.h"
#include "problem/problem.h"
#include "problem/reference.h"

namespace {
using namespace ako;

template <class T>
T value_or_exit(std::expected<T, Error> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "{}\n", to_text(result.error()));
  std::exit(1);
}

template <class T>
T value_or_exit(Parsed<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "{}\n", to_text(result.error()));
  std::exit(1);
}

void write_values(const std::filesystem::path& path, std::span<const double> values) {
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  if (auto done = write_file(path, bytes); !done) {
    fmt::print(stderr, "{}\n", to_text(done.error()));
    std::exit(1);
  }
}

InputStyle style_named(const Problem& problem, std::string_view name) {
  for (InputStyle style : check_styles(problem))
    if (name_of(style) == name) return style;
  fmt::print(stderr, "{} has no input style {}\n", problem.name, name);
  std::exit(1);
}

struct Inputs {
  std::vector<std::vector<std::byte>> storage;
  std::vector<std::span<const std::byte>> views;
};

Inputs make_inputs(const Problem& problem, const Shape& shape, InputStyle style, std::uint64_t seed,
                   const std::filesystem::path& folder) {
  Inputs inputs;
  for (TensorId which : kernel_tensors(problem)) {
    const Tensor& tensor = problem.tensor(which);
    if (tensor.role == TensorRole::output) continue;
    const auto count = element_count(problem, tensor, shape);
    std::vector<std::byte> bytes(static_cast<std::size_t>(storage_bytes(tensor.type, count).count));
    generate_input(problem, which, shape, style, seed, 0, bytes);
    std::vector<double> values(static_cast<std::size_t>(count));
    decode_array(tensor.type, bytes, values);
    write_values(folder / (tensor.name + ".f64"), values);
    inputs.storage.push_back(std::move(bytes));
  }
  for (const auto& bytes : inputs.storage) inputs.views.emplace_back(bytes);
  return inputs;
}

nlohmann::json description(const Problem& problem, const Shape& shape) {
  nlohmann::json about;
  for (std::size_t i = 0; i < problem.dims.size(); ++i) about["dims"][problem.dims[i].name] = shape.dims[i];
  for (const Scalar& scalar : problem.scalars)
    about["scalars"][scalar.name] = round_to(scalar.type, scalar.value);
  for (TensorId which : kernel_tensors(problem)) {
    const Tensor& tensor = problem.tensor(which);
    const char* role = tensor.role == TensorRole::input    ? "input"
                       : tensor.role == TensorRole::output ? "output"
                                                           : "inout";
    about["tensors"][tensor.name] = {
        {"type", name_of(tensor.type)}, {"extents", extents(problem, tensor, shape)}, {"role", role}};
  }
  return about;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    fmt::print(stderr, "usage: reference_dump PROBLEM.yaml SHAPE SEED STYLE FOLDER [--source]\n");
    return 2;
  }
  Problem problem = value_or_exit(load_problem(argv[1]));
  problem = value_or_exit(with_shapes(problem, argv[2]));
  const Shape& shape = problem.shapes.front();
  const std::filesystem::path folder = argv[5];
  if (argc > 6) fmt::print("{}", reference_source(problem));
  const Reference reference = value_or_exit(Reference::load(problem));
  const Inputs inputs =
      make_inputs(problem, shape, style_named(problem, argv[4]), std::stoull(argv[3]), folder);
  const auto start = std::chrono::steady_clock::now();
  const auto outputs = value_or_exit(reference.evaluate(shape, inputs.views));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::size_t at = 0;
  for (TensorId which : kernel_tensors(problem))
    if (problem.tensor(which).role != TensorRole::input)
      write_values(folder / (problem.tensor(which).name + ".out.f64"), outputs[at++]);
  if (auto done = write_file(folder / "shape.json", description(problem, shape).dump(1)); !done) return 1;
  fmt::print(stderr, "evaluated in {:.3f} s\n", took.count());
  return 0;
}
