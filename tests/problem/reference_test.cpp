// SPDX-License-Identifier: Apache-2.0
#include "problem/reference.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "base/files.h"
#include "problem/inputs.h"
#include "problem/interpreter.h"

namespace ako {
namespace {

/// References are compiled once into the build folder, not into the user's cache.
struct OwnCache {
  OwnCache() { ::setenv("AKO_CACHE_DIR", AKO_BINARY_DIR "/test-cache", 1); }
} const own_cache;

Problem parsed(const std::string& text) {
  auto problem = parse_problem(text, "made.yaml");
  if (!problem) throw std::runtime_error(to_text(problem.error()));
  return *problem;
}

struct Inputs {
  std::vector<std::vector<std::byte>> storage;
  std::vector<std::span<const std::byte>> views;
};

Inputs make_inputs(const Problem& problem, const Shape& shape) {
  Inputs inputs;
  for (TensorId which : kernel_tensors(problem)) {
    const Tensor& tensor = problem.tensor(which);
    if (tensor.role == TensorRole::output) continue;
    const auto count = element_count(problem, tensor, shape);
    inputs.storage.emplace_back(static_cast<std::size_t>(storage_bytes(tensor.type, count).count));
    generate_input(problem, which, shape, InputStyle::declared, 42, 0, inputs.storage.back());
  }
  inputs.views.assign(inputs.storage.begin(), inputs.storage.end());
  return inputs;
}

std::vector<std::vector<double>> interpreted(const Problem& problem, const Shape& shape,
                                             const Inputs& inputs) {
  testing::Interpreter interpreter(problem, shape);
  std::size_t at = 0;
  for (TensorId which : kernel_tensors(problem)) {
    const Tensor& tensor = problem.tensor(which);
    if (tensor.role == TensorRole::output) continue;
    std::vector<double> values(static_cast<std::size_t>(element_count(problem, tensor, shape)));
    decode_array(tensor.type, inputs.views[at++], values);
    interpreter.set(which, values);
  }
  interpreter.run();
  std::vector<std::vector<double>> outputs;
  for (TensorId which : kernel_tensors(problem))
    if (problem.tensor(which).role != TensorRole::input) outputs.push_back(interpreter.get(which));
  return outputs;
}

/// The compiled reference agrees with the interpreter on every shape, within roundings of fp64.
void expect_agreement(const std::string& text, double tolerance = 1e-12) {
  const Problem problem = parsed(text);
  auto reference = Reference::load(problem);
  ASSERT_TRUE(reference) << to_text(reference.error());
  for (const Shape& shape : problem.shapes) {
    const Inputs inputs = make_inputs(problem, shape);
    const auto expected = interpreted(problem, shape, inputs);
    for (int threads : {1, 3}) {
      const auto got = reference->evaluate(shape, inputs.views, threads);
      ASSERT_TRUE(got) << to_text(got.error());
      ASSERT_EQ(got->size(), expected.size());
      for (std::size_t output = 0; output < expected.size(); ++output) {
        double largest = 0;
        for (double value : expected[output])
          if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
        for (std::size_t i = 0; i < expected[output].size(); ++i) {
          const double want = expected[output][i], have = (*got)[output][i];
          ASSERT_TRUE(have == want || std::fabs(have - want) <= tolerance * largest)
              << shape.label << " output " << output << " element " << i << ": " << have << " instead of "
              << want << "\n"
              << reference_source(problem);
        }
      }
    }
  }
}

TEST(Reference, EvaluatesIntegersConditionsAndGathers) {
  expect_agreement(R"yaml(problem: integers
summary: For tests.
dims: {T: rows, D: columns}
tensors:
  x: {type: f32, shape: [T, D]}
  idx: {type: i32, shape: [T], values: "integers(0, T)"}
  n: {type: i8, shape: [T, D], values: "integers(-100, 100)"}
  y: {type: f32, shape: [T, D]}
  z: {type: i64, shape: [T, D]}
  w: {type: f32, shape: [T, D]}
  v: {type: i32, shape: [T]}
math: |
  y[t, d] = where(d > 0, x[idx[t], d - 1], -1) + (x[t - 1, d + 2] or 0.25)
  z[t, d] = n[t, d] / 7 * 1000 + n[t, d] % 7 + (d - 5) / 3 + (-t) % 4
  w[t, d] = where(n[t, d] % 2 == 0 and not (x[t, d] < 0), sum(k < D if k != d: x[t, k] * x[t, d]), max(k <= d: x[t, k]))
  v[t]    = argmax(d < D: n[t, d] / 50) + argmin(d < D: x[t, d]) * int(any(d < D: n[t, d] > 98))
shapes:
  - {T: 1, D: 1}
  - {T: 13, D: 9}
tolerance: {rtol: 1, atol: 1}
)yaml");
}

TEST(Reference, RoundsDeclaredTensorsForLaterReadersOnly) {
  const std::string text = R"yaml(problem: roundings
summary: For tests.
dims: {T: rows}
tensors:
  x: {type: f32, shape: [T], values: "normal(0, 100)"}
  a: {type: bf16, shape: [T]}
  b: {type: f8e4m3, shape: [T]}
  c: {type: i8, shape: [T]}
  u: {type: f32, shape: [T]}
  v: {type: f32, shape: [T]}
math: |
  a[t] = x[t] / 3
  b[t] = a[t] * 0.37
  c[t] = int(x[t] * 2)
  e[t] = x[t] / 3
  u[t] = a[t] + 10 * b[t] + 1000 * c[t] + e[t]
  v[t] = f4e2m1(x[t] / 50) + f16(x[t] / 7) + f8e5m2fnuz(x[t] * 100) + f6e3m2(x[t] / 9) + tf32(x[t] / 11)
shapes:
  - {T: 1000}
tolerance: {rtol: 1, atol: 1}
)yaml";
  expect_agreement(text);
  const Problem problem = parsed(text);
  const Inputs inputs = make_inputs(problem, problem.shapes[0]);
  const auto got = Reference::load(problem)->evaluate(problem.shapes[0], inputs.views);
  int unrounded = 0;
  for (double value : got->at(0)) unrounded += value != round_to(ScalarType::bf16, value);
  EXPECT_GT(unrounded, 900) << "outputs are delivered in fp64";
}

TEST(Reference, EvaluatesScansAndRecurrences) {
  expect_agreement(R"yaml(problem: scans
summary: For tests.
dims: {B: batches, T: length, D: width}
tensors:
  x: {type: f32, shape: [B, T, D]}
  a: {type: f32, shape: [T, D], values: "uniform(0.5, 0.99)"}
  W: {type: f32, shape: [D, D], values: "normal(0, 0.3)"}
  s: {type: f32, shape: [B, T, D]}
  m: {type: f32, shape: [B, T, D]}
  h: {type: bf16, shape: [B, T, D]}
  g: {type: f32, shape: [T, D]}
math: |
  s[b, t, d] = scan sum(k < t: x[b, k, d]) * 2 + scan prod(k <= d: a[t, k])
  m[b, t, d] = scan max(k <= t: x[b, k, d] - a[k, d])
  h[b, -1, d] = x[b, 0, d]
  h[b, t, d] = a[t, d] * h[b, t-1, d] + x[b, t, d]
  g[-1, d] = 0.5
  g[t, d] = tanh(sum(j < D: W[d, j] * x[0, t, j]) + g[t-1, d])
shapes:
  - {B: 1, T: 1, D: 1}
  - {B: 3, T: 21, D: 5}
tolerance: {rtol: 1, atol: 1}
)yaml");
}

TEST(Reference, EvaluatesScatters) {
  expect_agreement(R"yaml(problem: scatters
summary: For tests.
dims: {T: rows, V: table, D: width}
tensors:
  idx: {type: i32, shape: [T], values: "categorical(V, 1)"}
  x: {type: f32, shape: [T, D]}
  p: {type: f32, shape: [V, D]}
  y: {type: f32, shape: [V, D]}
  top: {type: f32, shape: [V]}
  count: {type: i32, shape: [V]}
  q: {type: f32, shape: [V, D], values: "normal(0, 1)"}
math: |
  y[idx[t], d] += x[t, d]
  top[idx[t]] max= sum(d < D: x[t, d])
  count[idx[t]] += 1
  p[v, d] = y[v, d] / max(count[v], 1)
  q[v, d] = 2 * q[v, d] + p[v, d]
shapes:
  - {T: 1, V: 1, D: 1}
  - {T: 100, V: 17, D: 6}
tolerance: {rtol: 1, atol: 1}
)yaml");
}

TEST(Reference, MultipliesInBlocksWhatSplitsIntoAProduct) {
  const std::string text = R"yaml(problem: products
summary: For tests.
dims: {B: batches, M: rows, N: columns, K: depth}
tensors:
  A: {type: f8e4m3, shape: [B, M, K]}
  C: {type: bf16, shape: [N, K]}
  sa: {type: f32, shape: [M, (K + 31) / 32]}
  e: {type: i32, shape: [B], values: "integers(0, 2)"}
  E: {type: f4e2m1, shape: [2, K, N]}
  y: {type: f32, shape: [B, M, N]}
  z: {type: f32, shape: [M, B, N]}
  c: {type: f32, shape: [B, M, N]}
  g: {type: f32, shape: [N, M]}
math: |
  y[b, m, n] = relu(sum(k < K: A[b, m, k] * sa[m, k/32] * C[n, k])) + 1
  z[m, b, n] = where(n % 3 == 1, sum(k < K: E[e[b], k, n] * A[b, m, k]), -1)
  c[b, m, n] = sum(k <= min(m, K - 1): A[b, m, k] * C[n, k])
  g[n, m] = sum(b < B, k < K: A[b, m, k] * (C[n, k - b] or 0.5))
shapes:
  - {B: 1, M: 1, N: 1, K: 1}
  - {B: 2, M: 5, N: 17, K: 33}
  - {B: 2, M: 131, N: 19, K: 300}
tolerance: {rtol: 1, atol: 1}
)yaml";
  expect_agreement(text);
  const std::string source = reference_source(parsed(text));
  int products = 0;
  for (std::size_t at = 0; (at = source.find("if (!contract(", at)) != std::string::npos; ++at) ++products;
  EXPECT_EQ(products, 4);
}

TEST(Reference, ComputesInvariantReductionsOnce) {
  const Problem problem = parsed(R"yaml(problem: invariant
summary: For tests.
dims: {T: rows, D: columns}
tensors:
  x: {type: f32, shape: [T, D]}
  y: {type: f32, shape: [T, D]}
math: |
  y[t, d] = exp(x[t, d] - max(k < D: x[t, k])) / sum(j < D: exp(x[t, j] - max(k < D: x[t, k])))
shapes:
  - {T: 30, D: 20000}
tolerance: {rtol: 1, atol: 1}
)yaml");
  const Shape& shape = problem.shapes.front();
  const Inputs inputs = make_inputs(problem, shape);
  const auto reference = Reference::load(problem);
  ASSERT_TRUE(reference);
  const auto start = std::chrono::steady_clock::now();
  const auto got = reference->evaluate(shape, inputs.views);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2))
      << "the naive order takes minutes";
  double sum = 0;
  for (std::size_t d = 0; d < 20000; ++d) sum += got->at(0)[d];
  EXPECT_NEAR(sum, 1, 1e-12);
}

TEST(Reference, KeepsNamesApartFromCpp) {
  expect_agreement(R"yaml(problem: names
summary: For tests.
dims: {lanes: rows, dims: columns}
tensors:
  inputs: {type: f32, shape: [lanes, dims]}
  result: {type: f32, shape: [lanes]}
  value: {type: f32, shape: [lanes]}
math: |
  result[place] = sum(k < dims: inputs[place, k])
  value[t] = sum(k < dims: inputs[t, k] * max(j <= k: inputs[t, j])) + sum(k < lanes: result[k])
shapes:
  - {lanes: 3, dims: 4}
tolerance: {rtol: 1, atol: 1}
)yaml");
}

TEST(Reference, LoadsFromManyThreadsAtOnce) {
  const Problem problem = parsed(R"yaml(problem: crowd
summary: For tests.
dims: {N: elements}
tensors:
  x: {type: f32, shape: [N]}
  y: {type: f32, shape: [N]}
math: |
  y[i] = x[i] + 123
shapes:
  - {N: 10}
tolerance: {rtol: 1, atol: 1}
)yaml");
  auto folder = TemporaryFolder::create("ako-reference");
  ASSERT_TRUE(folder);
  ::setenv("AKO_CACHE_DIR", folder->path().c_str(), 1);
  std::vector<int> loaded(3);
  {
    std::vector<std::jthread> threads;
    for (int& one : loaded) threads.emplace_back([&] { one = Reference::load(problem).has_value(); });
  }
  ::setenv("AKO_CACHE_DIR", AKO_BINARY_DIR "/test-cache", 1);
  EXPECT_EQ(loaded, (std::vector<int>{1, 1, 1}));
  int libraries = 0, others = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder->path() / "reference"))
    (entry.path().extension() == ".so" ? libraries : others) += 1;
  EXPECT_EQ(libraries, 1);
  EXPECT_EQ(others, 1) << "the source, and no folder left over";
}

TEST(Reference, SaysWhatToDoWithoutACompiler) {
  const Problem problem = parsed(R"yaml(problem: lonely
summary: For tests.
dims: {N: elements}
tensors:
  x: {type: f32, shape: [N]}
  y: {type: f32, shape: [N]}
math: |
  y[i] = x[i] + 124
shapes:
  - {N: 10}
tolerance: {rtol: 1, atol: 1}
)yaml");
  ::setenv("AKO_CXX", "no-such-compiler", 1);
  const auto reference = Reference::load(problem);
  ::unsetenv("AKO_CXX");
  ASSERT_FALSE(reference);
  EXPECT_EQ(reference.error().kind, ErrorKind::not_found);
  EXPECT_NE(reference.error().advice.find("AKO_CXX"), std::string::npos);
}

}  // namespace
}  // namespace ako
